import {Quaternion} from 'three';
import {describe, expect, it} from 'vitest';
import {boundPose, fromRest, restsBound, withRest, type Turn} from '../src/rest';

const s = Math.SQRT1_2;
const REST = Float64Array.from([0, 0, 0, 1, 0, 0, 0, 1, 1, 1, s, 0, 0, s, 0.1, 0.2, 0.3, 2, 2, 2]);
const close = (a: ArrayLike<number>, b: ArrayLike<number>) => Array.from(a).forEach((x, i) => expect(x).toBeCloseTo(b[i], 6));

describe('the rest pose', () => {
  it('is what rotations are added to', () => {
    expect([...withRest(REST, {}, 2)]).toEqual([...REST]);
    const turn: Turn = [0, s, 0, s];
    const posed = withRest(REST, {1: turn}, 2);
    close(posed.subarray(10, 14), new Quaternion(s, 0, 0, s).multiply(new Quaternion(...turn)).toArray());
    close(posed.subarray(14), REST.subarray(14));
    close(fromRest(REST, 1, [...posed.subarray(10, 14)] as unknown as Turn), turn);
    expect([...withRest(null, {0: turn}, 1)]).toEqual([...turn, 0, 0, 0, 1, 1, 1]);
  });

  it('differs from the bind pose or not', () => {
    expect(restsBound(null)).toBe(true);
    expect(restsBound(REST)).toBe(false);
    close(withRest(REST, boundPose(REST, 2), 2).subarray(10, 14), [0, 0, 0, 1]);
    expect(Object.keys(boundPose(REST, 2))).toEqual(['1']);
  });
});

import {Matrix4, Quaternion, Vector3} from 'three';
import {describe, expect, it} from 'vitest';
import type {Joint} from 'sinew-skin';
import {boundPose, fromRest, looksAway, numbersOf, restsBound, withRest, type Turn} from '../src/rest';

const joint = (name: string, parent: number, position: [number, number, number]): Joint =>
  ({name, parent, position, axes: [[0, 1, 0], [0, 0, 1], [1, 0, 0]], deforms: true, reason: 'deforms'});
const JOINTS = [joint('a', -1, [1, 0, 0]), joint('b', 0, [1, 2, 0])];
const rows = (m: Matrix4) => {
  const e = m.elements;
  return [0, 1, 2].flatMap((r) => [e[r], e[r + 4], e[r + 8], e[r + 12]]);
};
/** Matrices of the pose, by the definition: S = S_parent B L B^-1. */
function matricesOf(numbers: Float64Array): Float64Array {
  const out: Matrix4[] = [];
  JOINTS.forEach(({parent, position, axes}, j) => {
    const [x, y, z] = axes.map((a) => new Vector3(...(a as [number, number, number])));
    const frame = new Matrix4().makeBasis(x, y, z).setPosition(...position);
    const n = [...numbers.subarray(j * 10, j * 10 + 10)];
    const local = new Matrix4().compose(new Vector3(...n.slice(4, 7)), new Quaternion(...n.slice(0, 4)), new Vector3(...n.slice(7)));
    out.push((parent < 0 ? new Matrix4() : out[parent].clone()).multiply(frame).multiply(local).multiply(frame.clone().invert()));
  });
  return Float64Array.from(out.flatMap(rows));
}
const s = Math.SQRT1_2;
const REST = Float64Array.from([0, 0, 0, 1, 0, 0, 0, 1, 1, 1, s, 0, 0, s, 0.1, 0.2, 0.3, 2, 2, 2]);
const close = (a: ArrayLike<number>, b: ArrayLike<number>) => Array.from(a).forEach((x, i) => expect(x).toBeCloseTo(b[i], 6));

describe('the rest pose', () => {
  it('is found from its matrices', () => {
    const found = numbersOf(matricesOf(REST), JOINTS);
    close(found, REST);
    expect([...found.subarray(0, 10)]).toEqual([0, 0, 0, 1, 0, 0, 0, 1, 1, 1]);  // exactly
  });

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

it('VRM 0 is known by its extension', () => {
  const glb = (json: object) => {
    const text = new TextEncoder().encode(JSON.stringify(json));
    const out = new Uint8Array(20 + text.length);
    new DataView(out.buffer).setUint32(0, 0x46546c67, true);
    new DataView(out.buffer).setUint32(12, text.length, true);
    out.set(text, 20);
    return out;
  };
  expect(looksAway(glb({extensions: {VRM: {}}}))).toBe(true);
  expect(looksAway(glb({extensions: {VRMC_vrm: {}}}))).toBe(false);
  expect(looksAway(new TextEncoder().encode('v 0 0 0'))).toBe(false);
});

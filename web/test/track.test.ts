import {describe, expect, it} from 'vitest';
import {between, turnOf} from '../src/angles';
import {EMPTY, History, animationOf, withBones, workOf} from '../src/store';
import {NO_TRACK, keyAt, keysToWrite, onGrid, played, poseAt, withKey, withLength, withMovedKey, withoutKey, type Track} from '../src/track';

const quarter = turnOf([90, 0, 0]);
const half: Track = {...NO_TRACK, keys: [{time: 0.5, pose: {3: turnOf([0, 0, 0])}}, {time: 1.5, pose: {3: quarter, 4: turnOf([0, 40, 0])}}]};
const near = (a: readonly number[], b: readonly number[]) => a.forEach((x, i) => expect(x).toBeCloseTo(b[i], 12));

describe('between', () => {
  it('rotates evenly along the shorter arc', () => {
    near(between(turnOf([0, 0, 0]), quarter, 0.5), turnOf([45, 0, 0]));
    near(between(turnOf([0, 0, 0]), quarter.map((x) => -x) as typeof quarter, 1 / 3), turnOf([30, 0, 0]));
    near(between(turnOf([350, 0, 0]), turnOf([10, 0, 0]), 0.5), turnOf([0, 0, 0]).map((x) => -x));
    near(between(quarter, quarter, 0.7), quarter);
  });
});

describe('a track', () => {
  it('holds before the first key and after the last, and interpolates between', () => {
    expect(poseAt(NO_TRACK, 1)).toEqual({});
    expect(poseAt(half, 0)).toBe(half.keys[0].pose);
    expect(poseAt(half, 0.5)).toBe(half.keys[0].pose);
    expect(poseAt(half, 9)).toBe(half.keys[1].pose);
    near(poseAt(half, 1)[3], turnOf([45, 0, 0]));
    near(poseAt(half, 1.25)[4], turnOf([0, 30, 0]));  // this joint is not in the first key
  });

  it('holds poses in step mode', () => {
    const steps = {...half, step: true};
    expect(poseAt(steps, 1.49)).toBe(half.keys[0].pose);
    expect(poseAt(steps, 1.5)).toBe(half.keys[1].pose);
  });

  it('keeps keys in order of time, one per time', () => {
    const more = withKey(half, 1.0004, {5: quarter});
    expect(more.keys.map((k) => k.time)).toEqual([0.5, 1, 1.5]);
    expect(keyAt(more, 1)).toBe(1);
    expect(keyAt(more, 1.02)).toBe(-1);
    const other = withKey(more, 1, {});
    expect(other.keys.map((k) => k.pose)).toEqual([half.keys[0].pose, {}, half.keys[1].pose]);
    expect(withKey(half, 99, {}).keys.at(-1)!.time).toBe(2);
    expect(withoutKey(other, 0).keys.map((k) => k.time)).toEqual([1, 1.5]);
    expect(half.keys.length).toBe(2);
  });

  it('moves a key between its neighbours, on the grid', () => {
    expect(withMovedKey(half, 0, 0.777).keys[0].time).toBe(0.78);
    expect(withMovedKey(half, 0, -3).keys[0].time).toBe(0);
    expect(withMovedKey(half, 0, 3).keys[0].time).toBe(1.49);
    expect(withMovedKey(half, 1, 3).keys[1].time).toBe(2);
    expect(withMovedKey(half, 1, 0).keys[1].time).toBe(0.51);
  });

  it('ends not before its last key', () => {
    expect(withLength(half, 1).length).toBe(1.5);
    expect(withLength(half, 7.128).length).toBe(7.13);
    expect(withLength(NO_TRACK, 0).length).toBe(0.1);
    expect(withLength(NO_TRACK, 1e9).length).toBe(600);
    expect(onGrid(0.1 + 0.2)).toBe(0.3);
  });

  it('plays to its end, or loops', () => {
    expect(played(1, 0.5, 2, false)).toEqual({time: 1.5, ended: false});
    expect(played(1.9, 0.5, 2, false)).toEqual({time: 2, ended: true});
    const {time, ended} = played(1.9, 0.5, 2, true);
    expect(time).toBeCloseTo(0.4);
    expect(ended).toBe(false);
  });

  it('is saved from 0 to its length', () => {
    expect(keysToWrite(NO_TRACK)).toEqual([]);
    const keys = keysToWrite(half);
    expect(keys.map((k) => k.time)).toEqual([0, 0.5, 1.5, 2]);
    expect(keys[0].pose).toBe(half.keys[0].pose);
    expect(keys[3].pose).toBe(half.keys[1].pose);
    expect(keysToWrite({...half, length: 1.5}).length).toBe(3);
    const {times, poses, step, name} = animationOf({...EMPTY, track: half}, 6)!;
    expect([...times]).toEqual([0, 0.5, 1.5, 2]);
    expect(poses.length).toBe(4 * 6 * 10);
    near([...poses.subarray(2 * 60 + 30, 2 * 60 + 40)], [...quarter, 0, 0, 0, 1, 1, 1]);
    expect([step, name]).toEqual([false, 'Studio']);
    expect(animationOf(EMPTY, 6)).toBe(null);
  });

  it('can be undone, needs no weights, and loses keys of removed joints', () => {
    const h = new History();
    h.change({track: half});
    expect(workOf(h.doc, EMPTY, new Map())).toBe('pose');
    for (const t of [0.6, 0.7]) h.change({track: withMovedKey(h.doc.track, 0, t)}, 'key 0');
    h.undo();
    expect(h.doc.track).toBe(half);
    h.undo();
    expect(h.doc).toBe(EMPTY);
    expect(withBones({...EMPTY, track: half}, []).track!.keys).toEqual([]);
    expect(withBones(EMPTY, [])).toEqual({bones: [], pose: {}, poses: []});
  });
});

// The keys of the time line: poses at given times, and the poses between them. No DOM.
import {between} from './angles';
import type {Quaternion} from './handle';

/** By joint: a rotation x, y, z, w along the joint's own axes. A joint that is missing has its bind pose. */
export type Pose = Readonly<Record<number, readonly [number, number, number, number]>>;

export interface Key {
  time: number;
  pose: Pose;
}
export interface Track {
  /** The name of the animation in the exported file. */
  name: string;
  /** Each pose holds until the next key; otherwise joints rotate evenly between keys. */
  step: boolean;
  /** Seconds; no key is later. */
  length: number;
  /** Ascending times. */
  keys: readonly Key[];
}

export const NO_TRACK: Track = {name: 'Studio', step: false, length: 2, keys: []};

const STEP = 0.01;  // seconds; times of keys are multiples of it
const SHORTEST = 0.1, LONGEST = 600;
/** Rounds a time to a step, within the length. */
export const onGrid = (time: number, length = Infinity): number =>
  Math.round(Math.min(Math.max(time, 0), length) / STEP) / Math.round(1 / STEP);

/** The key at a time; -1: none. */
export const keyAt = (track: Track, time: number): number => track.keys.findIndex((k) => Math.abs(k.time - time) < STEP / 2);

/** The pose at a time. Before the first key it is the first pose, after the last key the last one. */
export function poseAt({keys, step}: Track, time: number): Pose {
  if (!keys.length) return {};
  let k = keys.length - 1;
  while (k > 0 && keys[k].time > time) --k;
  const from = keys[k], to = keys[k + 1];
  if (step || !to || time <= from.time) return from.pose;
  const share = (time - from.time) / (to.time - from.time);
  const out: Record<number, Quaternion> = {};
  const still: Quaternion = [0, 0, 0, 1];
  for (const j of new Set([...Object.keys(from.pose), ...Object.keys(to.pose)].map(Number)))
    out[j] = between(from.pose[j] ?? still, to.pose[j] ?? still, share);
  return out;
}

/** Adds a key, or replaces the key at that time. */
export function withKey(track: Track, time: number, pose: Pose): Track {
  const at = onGrid(time, track.length);
  const others = track.keys.filter((k) => Math.abs(k.time - at) >= STEP / 2);
  return {...track, keys: [...others, {time: at, pose}].sort((a, b) => a.time - b.time)};
}

export const withoutKey = (track: Track, key: number): Track => ({...track, keys: track.keys.filter((_, i) => i !== key)});

/** Moves a key, at most up to its neighbours. */
export function withMovedKey(track: Track, key: number, time: number): Track {
  const low = key > 0 ? track.keys[key - 1].time + STEP : 0;
  const high = key + 1 < track.keys.length ? track.keys[key + 1].time - STEP : track.length;
  const at = onGrid(Math.min(Math.max(time, low), high));
  return {...track, keys: track.keys.map((k, i) => (i === key ? {...k, time: at} : k))};
}

/** Sets the length, which cannot end before the last key. */
export function withLength(track: Track, length: number): Track {
  const last = track.keys.at(-1)?.time ?? 0;
  return {...track, length: onGrid(Math.min(Math.max(length, last, SHORTEST), LONGEST))};
}

/** The time after playing for some more seconds, and whether playing ends there. */
export function played(time: number, seconds: number, length: number, loop: boolean): {time: number; ended: boolean} {
  const next = time + seconds;
  if (next < length) return {time: next, ended: false};
  return loop ? {time: next % length, ended: false} : {time: length, ended: true};
}

/** The keys for a file that plays from 0 to the length: the first and the last pose are repeated at the ends. */
export function keysToWrite({keys, length}: Track): Key[] {
  const out = [...keys];
  if (!out.length) return out;
  if (out[0].time > 0) out.unshift({...out[0], time: 0});
  if (out[out.length - 1].time < length) out.push({...out[out.length - 1], time: length});
  return out;
}

// The rest pose of the file, as a pose of the core: what the rotations of the page are added to. No DOM.
import {Quaternion} from 'three';
import {partOf} from './angles';

export type Turn = readonly [number, number, number, number];

const NUMBERS = 10;  // rotation, translation, scale

const turnOf = (base: Float64Array | null, joint: number) =>
  base ? new Quaternion().fromArray(base.subarray(joint * NUMBERS, joint * NUMBERS + 4) as unknown as number[]) : new Quaternion();

/** A rotation from the bind pose, as one from the rest pose. */
export function fromRest(base: Float64Array | null, joint: number, turn: Turn): Turn {
  const at = base?.subarray(joint * NUMBERS, joint * NUMBERS + 4);
  if (!at || at[3] === 1) return turn;
  return turnOf(base, joint).invert().multiply(new Quaternion(...turn)).normalize().toArray() as unknown as Turn;
}

/** A pose from rest as the core takes it. */
export function withRest(base: Float64Array | null, pose: Readonly<Record<number, Turn>>, joints: number): Float64Array {
  const out = new Float64Array(joints * NUMBERS);
  for (let j = 0; j < joints; ++j) {
    const turn = pose[j];
    if (base) out.set(base.subarray(j * NUMBERS, (j + 1) * NUMBERS), j * NUMBERS);
    else out.set([0, 0, 0, 1, 0, 0, 0, 1, 1, 1], j * NUMBERS);
    if (!turn) continue;
    out.set(base && base[j * NUMBERS + 3] !== 1 ? turnOf(base, j).multiply(new Quaternion(...turn)).toArray() : turn, j * NUMBERS);
  }
  return out;
}

/** Whether the file rests in its bind pose. */
export function restsBound(base: Float64Array | null): boolean {
  for (let i = 3; base && i < base.length; i += NUMBERS) if (base[i] !== 1) return false;
  return true;
}

/** The rotations from rest to the bind pose. */
export function boundPose(base: Float64Array | null, joints: number): Record<number, Turn> {
  const out: Record<number, Turn> = {};
  for (let j = 0; base && j < joints; ++j) if (base[j * NUMBERS + 3] !== 1) out[j] = fromRest(base, j, [0, 0, 0, 1]);
  return out;
}

/** A share of a pose of ten numbers a joint, as rotations by joint. */
export function turnsOf(pose: readonly number[], joints: number, share: number, base: Float64Array | null): Record<number, Turn> {
  const turned = boundPose(base, joints);
  for (let j = 0; j < joints; ++j) {
    const [x, y, z, w] = pose.slice(j * NUMBERS, j * NUMBERS + 4);
    if (w !== 1) turned[j] = [...fromRest(base, j, partOf([x, y, z, w], share))] as unknown as Turn;
  }
  return turned;
}

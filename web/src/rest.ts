// The rest pose of the file, as a pose of the core: what the rotations of the page are added to. No DOM.
import {Matrix4, Quaternion, Vector3} from 'three';
import type {Joint} from 'sinew-skin';

export type Turn = readonly [number, number, number, number];

const NUMBERS = 10;  // rotation, translation, scale
const SAME = 1e-5;  // bind matrices are floats: smaller differences are rounding

const matrixOf = (m: ArrayLike<number>, at: number) =>
  new Matrix4().set(m[at], m[at + 1], m[at + 2], m[at + 3], m[at + 4], m[at + 5], m[at + 6], m[at + 7], m[at + 8], m[at + 9], m[at + 10], m[at + 11], 0, 0, 0, 1);

/** Ten numbers a joint, for matrices of joints: S = S_parent B L B^-1, so L = B^-1 S_parent^-1 S B. A joint where L is the identity
 * but for rounding gets exactly that. Stretched and turned joints may have no such L; they get the nearest. */
export function numbersOf(matrices: Float64Array, joints: readonly Joint[]): Float64Array {
  const out = new Float64Array(joints.length * NUMBERS);
  let size = 1e-9;
  for (const {position} of joints) size = Math.max(size, ...position.map(Math.abs));
  joints.forEach(({parent, position, axes}, j) => {
    const [x, y, z] = axes.map((a) => new Vector3(...(a as [number, number, number])));
    const frame = new Matrix4().makeBasis(x, y, z).setPosition(...position);
    const local = frame.clone().invert();
    if (parent >= 0) local.multiply(matrixOf(matrices, parent * 12).invert());
    local.multiply(matrixOf(matrices, j * 12)).multiply(frame);
    const [t, q, s] = [new Vector3(), new Quaternion(), new Vector3()];
    local.decompose(t, q, s);
    if (q.w < 0) q.set(-q.x, -q.y, -q.z, -q.w);
    const numbers = [q.x, q.y, q.z, q.w, t.x, t.y, t.z, s.x, s.y, s.z];
    const still = Math.hypot(q.x, q.y, q.z) <= SAME && t.length() <= SAME * size && s.toArray().every((k) => Math.abs(k - 1) <= SAME);
    const usable = numbers.every(Number.isFinite) && s.x * s.y * s.z !== 0;
    out.set(still || !usable ? [0, 0, 0, 1, 0, 0, 0, 1, 1, 1] : numbers, j * NUMBERS);
  });
  return out;
}

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

/** Whether a file is a VRM of version 0, whose characters look along -z. */
export function looksAway(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 20 || view.getUint32(0, true) !== 0x46546c67) return false;
  try {
    const text = new TextDecoder().decode(bytes.subarray(20, 20 + view.getUint32(12, true)));
    return !!JSON.parse(text).extensions?.VRM;
  } catch {
    return false;
  }
}

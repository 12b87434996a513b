// Rotations in degrees, as users type them. No DOM.
import type {Quaternion} from './handle';

export type Degrees = [x: number, y: number, z: number];

const RADIANS = Math.PI / 180;

/** About the joint's own x, then its turned y, then its turned z. */
export function turnOf([x, y, z]: Readonly<Degrees>): Quaternion {
  const half = (a: number): [number, number] => [Math.cos((a * RADIANS) / 2), Math.sin((a * RADIANS) / 2)];
  const [[cx, sx], [cy, sy], [cz, sz]] = [half(x), half(y), half(z)];
  return [
    sx * cy * cz + cx * sy * sz, cx * sy * cz - sx * cy * sz,
    cx * cy * sz + sx * sy * cz, cx * cy * cz - sx * sy * sz,
  ];
}

/** The inverse, with y within ±90. At y = ±90, x and z rotate about one axis, and z is 0. */
export function degreesOf([x, y, z, w]: Readonly<Quaternion>): Degrees {
  const sin = 2 * (x * z + y * w);
  const degrees = (a: number) => Math.round((a / RADIANS) * 1e4) / 1e4 || 0;
  if (Math.abs(sin) > 1 - 1e-9) return [degrees(2 * Math.atan2(x, w)), sin > 0 ? 90 : -90, 0];
  return [
    degrees(Math.atan2(2 * (x * w - y * z), 1 - 2 * (x * x + y * y))), degrees(Math.asin(sin)),
    degrees(Math.atan2(2 * (z * w - x * y), 1 - 2 * (y * y + z * z))),
  ];
}

/** A fraction of a rotation about the same axis: 0 is none, 1 is all. */
export function partOf([x, y, z, w]: Readonly<Quaternion>, share: number): Quaternion {
  const sign = w < 0 ? -1 : 1;  // the shorter way
  const sin = Math.hypot(x, y, z);
  if (share === 1 || sin < 1e-12) return share === 1 ? [x, y, z, w] : [0, 0, 0, 1];
  const half = share * Math.atan2(sin, sign * w);
  const k = (sign * Math.sin(half)) / sin;
  return [k * x, k * y, k * z, Math.cos(half)];
}

/** Interpolates two rotations along the shorter arc, as glTF does; share 0 is the first. */
export function between(a: Readonly<Quaternion>, b: Readonly<Quaternion>, share: number): Quaternion {
  const dot = a.reduce((sum, x, i) => sum + x * b[i], 0);
  const sign = dot < 0 ? -1 : 1;
  const cosine = Math.min(Math.abs(dot), 1);
  let [from, to] = [1 - share, share];
  if (cosine < 1 - 1e-9) {
    const angle = Math.acos(cosine);
    [from, to] = [Math.sin(from * angle) / Math.sin(angle), Math.sin(to * angle) / Math.sin(angle)];
  }
  const out = a.map((x, i) => from * x + sign * to * b[i]);
  const length = Math.hypot(...out);
  return out.map((x) => x / length) as Quaternion;
}

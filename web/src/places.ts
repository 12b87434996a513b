// Places of the surface that answers are about: loose parts, borders of two joints, and what a pose damages. No DOM.
import type {Rows} from 'sinew-skin';

/** Vertices of connected parts, where vertices at one position are one: the number of the part of each vertex, and their count. */
export function partsOf(positions: Float32Array, triangles: Uint32Array): {part: Uint32Array; count: number} {
  const vertices = positions.length / 3;
  const up = Uint32Array.from({length: vertices}, (_, v) => v);
  const top = (v: number) => {
    while (up[v] !== v) v = up[v] = up[up[v]];
    return v;
  };
  const join = (a: number, b: number) => {
    [a, b] = [top(a), top(b)];
    if (a < b) up[b] = a;
    else up[a] = b;
  };
  const first = new Map<string, number>();
  for (let v = 0; v < vertices; ++v) {
    const key = `${positions[v * 3]} ${positions[v * 3 + 1]} ${positions[v * 3 + 2]}`;
    const other = first.get(key);
    if (other === undefined) first.set(key, v);
    else join(other, v);
  }
  for (let t = 0; t < triangles.length; t += 3) {
    join(triangles[t], triangles[t + 1]);
    join(triangles[t], triangles[t + 2]);
  }
  const part = new Uint32Array(vertices), number = new Map<number, number>();
  for (let v = 0; v < vertices; ++v) {
    const root = top(v);
    if (!number.has(root)) number.set(root, number.size);
    part[v] = number.get(root)!;
  }
  return {part, count: number.size};
}

/** The weight of a joint at a vertex. */
export function shareOf({width, joints, shares}: Rows, vertex: number, joint: number): number {
  for (let at = vertex * width; at < (vertex + 1) * width; ++at) if (joints[at] === joint && shares[at] > 0) return shares[at];
  return 0;
}

/** Points on edges of the mesh, two for each line segment. */
export interface OnEdges {
  /** The two vertices of each point's edge, and how far it is from the first to the second, 0..1. */
  ends: Uint32Array;
  share: Float32Array;
}
const SHARED = 0.2;  // of the weight of a row: what both joints must have where their border is, as in the core
/** Where the first joint has `level` of the weight of both. */
export function borderOf(rows: Rows, triangles: Uint32Array, first: number, second: number, level: number): OnEdges {
  const vertices = rows.joints.length / rows.width;
  const value = new Float32Array(vertices).fill(NaN);
  for (let v = 0; v < vertices; ++v) {
    const a = shareOf(rows, v, first), both = a + shareOf(rows, v, second);
    if (both >= SHARED) value[v] = a / both - level;
  }
  const ends: number[] = [], share: number[] = [];
  for (let t = 0; t < triangles.length; t += 3) {
    const corners = [triangles[t], triangles[t + 1], triangles[t + 2]];
    const crossed = [[0, 1], [1, 2], [2, 0]].filter(([i, j]) => (value[corners[i]] < 0) !== (value[corners[j]] < 0));
    if (crossed.length !== 2 || corners.some((v) => Number.isNaN(value[v]))) continue;
    for (const [i, j] of crossed) {
      const [a, b] = [value[corners[i]], value[corners[j]]];
      ends.push(corners[i], corners[j]);
      share.push(a / (a - b));
    }
  }
  return {ends: Uint32Array.from(ends), share: Float32Array.from(share)};
}

/** Moves vertices as linear blend skinning does: the place of one of them. `matrices`: J × 12; null: the bind pose. */
export function skinned(rows: Rows | null, matrices: Float64Array | null, positions: ArrayLike<number>, vertex: number, out: [number, number, number]): void {
  const [x, y, z] = [positions[vertex * 3], positions[vertex * 3 + 1], positions[vertex * 3 + 2]];
  out[0] = x, out[1] = y, out[2] = z;
  if (!rows || !matrices) return;
  let sum = 0;
  const to = [0, 0, 0];
  for (let at = vertex * rows.width; at < (vertex + 1) * rows.width; ++at) {
    const w = rows.shares[at], m = rows.joints[at] * 12;
    if (w === 0) continue;
    sum += w;
    for (let k = 0; k < 3; ++k) to[k] += w * (matrices[m + 4 * k] * x + matrices[m + 4 * k + 1] * y + matrices[m + 4 * k + 2] * z + matrices[m + 4 * k + 3]);
  }
  if (sum > 0) out[0] = to[0], out[1] = to[1], out[2] = to[2];
}

/** How a pose damages the surface: shares of its area. */
export interface Damage {
  /** Triangles with an edge that is much longer or shorter than in the bind pose. */
  stretched: number;
  /** Triangles that face away from the surface around them, and did not. */
  folded: number;
  /** The vertex with the most of it around it. */
  vertex: number;
}
const STRETCH = Math.log(1.6);

function normalsOf(positions: ArrayLike<number>, triangles: Uint32Array): {face: Float32Array; vertex: Float32Array} {
  const face = new Float32Array(triangles.length), vertex = new Float32Array(positions.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [triangles[t] * 3, triangles[t + 1] * 3, triangles[t + 2] * 3];
    const ux = positions[b] - positions[a], uy = positions[b + 1] - positions[a + 1], uz = positions[b + 2] - positions[a + 2];
    const vx = positions[c] - positions[a], vy = positions[c + 1] - positions[a + 1], vz = positions[c + 2] - positions[a + 2];
    face[t] = uy * vz - uz * vy, face[t + 1] = uz * vx - ux * vz, face[t + 2] = ux * vy - uy * vx;
    for (const at of [a, b, c]) vertex[at] += face[t], vertex[at + 1] += face[t + 1], vertex[at + 2] += face[t + 2];
  }
  return {face, vertex};
}

/** Compares poses with the bind pose. */
export class DamageMeter {
  private readonly bound: ReturnType<typeof normalsOf>;
  private readonly area: Float32Array;
  private total = 0;

  constructor(private readonly positions: Float32Array, private readonly triangles: Uint32Array) {
    this.bound = normalsOf(positions, triangles);
    this.area = new Float32Array(triangles.length / 3);
    const {face} = this.bound;
    for (let i = 0; i < this.area.length; ++i) this.total += this.area[i] = Math.hypot(face[3 * i], face[3 * i + 1], face[3 * i + 2]) / 2;
  }

  of(posed: Float32Array): Damage {
    const {positions, triangles, area, bound} = this;
    const now = normalsOf(posed, triangles);
    const against = ({face, vertex}: typeof now, t: number) => {
      let [x, y, z] = [0, 0, 0];
      for (let k = 0; k < 3; ++k) {
        const at = triangles[t + k] * 3;
        x += vertex[at], y += vertex[at + 1], z += vertex[at + 2];
      }
      return x * face[t] + y * face[t + 1] + z * face[t + 2];
    };
    const length = (of: Float32Array, a: number, b: number) => Math.hypot(of[a * 3] - of[b * 3], of[a * 3 + 1] - of[b * 3 + 1], of[a * 3 + 2] - of[b * 3 + 2]);
    const around = new Float32Array(positions.length / 3);
    let [stretched, folded] = [0, 0];
    for (let t = 0; t < triangles.length; t += 3) {
      let most = 0;
      for (let k = 0; k < 3; ++k) {
        const [a, b] = [triangles[t + k], triangles[t + ((k + 1) % 3)]];
        const before = length(positions, a, b);
        if (before > 0) most = Math.max(most, Math.abs(Math.log(length(posed, a, b) / before)));
      }
      const long = most > STRETCH, fold = against(now, t) < 0 && against(bound, t) >= 0;
      const size = area[t / 3];
      if (long) stretched += size;
      if (fold) folded += size;
      if (long || fold) for (let k = 0; k < 3; ++k) around[triangles[t + k]] += size;
    }
    let vertex = 0;
    for (let v = 1; v < around.length; ++v) if (around[v] > around[vertex]) vertex = v;
    const total = this.total || 1;
    return {stretched: stretched / total, folded: folded / total, vertex};
  }
}

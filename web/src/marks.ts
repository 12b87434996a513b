// The vertices that edits by hand affect. No DOM.
import type {Primitive} from 'sinew-skin';
import {oklch} from './colours';
import type {Edit, Selection} from './store';

/** Marks of vertices; later ones override earlier ones. */
export const MARKS: readonly {meaning: string; colour: [number, number, number]}[] = [
  {meaning: 'as the method says', colour: [0.3, 0.32, 0.36]},
  {meaning: 'weights changed', colour: oklch(0.72, 0.14, 1.5)},
  {meaning: 'hardness of its own', colour: oklch(0.75, 0.15, 4.2)},
  {meaning: 'rigid', colour: oklch(0.7, 0.18, 0.6)},
];

/** Fills `out`, V: into MARKS. `changed`: the vertices whose rows each edit of weights has changed. Hardness and rigid parts, which
 * change what weights follow from, mark their selections; an empty or missing one contains all vertices. */
export function marksOf(edits: readonly Edit[], changed: ReadonlyMap<object, ArrayLike<number>>, positions: Float32Array, primitives: readonly Primitive[],
                        out: Uint8Array): void {
  out.fill(0);
  for (const e of edits) {
    const measured = e.op === 'rigid' || e.op === 'hardness';
    const mark = e.op === 'rigid' ? 3 : e.op === 'hardness' ? 2 : 1;
    const vertices = measured ? selected(e.select, positions, primitives) : Array.from(changed.get(e.op === 'other' ? e.entry : e) ?? []);
    for (const v of vertices) if (out[v] < mark) out[v] = mark;
  }
}

function* selected(select: Selection | undefined, positions: Float32Array, primitives: readonly Primitive[]) {
  for (const {sphere, vertices, mesh, material} of select ?? [{}]) {
    if (vertices) {
      yield* vertices;
      continue;
    }
    for (const p of primitives) {
      if ((mesh !== undefined && p.mesh !== mesh) || (material !== undefined && p.material_name !== material)) continue;
      for (let v = p.first_vertex; v < p.first_vertex + p.vertex_count; ++v) {
        if (sphere) {
          const [x, y, z] = sphere.center;
          const d = Math.hypot(positions[v * 3] - x, positions[v * 3 + 1] - y, positions[v * 3 + 2] - z);
          if (d > sphere.radius) continue;
        }
        yield v;
      }
    }
  }
}

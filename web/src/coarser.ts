// Fewer triangles of a large surface, for frames that follow each other where no graphics card draws them.
import * as THREE from 'three';

const MANY = 120_000;  // triangles

/** A geometry that shares the attributes, with triangles between some of the vertices. Null: the surface is small. */
export async function coarserOf(surface: THREE.BufferGeometry): Promise<THREE.BufferGeometry | null> {
  const corners = Uint32Array.from(surface.getIndex()!.array), {groups} = surface;
  if (corners.length <= 3 * MANY) return null;
  const {MeshoptSimplifier} = await import('meshoptimizer/simplifier');
  await MeshoptSimplifier.ready;
  const positions = surface.getAttribute('position').array as Float32Array;
  const coarser = shared(surface);
  const of = groups.map(({start, count}) =>
    MeshoptSimplifier.simplifySloppy(corners.subarray(start, start + count), positions, 3, null, 3 * Math.ceil((count * MANY) / corners.length), 1)[0]);
  const index = new Uint32Array(of.reduce((sum, part) => sum + part.length, 0));
  let start = 0;
  of.forEach((part, i) => {
    index.set(part, start);
    coarser.addGroup(start, part.length, groups[i].materialIndex);
    start += part.length;
  });
  coarser.setIndex(new THREE.BufferAttribute(index, 1));
  return coarser;
}

/** The same triangles as those of another geometry, with these attributes. */
export function coarserLike(coarser: THREE.BufferGeometry | null, surface: THREE.BufferGeometry): THREE.BufferGeometry | null {
  if (!coarser) return null;
  const geometry = shared(surface).setIndex(coarser.getIndex());
  for (const {start, count, materialIndex} of coarser.groups) geometry.addGroup(start, count, materialIndex);
  return geometry;
}

function shared(surface: THREE.BufferGeometry): THREE.BufferGeometry {
  const geometry = new THREE.BufferGeometry();
  geometry.attributes = surface.attributes;
  return geometry;
}

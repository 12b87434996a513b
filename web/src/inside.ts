// What is drawn inside and over a character: leaves of its volume, defects of its mesh, and parts that others hide.
import * as THREE from 'three';
import type {Defects} from 'sinew-skin';
import {behind} from './looks';
import {ROW_ATTRIBUTES, type RowShader} from './rowshader';

type Colour = readonly number[];
const colourOf = (c: Colour) => new THREE.Color(...(c as [number, number, number]));

/** Leaves of the volume as cubes. */
export class Leaves {
  private drawn: THREE.InstancedMesh | null = null;
  private shown: Float32Array | null = null;

  constructor(private readonly world: THREE.Object3D) {}

  /** N × 5 (Core.volume); null: none. Leaves beyond `most` along z are hidden, which shows the inside. */
  show(leaves: Float32Array | null, most: number, colours: {within: Colour; boundary: Colour}): void {
    if (leaves !== this.shown) {
      this.shown = leaves;
      this.drawn?.removeFromParent();
      this.drawn?.geometry.dispose();
      this.drawn?.dispose();
      this.drawn = leaves && new THREE.InstancedMesh(new THREE.BoxGeometry(), new THREE.MeshLambertMaterial(), leaves.length / 5);
      if (this.drawn) {
        this.drawn.frustumCulled = false;
        this.world.add(this.drawn);
      }
    }
    if (!leaves || !this.drawn) return;
    const place = new THREE.Matrix4();
    const [inner, outer] = [colourOf(colours.within), colourOf(colours.boundary)];
    let count = 0;
    for (let i = 0; i < leaves.length; i += 5) {
      const [x, y, z, edge, boundary] = leaves.subarray(i, i + 5);
      if (z > most) continue;
      const size = edge * 0.94;  // a gap between neighbours
      this.drawn.setMatrixAt(count, place.set(size, 0, 0, x, 0, size, 0, y, 0, 0, size, z, 0, 0, 0, 1));
      this.drawn.setColorAt(count++, boundary ? outer : inner);
    }
    this.drawn.count = count;
    this.drawn.instanceMatrix.needsUpdate = true;
    if (this.drawn.instanceColor) this.drawn.instanceColor.needsUpdate = true;
  }
}

/** Some triangles or lines of a surface, whose places, colours and rows they share. */
function over(surface: THREE.BufferGeometry, index: number[]): THREE.BufferGeometry {
  const geometry = new THREE.BufferGeometry();
  for (const name of ['position', 'normal', 'color', ...ROW_ATTRIBUTES]) {
    const attribute = surface.getAttribute(name);
    if (attribute) geometry.setAttribute(name, attribute);
  }
  geometry.setIndex(index);
  return geometry;
}

/** The triangles of some vertices (1), faintly through what hides them. */
export function partThrough(surface: THREE.BufferGeometry, rows: RowShader, vertices: Uint8Array): THREE.Group {
  const corners = surface.getIndex()!.array;
  const faces: number[] = [];
  for (let t = 0; t < corners.length; t += 3) if (vertices[corners[t]]) faces.push(corners[t], corners[t + 1], corners[t + 2]);
  const drawn = new THREE.Mesh(over(surface, faces), rows.patch(new THREE.MeshLambertMaterial({vertexColors: true, side: THREE.DoubleSide, depthTest: false, transparent: true, opacity: 0.4})));
  drawn.frustumCulled = false;
  return new THREE.Group().add(drawn);
}

/** Defects over a surface: triangles in a colour, edges as lines; what is hidden is drawn faintly. */
export function defectsOver(surface: THREE.BufferGeometry, rows: RowShader, defects: Defects, colours: Record<'intersecting' | 'boundary' | 'nonmanifold', Colour>): THREE.Group {
  const group = new THREE.Group();
  const corners = surface.getIndex()!.array;
  const faces: number[] = [];
  defects.triangles.forEach((t, i) => t === 1 && faces.push(corners[3 * i], corners[3 * i + 1], corners[3 * i + 2]));
  group.add(new THREE.Mesh(over(surface, faces), rows.patch(new THREE.MeshLambertMaterial({color: colourOf(colours.intersecting), side: THREE.DoubleSide, ...behind(1)}))));
  for (const [kind, c] of [[1, colours.boundary], [3, colours.nonmanifold]] as const) {
    const ends: number[] = [];
    for (let i = 0; i < defects.edges.length; i += 3)
      if (defects.edges[i + 2] === kind) ends.push(defects.edges[i], defects.edges[i + 1]);
    const lines = over(surface, ends);
    const of = {color: colourOf(c)};
    group.add(new THREE.LineSegments(lines, rows.patch(new THREE.LineBasicMaterial(of))),
              new THREE.LineSegments(lines, rows.patch(new THREE.LineBasicMaterial({...of, depthTest: false, transparent: true, opacity: 0.2}))));
  }
  group.children.forEach((child) => (child.frustumCulled = false));
  return group;
}

/** Removes what lies over a surface, and leaves the surface as it is. */
export function removeOver(group: THREE.Group): void {
  group.traverse((part) => {
    if (!(part instanceof THREE.Mesh || part instanceof THREE.LineSegments)) return;
    part.geometry.attributes = {};  // those of the surface, which disposing would take from the card
    part.geometry.dispose();
    (part.material as THREE.Material).dispose();
  });
  group.removeFromParent();
}

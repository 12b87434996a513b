// The skeleton in the view: an octahedron for each bone, a dot for each joint.
import * as THREE from 'three';
import type {Joint} from 'sinew-skin';

/** A bone from (0, 0, 0) to (0, 0, 1): a pyramid on a square near its head, and its tip. */
function octahedron(): THREE.BufferGeometry {
  const [width, at] = [0.1, 0.14];
  const ring = [[width, 0, at], [0, width, at], [-width, 0, at], [0, -width, at]];
  const corners = ring.flatMap((p, k) => {
    const q = ring[(k + 1) % 4];
    return [...q, ...p, 0, 0, 0, ...p, ...q, 0, 0, 1];
  });
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(corners), 3));
  geometry.computeVertexNormals();
  return geometry;
}

const Z = new THREE.Vector3(0, 0, 1);
/** Places it from head to tail; `thick`: a share of its length. */
function boneMatrix(head: THREE.Vector3, tail: THREE.Vector3, thick: number): THREE.Matrix4 {
  const along = tail.clone().sub(head);
  const length = along.length() || 1e-9;
  return new THREE.Matrix4().compose(head, new THREE.Quaternion().setFromUnitVectors(Z, along.divideScalar(length)), new THREE.Vector3(thick * length, thick * length, length));
}

/** Where a joint has moved: a matrix of bind space. */
type MatrixOf = (joint: number) => THREE.Matrix4;

export class Bones {
  readonly group = new THREE.Group();
  private readonly bones: THREE.InstancedMesh;
  private readonly dots: THREE.Points;
  /** Bones between joints, and those that end at a stated tail. */
  private readonly links: [number, number][];
  private readonly tails: number[];
  /** Sticks, which hide little of the skin. */
  thin = false;

  constructor(private readonly joints: readonly Joint[]) {
    // A joint with a stated tail has one bone, which ends there.
    this.links = joints.flatMap((joint, j): [number, number][] => (joint.parent >= 0 && !joints[joint.parent].tail ? [[joint.parent, j]] : []));
    this.tails = joints.flatMap((joint, j) => (joint.tail ? [j] : []));
    const over = {depthTest: false, transparent: true};
    this.bones = new THREE.InstancedMesh(octahedron(), new THREE.MeshLambertMaterial({...over, opacity: 0.8, depthWrite: false}), this.links.length + this.tails.length);
    const dot = new THREE.BufferGeometry();
    for (const name of ['position', 'color']) dot.setAttribute(name, new THREE.BufferAttribute(new Float32Array(joints.length * 3), 3));
    this.dots = new THREE.Points(dot, new THREE.PointsMaterial({...over, vertexColors: true, size: 7, sizeAttenuation: false}));
    this.bones.frustumCulled = this.dots.frustumCulled = false;
    this.bones.renderOrder = 1;
    this.dots.renderOrder = 2;
    this.group.add(this.bones, this.dots);
  }

  get places(): THREE.BufferAttribute {
    return this.dots.geometry.getAttribute('position') as THREE.BufferAttribute;
  }

  place(matrixOf: MatrixOf): void {
    const {joints, bones} = this;
    const places = joints.map((joint, j) => new THREE.Vector3(...joint.position).applyMatrix4(matrixOf(j)));
    places.forEach((p, j) => this.places.setXYZ(j, p.x, p.y, p.z));
    this.places.needsUpdate = true;
    let at = 0;
    const thick = this.thin ? 0.25 : 1;
    for (const [from, to] of this.links) bones.setMatrixAt(at++, boneMatrix(places[from], places[to], thick));
    for (const j of this.tails) bones.setMatrixAt(at++, boneMatrix(places[j], new THREE.Vector3(...joints[j].tail!).applyMatrix4(matrixOf(j)), thick));
    bones.instanceMatrix.needsUpdate = true;
  }

  /** Idle joints are grey; the selected one is white. `joints`: which deform may have changed. */
  colour(joints: readonly Joint[], palette: Float32Array, selected: number): void {
    const of = (j: number): [number, number, number] =>
      j === selected ? [1, 1, 1] : joints[j].deforms ? [palette[j * 3], palette[j * 3 + 1], palette[j * 3 + 2]] : [0.3, 0.3, 0.3];
    const dots = this.dots.geometry.getAttribute('color') as THREE.BufferAttribute;
    joints.forEach((_, j) => dots.setXYZ(j, ...of(j)));
    dots.needsUpdate = true;
    [...this.links.map(([from]) => from), ...this.tails].forEach((owner, i) => this.bones.setColorAt(i, new THREE.Color(...of(owner))));
    if (this.bones.instanceColor) this.bones.instanceColor.needsUpdate = true;
  }

  /** Bones that are drawn, and the length of the longest. */
  shown(): {count: number; longest: number} {
    const m = new THREE.Matrix4();
    let longest = 0;
    for (let i = 0; i < this.bones.count; ++i) {
      this.bones.getMatrixAt(i, m);
      longest = Math.max(longest, m.getMaxScaleOnAxis());
    }
    return {count: this.bones.count, longest};
  }

  dispose(): void {
    this.group.removeFromParent();
    this.bones.geometry.dispose();
    this.dots.geometry.dispose();
  }
}

// Weights for meshes of three.js: it reads arrays, makes two attributes, and a skeleton where skins had several.
import {BufferAttribute, Matrix4, Skeleton, Vector3, type Bone, type BufferGeometry, type Mesh, type Object3D, type SkinnedMesh} from 'three';
import {bindArrays, type BindOptions, type Binding, type WeightOptions} from './index.js';
import type {JointArrays} from './core.js';

/** The three upper rows of a matrix, row by row. */
const rowsOf = ({elements: e}: Matrix4) => [e[0], e[4], e[8], e[12], e[1], e[5], e[9], e[13], e[2], e[6], e[10], e[14]];

/** The nearest of an object and its ancestors that fits. */
function nearest(object: Object3D | null, fits: (one: Object3D) => boolean): Object3D | null {
  while (object && !fits(object)) object = object.parent;
  return object;
}

/** GLTFLoader takes dots out of names and keeps the name of the file. */
const nameOf = ({name, userData}: Object3D) => (typeof userData.name === 'string' && userData.name) || name;

/** The bones of several meshes as those of one character, in the bind space of the first skeleton. GLTFLoader makes a skeleton of
 * each skin, often over the same bones, with inverse matrices and a bind matrix of its own. */
class Bones {
  /** From the bind space to each bone, by bone, in the order of the joints. */
  readonly inverses = new Map<Object3D, Matrix4>();

  constructor(private readonly main: Skeleton, meshes: (Mesh | SkinnedMesh)[]) {
    this.add(main, () => new Matrix4());
    // Skeletons whose bones hang together with these; one may join only after another.
    let waiting = meshes.filter((mesh): mesh is SkinnedMesh => !!(mesh as SkinnedMesh).skeleton && (mesh as SkinnedMesh).skeleton !== main);
    for (let before = -1; before !== waiting.length;) {
      before = waiting.length;
      waiting = waiting.filter((mesh) => {
        const {bones} = mesh.skeleton, own = new Set<Object3D>(bones);
        if (!bones.some((bone) => nearest(bone, (one) => this.inverses.has(one))) &&
            ![...this.inverses.keys()].some((bone) => nearest(bone, (one) => own.has(one)))) return true;
        this.add(mesh.skeleton, (j) => mesh.bindMatrix.clone().multiply(this.place(mesh, j).invert()));
        return false;
      });
    }
  }

  private add({bones, boneInverses}: Skeleton, fromBindSpace: (j: number) => Matrix4) {
    const known = new Set(this.inverses.keys());
    bones.forEach((bone, j) => {
      if (!known.has(bone)) this.inverses.set(bone, boneInverses[j].clone().multiply(fromBindSpace(j)));
    });
  }

  /** Whether the mesh is bound to bones of this character. */
  has({skeleton}: Partial<SkinnedMesh>): boolean {
    return !!skeleton && skeleton.bones.every((bone) => this.inverses.has(bone));
  }

  /** From the space of a mesh to the bind space, as its bone j has it; as it stands, if the mesh has no bones of this character. */
  place(mesh: Mesh | SkinnedMesh, j = -1): Matrix4 {
    const {skeleton, bindMatrix} = mesh as SkinnedMesh;
    const bone = j < 0 ? this.main.bones[0] : skeleton.bones[j];
    // A bone that is new here is compared with the nearest one that is known, where both stand now.
    const known = nearest(bone, (one) => this.inverses.has(one)) ?? this.main.bones[0];
    const inverse = this.inverses.get(known)!;
    if (j >= 0 && known === bone && inverse.equals(skeleton.boneInverses[j])) return bindMatrix.clone();  // exactly
    const there = j < 0 ? mesh.matrixWorld.clone() : skeleton.boneInverses[j].clone().multiply(bindMatrix);
    if (j < 0 || known !== bone) {
      if (j >= 0) there.premultiply(bone.matrixWorld);
      there.premultiply(known.matrixWorld.clone().invert());
    }
    return there.premultiply(inverse.clone().invert());
  }

  /** Where the bones are when the meshes are bound. */
  joints(): JointArrays[] {
    const index = new Map([...this.inverses.keys()].map((bone, j) => [bone, j]));
    return [...this.inverses].map(([bone, inverse], j) => {
      const above = nearest(bone.parent, (one) => index.has(one));
      const rest = inverse.clone().invert();
      const head = new Vector3().setFromMatrixPosition(rest);
      return {name: nameOf(bone) || `bone ${j}`, parent: above ? index.get(above)! : -1, head: head.toArray(), rest: rowsOf(rest)};
    });
  }

  /** Binds a mesh to all joints, where its own bones have it. */
  attach(mesh: SkinnedMesh) {
    const {main, inverses} = this;
    if (mesh.skeleton === main && main.bones.length === inverses.size) return;
    const bones = [...inverses.keys()] as Bone[];
    if (!this.has(mesh)) {
      const skeleton = main.bones.length === inverses.size ? main : new Skeleton(bones, bones.map((bone) => inverses.get(bone)!.clone()));
      return mesh.bind(skeleton, this.place(mesh));
    }
    const own = new Map<Object3D, number>(mesh.skeleton.bones.map((bone, j) => [bone, j]));
    const {bindMatrix, skeleton: {boneInverses}} = mesh;
    const of = (bone: Object3D) => {
      if (own.has(bone)) return boneInverses[own.get(bone)!].clone();
      const near = nearest(bone, (one) => own.has(one));
      return inverses.get(bone)!.clone().multiply(this.place(mesh, near ? own.get(near) : 0)).multiply(bindMatrix.clone().invert());
    };
    mesh.bind(new Skeleton(bones, bones.map(of)), bindMatrix);
  }
}

function positionsOf(geometry: BufferGeometry, place: (v: number) => Matrix4 | null = () => null): Float32Array {
  const at = geometry.getAttribute('position');
  const out = new Float32Array(at.count * 3), point = new Vector3();
  for (let v = 0; v < at.count; ++v) {
    const matrix = place(v);
    point.fromBufferAttribute(at, v);
    if (matrix) point.applyMatrix4(matrix);
    point.toArray(out, 3 * v);
  }
  return out;
}

/** The vertices of a mesh and where they are in the bind space: by one matrix, or by one for each vertex where its bones disagree. */
function placed(bones: Bones, mesh: Mesh | SkinnedMesh) {
  const {geometry} = mesh;
  if (!bones.has(mesh as SkinnedMesh)) return {positions: positionsOf(geometry), transform: rowsOf(bones.place(mesh))};
  const places = (mesh as SkinnedMesh).skeleton.bones.map((_, j) => bones.place(mesh, j));
  const index = geometry.getAttribute('skinIndex'), weight = geometry.getAttribute('skinWeight');
  if (!index || !weight || places.every((place) => place.equals(places[0])))
    return {positions: positionsOf(geometry), transform: rowsOf(places[0])};
  const blend = (v: number) => {
    const out = new Matrix4().multiplyScalar(0), shares = [0, 1, 2, 3].map((k) => weight.getComponent(v, k));
    const sum = shares.reduce((a, b) => a + b, 0);
    if (!(sum > 0)) return places[0];
    shares.forEach((share, k) => {
      const {elements} = places[index.getComponent(v, k)];
      if (share > 0) elements.forEach((e, i) => (out.elements[i] += e * share / sum));
    });
    return out;
  };
  return {positions: positionsOf(geometry, blend)};
}

/** Puts weights of a binding into a mesh: skinIndex and skinWeight of four bones, as three.js draws. */
export async function applyWeights(mesh: Mesh, binding: Binding, options: WeightOptions & {firstVertex?: number} = {}) {
  const {firstVertex = 0, ...changed} = options;
  const {width, joints, weights} = await binding.weights({maxInfluences: 4, ...changed});
  const count = mesh.geometry.getAttribute('position').count;
  const index = new Uint16Array(count * 4), weight = new Float32Array(count * 4);
  for (let v = 0; v < count; ++v)
    for (let k = 0; k < Math.min(width, 4); ++k) {
      const share = weights[(firstVertex + v) * width + k];
      if (share > 0) index[4 * v + k] = joints[(firstVertex + v) * width + k];
      weight[4 * v + k] = share;
    }
  mesh.geometry.setAttribute('skinIndex', new BufferAttribute(index, 4));
  mesh.geometry.setAttribute('skinWeight', new BufferAttribute(weight, 4));
}

/** Binds meshes of three.js as one volume, and puts the weights into their attributes. The joints are the bones of `skeleton`, then
 * those of the meshes' own skeletons that hang together with them; meshes that are bound to such bones stay where these have them.
 * Any other SkinnedMesh is bound to them as it stands (SkinnedMesh.bind). The binding can give other weights: applyWeights. */
export async function bindSkinnedMesh(mesh: Mesh | SkinnedMesh | (Mesh | SkinnedMesh)[], skeleton: Skeleton, options: BindOptions = {}): Promise<Binding> {
  const meshes = [mesh].flat();
  for (const one of [...meshes, ...meshes.flatMap((m) => (m as SkinnedMesh).skeleton?.bones ?? []), ...skeleton.bones]) one.updateWorldMatrix(true, false);
  const bones = new Bones(skeleton, meshes);
  const arrays = meshes.map((one, m) => {
    const {index} = one.geometry;
    return {
      name: nameOf(one) || `mesh ${m}`,
      faces: index ? Array.from({length: index.count}, (_, i) => index.getX(i)) : null,
      ...placed(bones, one),
    };
  });
  const binding = await bindArrays({meshes: arrays, joints: bones.joints()}, {maxInfluences: 4, ...options});
  let first = 0;
  for (const one of meshes) {
    await applyWeights(one, binding, {firstVertex: first});
    first += one.geometry.getAttribute('position').count;
    if ((one as SkinnedMesh).isSkinnedMesh) bones.attach(one as SkinnedMesh);
  }
  return binding;
}

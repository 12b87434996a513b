// Weights for meshes of three.js, whose classes this file does not need: it reads arrays, and makes two attributes.
import {BufferAttribute, Matrix4, Vector3, type Bone, type BufferGeometry, type Mesh, type Skeleton, type SkinnedMesh} from 'three';
import {bindArrays, type BindOptions, type Binding} from './index.js';
import type {JointArrays} from './core.js';

/** The three upper rows of a matrix, row by row. */
const rowsOf = ({elements: e}: Matrix4) => [e[0], e[4], e[8], e[12], e[1], e[5], e[9], e[13], e[2], e[6], e[10], e[14]];

/** Where the bones are when the mesh is bound, in the world: as the skeleton's inverse matrices say. */
function jointsOf(skeleton: Skeleton): JointArrays[] {
  const place = new Map(skeleton.bones.map((bone, j) => [bone as object, j]));
  return skeleton.bones.map((bone: Bone, j) => {
    let above = bone.parent;
    while (above && !place.has(above)) above = above.parent;
    const rest = skeleton.boneInverses[j].clone().invert();
    const head = new Vector3().setFromMatrixPosition(rest);
    return {name: bone.name || `bone ${j}`, parent: above ? place.get(above)! : -1, head: head.toArray(), rest: rowsOf(rest)};
  });
}

function positionsOf(geometry: BufferGeometry): Float32Array {
  const at = geometry.getAttribute('position');
  const out = new Float32Array(at.count * 3);
  for (let v = 0; v < at.count; ++v) out.set([at.getX(v), at.getY(v), at.getZ(v)], 3 * v);
  return out;
}

/** Puts weights of a binding into a mesh: skinIndex and skinWeight of four bones, as three.js draws. */
export async function applyWeights(mesh: Mesh, binding: Binding, options: {falloff?: number; firstVertex?: number; [option: string]: unknown} = {}) {
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

/** Binds meshes of three.js to a skeleton as one volume, and puts the weights into their attributes. A SkinnedMesh that is not bound
 * to the skeleton yet is bound as it stands (SkinnedMesh.bind). The binding can give other weights: applyWeights. */
export async function bindSkinnedMesh(mesh: Mesh | SkinnedMesh | (Mesh | SkinnedMesh)[], skeleton: Skeleton, options: BindOptions = {}): Promise<Binding> {
  const meshes = [mesh].flat();
  const arrays = meshes.map((one, m) => {
    const {skeleton: own, bindMatrix} = one as SkinnedMesh;
    one.updateWorldMatrix(true, false);
    const geometry = one.geometry;
    return {
      name: one.name || `mesh ${m}`,
      positions: positionsOf(geometry),
      faces: geometry.index ? Array.from({length: geometry.index.count}, (_, i) => geometry.index!.getX(i)) : null,
      transform: rowsOf(own === skeleton ? bindMatrix : one.matrixWorld),
    };
  });
  const binding = await bindArrays({meshes: arrays, joints: jointsOf(skeleton)}, {maxInfluences: 4, ...options});
  let first = 0;
  for (const one of meshes) {
    await applyWeights(one, binding, {firstVertex: first});
    first += one.geometry.getAttribute('position').count;
    const skinned = one as SkinnedMesh;
    if (skinned.isSkinnedMesh && skinned.skeleton !== skeleton) skinned.bind(skeleton, skinned.matrixWorld);
  }
  return binding;
}

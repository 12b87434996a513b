// Linear blend skinning on the graphics card, for what the view draws: rows of weights as attributes of vertices, matrices of joints
// as a texture. Exported files and picked places have the core's numbers.
import * as THREE from 'three';
import type {Painted, Rows} from 'sinew-skin';

/** Attributes of a geometry with rows. */
export const ROW_ATTRIBUTES = ['rowJoints0', 'rowShares0', 'rowJoints1', 'rowShares1'] as const;

const HEAD = `
attribute vec4 rowJoints0;
attribute vec4 rowShares0;
attribute vec4 rowJoints1;
attribute vec4 rowShares1;
uniform highp sampler2D jointMatrices;
uniform int rowSlots;
vec4 rowX, rowY, rowZ;
bool rowDone = false;
void addJoint(float joint, float share) {
  if (share == 0.0) return;
  int j = int(joint + 0.5);
  rowX += share * texelFetch(jointMatrices, ivec2(0, j), 0);
  rowY += share * texelFetch(jointMatrices, ivec2(1, j), 0);
  rowZ += share * texelFetch(jointMatrices, ivec2(2, j), 0);
}
void blendRow() {
  if (rowDone) return;
  rowDone = true;
  rowX = rowY = rowZ = vec4(0.0);
  if (rowSlots > 0)
    for (int k = 0; k < 4; ++k) addJoint(rowJoints0[k], rowShares0[k]);
  if (rowSlots > 4)
    for (int k = 0; k < 4; ++k) addJoint(rowJoints1[k], rowShares1[k]);
  if (rowX == vec4(0.0) && rowY == vec4(0.0) && rowZ == vec4(0.0)) {
    rowX.x = rowY.y = rowZ.z = 1.0;
  }
}
`;
const PLACE = '#include <begin_vertex>\nblendRow();\ntransformed = vec3(dot(rowX, vec4(transformed, 1.0)), dot(rowY, vec4(transformed, 1.0)), dot(rowZ, vec4(transformed, 1.0)));';
// By the inverse transpose, up to a factor: the cross products of the rows.
const TURN = '#include <beginnormal_vertex>\nblendRow();\nobjectNormal = normalize(vec3(dot(cross(rowY.xyz, rowZ.xyz), objectNormal), dot(cross(rowZ.xyz, rowX.xyz), objectNormal), dot(cross(rowX.xyz, rowY.xyz), objectNormal)) + 1e-12);';

/** What all patched materials share. */
export class RowShader {
  private readonly matrices = {value: new THREE.DataTexture(new Float32Array(12), 3, 1, THREE.RGBAFormat, THREE.FloatType)};
  private readonly slots = {value: 0};

  /** `on`: false leaves materials as they are. */
  constructor(private readonly on: boolean) {}

  /** Materials that blend rows, before they are first drawn. */
  patch<T extends THREE.Material>(material: T): T {
    if (!this.on) return material;
    material.onBeforeCompile = (shader) => {
      shader.uniforms.jointMatrices = this.matrices;
      shader.uniforms.rowSlots = this.slots;
      shader.vertexShader = (HEAD + shader.vertexShader).replace('#include <beginnormal_vertex>', TURN).replace('#include <begin_vertex>', PLACE);
    };
    material.customProgramCacheKey = () => 'rows';
    return material;
  }

  /** Vertices stay where they are, if asked, until `resume` gets what this gives. */
  stop(yes: boolean): number {
    const {value} = this.slots;
    if (yes) this.slots.value = 0;
    return value;
  }
  resume(slots: number): void {
    this.slots.value = slots;
  }

  /** J × 12, three rows each; null: vertices stay where they are. `width`: the slots of the rows of all geometries. */
  setMatrices(matrices: Float64Array | null, width: number): void {
    this.slots.value = matrices ? width : 0;
    if (!matrices) return;
    const joints = Math.max(matrices.length / 12, 1);
    if (this.matrices.value.image.height !== joints) {
      this.matrices.value.dispose();
      this.matrices.value = new THREE.DataTexture(new Float32Array(joints * 12), 3, joints, THREE.RGBAFormat, THREE.FloatType);
    }
    (this.matrices.value.image.data as unknown as Float32Array).set(matrices);
    this.matrices.value.needsUpdate = true;
  }
}

/** Puts rows into a geometry, which gets `slots` of them for each vertex. `painted`: only these vertices have changed. */
export function setRows(geometry: THREE.BufferGeometry, rows: Rows, slots: number, painted: Painted['vertices'] | null = null): void {
  const {width, joints, shares} = rows;
  const vertices = shares.length / width;
  for (let part = 0; part < (slots > 4 ? 2 : 1); ++part) {
    const names = [`rowJoints${part}`, `rowShares${part}`];
    let whole = !painted;
    if (!geometry.getAttribute(names[0])) {
      geometry.setAttribute(names[0], new THREE.BufferAttribute(new Uint16Array(vertices * 4), 4));
      geometry.setAttribute(names[1], new THREE.BufferAttribute(new Float32Array(vertices * 4), 4));
      whole = true;
    }
    const [to, of] = names.map((name) => geometry.getAttribute(name) as THREE.BufferAttribute);
    const put = (v: number) => {
      for (let k = 0; k < 4; ++k) {
        const slot = part * 4 + k;
        to.array[v * 4 + k] = slot < width ? joints[v * width + slot] : 0;
        of.array[v * 4 + k] = slot < width ? shares[v * width + slot] : 0;
      }
    };
    for (const attribute of [to, of]) attribute.clearUpdateRanges();
    if (whole) for (let v = 0; v < vertices; ++v) put(v);
    else if (painted!.length) {
      painted!.forEach(put);
      const [first, last] = [painted![0], painted![painted!.length - 1]];
      for (const attribute of [to, of]) attribute.addUpdateRange(first * 4, (last - first + 1) * 4);
    }
    for (const attribute of [to, of]) attribute.needsUpdate = true;
  }
}

// Meshes of the file without a skin: each moves with a joint, or stands still.
import * as THREE from 'three';
import type {ModelInfo, Prop} from 'sinew-skin';

export class Props {
  private meshes: THREE.Mesh[] = [];
  private readonly bare = new THREE.MeshLambertMaterial({color: 0x8a8f99, side: THREE.DoubleSide});  // of what has no weights

  constructor(private readonly world: THREE.Group) {}

  /** `looks`: the first of what has no material, then those of the file. */
  set(props: readonly Prop[], of: ModelInfo['props'], looks: readonly THREE.Material[]): void {
    for (const old of this.meshes) {
      old.removeFromParent();
      old.geometry.dispose();
    }
    this.meshes = props.map(({positions, normals, uvs, triangles}, i) => {
      const g = new THREE.BufferGeometry();
      g.setAttribute('position', new THREE.BufferAttribute(positions, 3));
      if (uvs) g.setAttribute('uv', new THREE.BufferAttribute(uvs, 2));
      g.setIndex(new THREE.BufferAttribute(triangles, 1));
      if (normals) g.setAttribute('normal', new THREE.BufferAttribute(normals, 3));
      else g.computeVertexNormals();
      // Not the material of the surface, which blends rows.
      const look = (looks[of[i].material + 1] ?? looks[0]).clone();
      look.onBeforeCompile = () => {};
      look.customProgramCacheKey = () => '';
      const mesh = new THREE.Mesh(g, look);
      mesh.frustumCulled = mesh.matrixAutoUpdate = false;
      mesh.userData = {joint: of[i].joint, look};
      this.world.add(mesh);
      return mesh;
    });
  }
  /** `transformOf`: where a joint has moved; -1: no joint. */
  place(transformOf: (joint: number) => THREE.Matrix4): void {
    for (const prop of this.meshes) {
      prop.matrix.copy(transformOf(prop.userData.joint));
      prop.matrixWorldNeedsUpdate = true;
    }
  }
  /** With the materials of the file, or in grey. */
  setLook(look: boolean): void {
    for (const prop of this.meshes) prop.material = look ? prop.userData.look : this.bare;
  }
  set visible(yes: boolean) {
    for (const prop of this.meshes) prop.visible = yes;
  }
  /** Their boxes in the world. */
  boxes(): THREE.Box3[] {
    return this.meshes.map((prop) => new THREE.Box3().setFromObject(prop));
  }
  /** The boxes of those that are shown. */
  shown(): THREE.Box3[] {
    return this.meshes.filter((p) => p.visible).map((prop) => (prop.updateWorldMatrix(true, false), new THREE.Box3().setFromObject(prop)));
  }
}

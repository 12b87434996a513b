// Rays against a surface: a tree of boxes (three-mesh-bvh), made for the bind pose and fitted to each pose that rays are asked in.
import * as THREE from 'three';
import {MeshBVH, acceleratedRaycast} from 'three-mesh-bvh';

/** A surface for rays: where the core places the vertices. It is not drawn. */
export class RaySurface {
  readonly mesh: THREE.Mesh;
  private tree: MeshBVH | null = null;
  private moved = false;

  constructor(of: THREE.BufferGeometry) {
    const geometry = new THREE.BufferGeometry();
    geometry.setIndex(of.getIndex());
    geometry.setAttribute('position', (of.getAttribute('position') as THREE.BufferAttribute).clone());
    for (const {start, count, materialIndex} of of.groups) geometry.addGroup(start, count, materialIndex);
    this.mesh = new THREE.Mesh(geometry);
    this.mesh.matrixAutoUpdate = this.mesh.matrixWorldAutoUpdate = false;
    this.mesh.raycast = acceleratedRaycast;
  }

  get positions(): THREE.BufferAttribute {
    return this.mesh.geometry.getAttribute('position') as THREE.BufferAttribute;
  }
  place(positions: Float32Array): void {
    (this.positions.array as Float32Array).set(positions);
    this.mesh.geometry.boundingSphere = this.mesh.geometry.boundingBox = null;
    this.moved = true;
  }

  /** The crossings of a ray with the surface, drawn with this material, where the world begins with `matrix`; the nearest first. */
  hits(ray: THREE.Raycaster, material: THREE.Material | THREE.Material[], matrix: THREE.Matrix4, all = false): THREE.Intersection[] {
    const {mesh} = this;
    // Indirect (which the types of 0.9 lack): the index is that of the surface which is drawn, and keeps its order.
    if (!this.tree) mesh.geometry.boundsTree = this.tree = new MeshBVH(mesh.geometry, {maxLeafTris: 10, ...{indirect: true}});
    if (this.moved) this.tree.refit();
    this.moved = false;
    mesh.material = material;
    mesh.matrixWorld.copy(matrix);
    ray.firstHitOnly = !all;
    return ray.intersectObject(mesh, false);
  }
}

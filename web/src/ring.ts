// The ring of the brush on the surface, and its middle.
import * as THREE from 'three';
import type {Figure} from './figure';
import type {Picker} from './picking';
import type {Point} from './skeleton';
import type {Stage} from './stage';

const Z = new THREE.Vector3(0, 0, 1);

export class Ring {
  private readonly group = new THREE.Group();
  private shown = false;

  constructor(private readonly stage: Stage, private readonly figure: Figure, private readonly picker: Picker) {
    const circle = new THREE.BufferGeometry().setFromPoints(
      Array.from({length: 64}, (_, i) => new THREE.Vector3(Math.cos((i * Math.PI) / 32), Math.sin((i * Math.PI) / 32), 0)));
    for (const [colour, size] of [[0xffffff, 1], [0x000000, 0.985], [0xffffff, 0.06]]) {
      const line = new THREE.LineLoop(circle, new THREE.LineBasicMaterial({color: colour, depthTest: false, transparent: true}));
      line.scale.setScalar(size);
      line.renderOrder = 3;
      this.group.add(line);
    }
    stage.world.add(this.group);
    stage.extras.push(this.group);
  }

  /** In the first pane. */
  showIn(pane: number): void {
    this.group.visible = this.shown && pane === 0;
  }

  private place(at: Point, normal: THREE.Vector3, radius: number) {
    this.group.position.set(...at);
    this.group.quaternion.setFromUnitVectors(Z, normal);
    this.group.scale.setScalar(radius);
    this.shown = true;
  }
  /** Where the brush would paint, in the plane of the surface. */
  follow(x: number, y: number, radius: number): void {
    this.hide();
    const {world} = this.stage;
    const ray = this.stage.rayAt(x, y);
    const [hit] = this.picker.hits(x, y, ray);
    if (!hit?.face) return;
    const normal = hit.face.normal.clone();
    if (normal.clone().transformDirection(world.matrix).dot(ray.ray.direction) > 0) normal.negate();
    this.place(world.worldToLocal(hit.point.clone()).toArray(), normal, radius);
  }
  /** Around a vertex. */
  around(vertex: number, radius: number): void {
    const at: [number, number, number] = [0, 0, 0];
    this.figure.placeOfVertex(vertex, at);
    this.place(at, new THREE.Vector3().fromBufferAttribute(this.figure.surfaces[0].mesh.geometry.getAttribute('normal'), vertex), radius);
    this.stage.draw();
  }
  resize(radius: number): void {
    this.group.scale.setScalar(radius);
    this.stage.draw();
  }
  hide(): void {
    this.shown = false;
    this.stage.draw();
  }
  /** Where it is, in bind space; null: it is hidden. */
  get at(): {place: Point; normal: Point; radius: number} | null {
    const {position, quaternion, scale} = this.group;
    return this.shown ? {place: position.toArray(), normal: Z.clone().applyQuaternion(quaternion).toArray(), radius: scale.x} : null;
  }
}

// The camera: what it looks at, and how it is turned.
import * as THREE from 'three';
import type {Figure} from './figure';
import type {Point} from './skeleton';
import type {Stage} from './stage';

const FROM = {corner: [0.35, 0.15, 1], front: [0, 0, 1], side: [1, 0, 0], top: [0, 1, 1e-4]} as const;
/** In a view that is higher than wide, spread arms fit by a turn: one of these instead of 0.35. */
const ASIDE = [0.35, 0.75, 1.2, 1.9];

const corner = ({min, max}: THREE.Box3, c: number, to: THREE.Vector3) => to.set(c & 1 ? max.x : min.x, c & 2 ? max.y : min.y, c & 4 ? max.z : min.z);

export class Eye {
  private followed: {vertex: number; at: THREE.Vector3} | null = null;

  constructor(private readonly stage: Stage, private readonly figure: Figure) {}

  private placeOf(vertex: number): THREE.Vector3 {
    const at: [number, number, number] = [0, 0, 0];
    this.figure.placeOfVertex(vertex, at);
    return this.stage.world.localToWorld(new THREE.Vector3(...at));
  }
  /** Something has moved: the camera goes with the vertex that it was pointed at. */
  moved(): void {
    if (!this.followed) return;
    const at = this.placeOf(this.followed.vertex);
    this.shift(at.clone().sub(this.followed.at));
    this.followed.at = at;
  }
  private shift(by: THREE.Vector3) {
    this.stage.camera.position.add(by);
    this.stage.orbit.target.add(by);
    this.stage.orbit.update();
  }

  /** Points the camera at the whole character: slightly from the side, or straight from one. */
  frame(from: keyof typeof FROM = 'corner'): void {
    const {figure} = this;
    if (!figure.info) return;
    const box = figure.box();
    if (box.isEmpty()) return;
    figure.size = box.getSize(new THREE.Vector3()).length() || 1;
    this.stage.setGrid(box);
    const {count} = figure;
    const props = figure.props.boxes();  // of these the corners are enough
    const [x, y, z] = FROM[from];
    const turns = from === 'corner' && this.stage.camera.aspect < 1 ? ASIDE : [x];
    this.fit(box, turns.map((turn) => new THREE.Vector3(figure.away ? -turn : turn, y, figure.away ? -z : z)), count + 8 * props.length,
             (v, at) => (v < count ? figure.vertexInWorld(v, at) : corner(props[(v - count) >> 3], v - count, at)));
  }

  /** Points the camera at the selected joint and its bones, from where it is; without one at the whole character. */
  frameSelection(): void {
    const {info, bones, selected} = this.figure;
    if (!info || !bones || selected < 0) return this.frame();
    const centre = this.figure.jointInWorld(selected);
    let reach = this.figure.size / 40;
    info.joints.forEach(({parent}, j) => parent === selected && (reach = Math.max(reach, this.figure.jointInWorld(j).distanceTo(centre))));
    const box = new THREE.Box3().setFromCenterAndSize(centre, new THREE.Vector3().setScalar(2 * reach));
    this.fit(box, [this.stage.camera.position.clone().sub(this.stage.orbit.target)], 8, (c, at) => corner(box, c, at));
  }

  /** The points fill the view below what is covered, seen along -`from`, with the middle of the box in its middle. Of several such sides
   * the first from which they are about as large as they can be. */
  private fit(box: THREE.Box3, sides: THREE.Vector3[], count: number, point: (i: number, to: THREE.Vector3) => THREE.Vector3) {
    this.stage.resize();  // panels may have just changed
    const {camera, orbit, size: {height}} = this.stage;
    this.followed = null;
    const centre = box.getCenter(new THREE.Vector3());
    const tall = Math.tan((camera.fov * Math.PI) / 360);
    const covered = height ? Math.min(this.stage.covered / height, 0.5) : 0;
    const p = new THREE.Vector3();
    const farFrom = (side: THREE.Vector3) => {
      camera.position.copy(centre).add(side);
      camera.lookAt(centre);
      const to = camera.quaternion.clone().invert();
      let far = 0;
      for (let i = 0; i < count; ++i) {
        point(i, p).sub(centre).applyQuaternion(to);
        far = Math.max(far, p.z + Math.max(Math.abs(p.x) / (tall * camera.aspect), Math.abs(p.y) / (tall * (1 - covered))));
      }
      return 1.06 * far || 1;
    };
    const fars = sides.map(farFrom);
    const best = fars.findIndex((far) => far <= 1.02 * Math.min(...fars));
    const [from, far] = [sides[best], fars[best]];
    camera.near = Math.min(far, this.figure.size) / 100;
    camera.far = Math.max(far, this.figure.size) * 20;
    camera.position.copy(centre).add(from.clone().setLength(far));
    camera.updateProjectionMatrix();
    orbit.target.copy(centre);
    orbit.update();
    this.shift(new THREE.Vector3(0, covered * far * tall, 0).applyQuaternion(camera.quaternion));
    this.stage.draw();
  }

  /** Points the camera at the first of some vertices, from a side from which most of them are seen, so that a radius around it is; the
   * camera goes with it while poses move it. `camera`: another one than that of the view, which stays where it is. */
  lookAt(among: readonly number[], radius: number, camera: THREE.PerspectiveCamera = this.stage.camera): void {
    const {world, orbit} = this.stage;
    const wide = Math.min(1, camera.aspect);
    const far = Math.max((1.2 * radius * world.matrix.getMaxScaleOnAxis()) / (wide * Math.tan((camera.fov * Math.PI) / 360)), this.figure.size / 30);
    const at = this.placeOf(among[0]);
    const from = this.sight(among, far);
    camera.near = far / 100;
    camera.far = Math.max(far, this.figure.size) * 20;
    camera.position.copy(at).addScaledVector(from, far);
    camera.updateProjectionMatrix();
    if (camera !== this.stage.camera) return camera.lookAt(at);
    orbit.target.copy(at);
    orbit.update();
    this.followed = {vertex: among[0], at};
    this.stage.draw();
  }
  /** The direction to the camera. Tried are the sides that the vertices face, and those around the first. */
  private sight(among: readonly number[], far: number): THREE.Vector3 {
    const {world, camera, orbit} = this.stage;
    const [surface] = this.figure.surfaces;
    const places = among.map((v) => this.placeOf(v));
    const sides = among.map((vertex) => {
      const from = new THREE.Vector3().fromBufferAttribute(surface.mesh.geometry.getAttribute('normal'), vertex).transformDirection(world.matrix);
      from.y = 0.6 * from.y + 0.15;
      if (from.length() < 0.2) from.copy(camera.position).sub(orbit.target);
      return from.normalize();
    });
    const up = new THREE.Vector3(0, 1, 0);
    for (const turn of [1, -1, 2, -2, 3]) sides.push(sides[0].clone().applyAxisAngle(up, (turn * Math.PI) / 3));
    const seen = sides.map((from) => {
      const eye = places[0].clone().addScaledVector(from, far);
      return places.filter((to) => {
        const ray = new THREE.Raycaster(eye, to.clone().sub(eye).normalize());
        const [hit] = surface.pick.hits(ray, this.figure.plain, world.matrix);
        return !hit || hit.distance > eye.distanceTo(to) - 0.01 * this.figure.size;
      }).length;
    });
    return sides[seen.indexOf(Math.max(...seen))];
  }

  /** The world's axes as seen by the camera: right, up and towards it. */
  axes(): [number, number, number][] {
    const to = this.stage.camera.quaternion.clone().invert();
    return [0, 1, 2].map((k) => new THREE.Vector3().setComponent(k, 1).applyQuaternion(to).toArray() as [number, number, number]);
  }
  /** Turns the camera about its target, to look along an axis: from its positive end, or from the other. */
  lookFrom(axis: number, positive: boolean): void {
    const {camera, orbit} = this.stage;
    if (!orbit.enableRotate) return;
    const far = camera.position.distanceTo(orbit.target);
    const from = new THREE.Vector3().setComponent(axis, positive ? 1 : -1);
    if (axis === 1) from.z = 1e-4;  // the view keeps its way up
    camera.position.copy(orbit.target).add(from.setLength(far));
    orbit.update();
    this.stage.draw();
  }
  /** The camera turns about a place of the world, in the middle of the view. */
  focus(place: Point): void {
    this.followed = null;
    this.shift(new THREE.Vector3(...place).sub(this.stage.orbit.target));
    this.stage.draw();
  }
  /** Rotates the camera about its target, in radians, and scales its distance by a factor. For keys. */
  turn(aside: number, up: number, nearer = 1): void {
    const {camera, orbit} = this.stage;
    const at = new THREE.Spherical().setFromVector3(camera.position.clone().sub(orbit.target));
    if (orbit.enableRotate) {
      at.theta += aside;
      at.phi = Math.min(Math.max(at.phi + up, 0.01), Math.PI - 0.01);
    }
    at.radius *= nearer;
    camera.position.setFromSpherical(at).add(orbit.target);
    orbit.update();
    this.stage.draw();
  }

  /** A length at the target of the camera, in pixels. */
  pixelsOf(length: number): number {
    const {orbit, world} = this.stage;
    return (length * world.matrix.getMaxScaleOnAxis()) / this.stage.pixelLength(orbit.target);
  }
}

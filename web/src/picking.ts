// What is under the pointer: joints, the surface, the border on it.
import * as THREE from 'three';
import type {Figure} from './figure';
import type {Crossing, Point} from './skeleton';
import type {Triple} from './store';
import type {Stage} from './stage';

export interface Hit {
  vertex: number;
  /** The point of the surface under the pointer: in the world, and in bind space. */
  place: Triple;
  bind: Triple;
  /** The direction to the camera, turned as the surface is there from the pose to bind space. */
  facing: Triple;
}

const CATCH = 14;  // pixels from the border

export class Picker {
  constructor(private readonly stage: Stage, private readonly figure: Figure) {}

  /** Where the pointer's ray crosses the surface, as it is drawn; `all`: every crossing, also of sides that are not drawn. */
  hits(x: number, y: number, ray = this.stage.rayAt(x, y), all = false): THREE.Intersection[] {
    const surface = this.figure.surfaces[this.stage.paneAt(x)];
    return surface?.pick.hits(ray, all ? this.figure.plain : surface.mesh.material, this.stage.world.matrix, all) ?? [];
  }

  /** The joint whose dot is nearest to the pointer, within some pixels; -1: none. */
  jointAt(x: number, y: number, within = 12): number {
    const {figure, stage} = this;
    if (!figure.hasSkeleton) return -1;
    const {left, top} = stage.rect(stage.paneAt(x));
    let [best, nearest] = [-1, within];
    figure.info!.joints.forEach((_, j) => {
      const at = figure.jointInWorld(j);
      const pixel = stage.pixelAt(at);
      const d = Math.hypot(pixel.x - (x - left), pixel.y - (y - top));
      if (at.z <= 1 && d < nearest) [best, nearest] = [j, d];
    });
    return best;
  }

  /** The line of the border at a place of the page, on the side of the character that is seen: 0, the middle; 1 and 2, the rails; -1, none. */
  borderAt(x: number, y: number): number {
    const [hit] = this.hits(x, y);
    if (!hit) return -1;
    const reach = CATCH * this.stage.pixelLength(hit.point);
    const near = this.border().map((line) => Math.min(...line.map((p) => p.distanceTo(hit.point))));
    const least = Math.min(...near);
    return least < reach ? near.indexOf(least) : -1;
  }
  /** The lines of the border in the world. */
  private border(): THREE.Vector3[][] {
    return this.figure.overlay.points().map((line) => line.map((p) => this.stage.world.localToWorld(p)));
  }
  /** The place of a line of the border that is seen nearest to the middle of the view, in its pixels. For tests. */
  borderPlace(line: number): {x: number; y: number} | null {
    const {width, height} = this.stage.size;
    const {left, top} = this.stage.rect();
    const places = (this.border()[line] ?? []).map((at) => ({at, ...this.stage.pixelAt(at.clone())}))
      .sort((p, q) => Math.hypot(p.x - width / 2, p.y - height / 2) - Math.hypot(q.x - width / 2, q.y - height / 2));
    const seen = places.find(({at, x, y}) => this.hits(left + x, top + y)[0]?.point.distanceTo(at) < 4 * this.stage.pixelLength(at));
    return seen ? {x: seen.x, y: seen.y} : null;
  }

  /** All crossings of the pointer's ray, and the point at a distance along it. */
  crossingsAt(x: number, y: number): {crossings: Crossing[]; place: (at: number) => Point} {
    const {world} = this.stage;
    const ray = this.stage.rayAt(x, y);
    const crossings: Crossing[] = this.hits(x, y, ray, true).map(({distance, face}) =>
      ({at: distance, enters: face!.normal.clone().transformDirection(world.matrix).dot(ray.ray.direction) < 0}));
    return {crossings, place: (at) => world.worldToLocal(ray.ray.at(at, new THREE.Vector3())).toArray()};
  }

  /** The point under the pointer at the depth of `point`. */
  besideAt(x: number, y: number, point: Point): Point {
    const {world, camera} = this.stage;
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(camera.getWorldDirection(new THREE.Vector3()), world.localToWorld(new THREE.Vector3(...point)));
    const place = this.stage.rayAt(x, y).ray.intersectPlane(plane, new THREE.Vector3());
    return place ? world.worldToLocal(place).toArray() : point;
  }

  surfaceAt(x: number, y: number): Hit | null {
    const [hit] = this.hits(x, y);
    if (!hit?.face) return null;
    const {world, camera} = this.stage;
    const {bindPositions} = this.figure;
    const corners = [hit.face.a, hit.face.b, hit.face.c];
    const {positions} = this.figure.surfaces[this.stage.paneAt(x)].pick;
    const [a, b, c] = corners.map((v) => new THREE.Vector3().fromBufferAttribute(positions, v));
    const point = world.worldToLocal(hit.point.clone());
    const shares = (THREE.Triangle.getBarycoord(point, a, b, c, new THREE.Vector3()) ?? new THREE.Vector3(1, 0, 0)).toArray();
    const bind = [0, 1, 2].map((k) => corners.reduce((sum, v, i) => sum + shares[i] * bindPositions[v * 3 + k], 0)) as Triple;
    const at = world.worldToLocal(camera.position.clone()).sub(point).normalize();
    const frame = (p: THREE.Vector3, q: THREE.Vector3, r: THREE.Vector3) => {
      const along = q.clone().sub(p).normalize();
      const normal = along.clone().cross(r.clone().sub(p)).normalize();
      return new THREE.Matrix4().makeBasis(along, normal.clone().cross(along), normal);
    };
    const [p, q, r] = corners.map((v) => new THREE.Vector3().fromArray(bindPositions, v * 3));
    const facing = at.clone().applyMatrix4(frame(a, b, c).transpose()).applyMatrix4(frame(p, q, r));
    return {vertex: corners[shares.indexOf(Math.max(...shares))], place: hit.point.toArray(), bind,
            facing: (Number.isFinite(facing.length()) ? facing : at).toArray().map((x) => Number(x.toFixed(4))) as Triple};
  }
}

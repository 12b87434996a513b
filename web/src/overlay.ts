// What lies over the surface and moves with it: the border of two joints as a ribbon between rails.
import * as THREE from 'three';
import {LineMaterial} from 'three/examples/jsm/lines/LineMaterial.js';
import {LineSegments2} from 'three/examples/jsm/lines/LineSegments2.js';
import {LineSegmentsGeometry} from 'three/examples/jsm/lines/LineSegmentsGeometry.js';
import type {OnEdges} from './places';

/** From the place of a vertex in the shown pose. */
export type PlaceOf = (vertex: number, out: [number, number, number]) => void;

type ToPixels = (place: THREE.Vector3) => {x: number; y: number};

interface Line {
  on: OnEdges;
  /** Two points for each segment, in bind space, in the shown pose. */
  places: Float32Array;
  drawn: LineSegments2;
}

export class Overlay {
  readonly group = new THREE.Group();
  private lines: Line[] = [];

  /** Lines of a width in pixels, instead of those before. */
  set(lines: readonly {on: OnEdges; colour: number; width: number}[], placeOf: PlaceOf): void {
    for (const {drawn} of this.lines) {
      drawn.removeFromParent();
      drawn.geometry.dispose();
      drawn.material.dispose();
    }
    this.lines = lines.filter(({on}) => on.share.length > 1).map(({on, colour, width}) => {
      const material = new LineMaterial({color: colour, linewidth: width, polygonOffset: true, polygonOffsetFactor: -6, polygonOffsetUnits: -6});
      const drawn = new LineSegments2(new LineSegmentsGeometry(), material);
      drawn.frustumCulled = false;
      this.group.add(drawn);
      return {on, places: new Float32Array(on.share.length * 3), drawn};
    });
    this.move(placeOf);
  }

  move(placeOf: PlaceOf): void {
    const a: [number, number, number] = [0, 0, 0], b: [number, number, number] = [0, 0, 0];
    for (const {on, places, drawn} of this.lines) {
      for (let i = 0; i < on.share.length; ++i) {
        placeOf(on.ends[2 * i], a);
        placeOf(on.ends[2 * i + 1], b);
        for (let k = 0; k < 3; ++k) places[3 * i + k] = a[k] + (b[k] - a[k]) * on.share[i];
      }
      drawn.geometry.setPositions(places);
    }
  }

  /** The line that is nearest to a place of the screen, within some pixels; -1: none. `toPixels`: from bind space. */
  nearest(x: number, y: number, within: number, toPixels: ToPixels): number {
    const near = this.lines.map((_, line) => this.distance(line, x, y, toPixels).least);
    const least = Math.min(...near);
    return least < within ? near.indexOf(least) : -1;
  }
  /** The point of the first line that is nearest to a place of the screen. */
  place(x: number, y: number, toPixels: ToPixels): {x: number; y: number} | null {
    return this.lines.length ? this.distance(0, x, y, toPixels).at : null;
  }
  private distance(line: number, x: number, y: number, toPixels: ToPixels) {
    const {places} = this.lines[line];
    const p = new THREE.Vector3();
    let at: {x: number; y: number} | null = null, least = Infinity;
    for (let i = 0; i < places.length; i += 3) {
      const pixel = toPixels(p.fromArray(places, i));
      const d = Math.hypot(pixel.x - x, pixel.y - y);
      if (d < least) [least, at] = [d, pixel];
    }
    return {least, at};
  }
}

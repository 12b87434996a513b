// What lies over the surface and moves with it: the border of two joints as a ribbon between rails.
import * as THREE from 'three';
import {LineMaterial} from 'three/examples/jsm/lines/LineMaterial.js';
import {LineSegments2} from 'three/examples/jsm/lines/LineSegments2.js';
import {LineSegmentsGeometry} from 'three/examples/jsm/lines/LineSegmentsGeometry.js';
import type {OnEdges} from './places';

/** From the place of a vertex in the shown pose. */
export type PlaceOf = (vertex: number, out: [number, number, number]) => void;

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

  /** The points of each line in bind space, in the shown pose. */
  points(): THREE.Vector3[][] {
    return this.lines.map(({places}) => Array.from({length: places.length / 3}, (_, i) => new THREE.Vector3().fromArray(places, 3 * i)));
  }
}

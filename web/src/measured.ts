// For tests and measurements: what is shown, as numbers (window.studio).
import * as THREE from 'three';
import type {Core} from 'sinew-skin';
import {isKept} from './keeping';
import {client, history, session, view} from './state';
import {poseNumbers} from './store';
import {wrongColours} from './surface';
import {poseAt} from './track';
import {isWorking} from './work';

const {stage, figure, eye, picker, handle, ring, pictures} = view;
type Point = [number, number, number];

const state = () => ({
  vertices: session.info?.counts.vertices ?? 0, bound: !!session.bound, stale: session.stale, working: isWorking() || !stage.fits,
  mode: session.mode, joint: session.joint, doc: history.doc, seconds: session.bound?.seconds ?? 0, first: session.bound?.first ?? 0,
  refining: session.refining, kept: isKept(), coarse: !!session.bound?.coarse, time: session.time, onTrack: session.onTrack,
  width: session.rows?.width ?? 0, frames: stage.frameTimes(), drawn: stage.drawn, rough: stage.rough, card: stage.card, rows: session.rows,
});

/** The share of the vertices in the view which the drawn surface covers, where the core places them: 1, unless something else is drawn. */
function coverage(): number {
  const [w, h] = [stage.size.width >> 1, stage.size.height >> 1];
  const {data} = pictures.thumbnail(w, h, {here: true});
  let [seen, covered] = [0, 0];
  const at = new THREE.Vector3();
  for (let v = 0; v < figure.count; v += 7) {
    const {x, y} = stage.pixelAt(figure.vertexInWorld(v, at));
    const [column, row] = [Math.round(x / 2), Math.round(y / 2)];
    if (Math.abs(at.z) > 1 || column < 2 || row < 2 || column >= w - 2 || row >= h - 2) continue;
    ++seen;
    for (let k = 0, hit = false; k < 9 && !hit; ++k) {
      hit = data[((row + Math.floor(k / 3) - 1) * w + column + (k % 3) - 1) * 4 + 3] > 0;
      if (hit) ++covered;
    }
  }
  return seen ? Math.min(1, (covered + 1) / seen) : 1;  // a picture may miss one at an edge, and a close view has few
}

/** The part of the view, below the tools, that the shown surface takes at most: of its width or of its height. */
function filled(): number {
  const {width, height} = stage.size;
  const box = new THREE.Box2();
  for (let v = 0; v < figure.count; ++v) {
    const {x, y} = stage.pixelAt(figure.vertexInWorld(v, new THREE.Vector3()));
    box.expandByPoint(new THREE.Vector2(x, y));
  }
  const {x, y} = box.getSize(new THREE.Vector2());
  return Math.max(x / width, y / (height - stage.covered));
}

/** The height of the character on the screen, in pixels. */
function shownHeight(): number {
  const rows = Array.from({length: figure.count}, (_, v) => stage.pixelAt(figure.vertexInWorld(v, new THREE.Vector3())).y);
  return rows.reduce((a, b) => Math.max(a, b), -Infinity) - rows.reduce((a, b) => Math.min(a, b), Infinity);
}

/** Bones that are drawn, and the width of the thickest in pixels at the target. */
function bonesShown(): {count: number; width: number} {
  const {count, longest} = figure.hasSkeleton ? figure.bones!.shown() : {count: 0, longest: 0};
  return {count, width: eye.pixelsOf(0.2 * longest)};
}

/** How many meshes without a skin are shown, and the pixels where the middle of the first is. */
function propsShown(): {count: number; at: {x: number; y: number}} {
  const boxes = figure.props.shown();
  return {count: boxes.length, at: stage.pixelAt((boxes[0] ?? new THREE.Box3(new THREE.Vector3(), new THREE.Vector3())).getCenter(new THREE.Vector3()))};
}

Object.assign(window, {
  studio: {
    state, coverage, filled, shownHeight, bonesShown, propsShown, wrongColours,
    core: client as unknown as Core,
    handleAt: () => handle.at(),
    placeOf: (joint: number) => figure.jointInWorld(joint).toArray(),
    matrixOf: (joint: number) => figure.transformOf(joint).toArray(),
    pixelOfVertex: (vertex: number) => figure.pixelOfVertex(vertex),
    cameraAt: () => ({place: stage.camera.position.toArray(), target: stage.orbit.target.toArray()}),
    frame: () => eye.frame(),
    lookAt: (vertex: number, radius: number) => eye.lookAt([vertex], radius),
    difference: () => session.difference,
    own: () => session.opened?.ownRows,
    positions: () => session.opened?.positions,
    change: (part: object) => history.change(part),
    pose: (joint: number, turn: [number, number, number, number]) => history.change({pose: {...history.doc.pose, [joint]: turn}}, 'measured'),
    turn: (aside: number) => eye.turn(aside, 0),
    nearer: (factor: number) => eye.turn(0, 0, 1 / factor),
    brushAt: () => ring.at,
    strokes: () => ({...session.stroke}),
    border: (line = 0) => picker.borderPlace(line),
    colours: () => figure.colours,
    hitAt: (x: number, y: number) => picker.surfaceAt(x, y),
    pixelOf: (point: Point) => figure.pixelOf(point),
    joints: () => session.info?.joints ?? [],
    poseAt: (time: number) => poseNumbers(poseAt(history.doc.track, time), session.info?.joints.length ?? 0, session.base),
  },
});

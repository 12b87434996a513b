// The state of the page: what is open, and what is shown. Panels read `session`, call functions, and listen to topics of changes; they
// never call each other.
import {Character} from 'sinew-skin';
import type {Compared, Defects, ModelInfo, OpenFile, Option, Rig, Rows, Template} from 'sinew-skin';
import {byId} from './dom';
import {notice, showError} from './messages';
import {History, type Curve} from './store';
import type {Pose} from './track';
import {View} from './view';

/** The quantity shown on the surface. */
export type Mode = 'look' | 'joints' | 'weight' | 'coverage' | 'difference' | 'distance' | 'marks' | 'voxels' | 'defects';
export type BrushOp = 'add' | 'set' | 'scale' | 'smooth' | 'relax' | 'sharpen' | 'replace' | 'sample' | 'hardness' | 'rigid';
/** What the pointer does. */
export type Tool = 'look' | 'turn' | 'paint' | 'draw';
/** The rooms of the page. Each has its tool; a skeleton is drawn in the first. */
export type Step = 'bind' | 'finish' | 'paint' | 'pose' | 'export';
export const TOOL_OF: Record<Step, Tool> = {bind: 'look', finish: 'look', paint: 'paint', pose: 'turn', export: 'look'};

export const client = new Character({lenient: true});
export const history = new History();
export const view = makeView();

/** The view, or the reason why there is none: then nothing else of the page can work. */
function makeView(): View {
  try {
    return new View(byId('view'));
  } catch (error) {
    showError(new Error('this page draws with WebGL, which the browser does not offer here: allow hardware acceleration, or use another browser'));
    byId('empty').hidden = true;
    throw error;
  }
}
view.stage.onLost = (lost) => notice(lost ? 'The browser has taken the graphics context away. The work is kept; the view comes back when the browser gives it again.' : '');

/** The state that the panels share. Each panel writes its own fields. */
export const session = {
  options: [] as Option[],
  groups: new Map<string, string>(),
  templates: [] as Template[],
  placed: null as (Rig & {names: string[]}) | null,  // the last template, with the names of its joints
  file: null as OpenFile | null,  // with the drawn skeleton
  opened: null as Awaited<ReturnType<Character['open']>> | null,
  info: null as ModelInfo | null,
  rows: null as Rows | null,  // the shown weights: the new ones, otherwise the file's
  base: null as Float64Array | null,  // the rest pose of the file, where it is not the bind pose (rest.ts)
  bare: false,  // the mesh has no skeleton yet
  flat: false,  // a flat figure, cut out of pictures
  /** seconds: duration of the bind; first: until its first result, if it had one. coarse: this is the first result. */
  bound: null as {report: Record<string, any>; coverage: Uint8Array; seconds: number; first: number | null; coarse: boolean} | null,
  refining: false,  // a first result is shown, and the final one is being computed
  stale: false,  // options or joints changed since the bind
  difference: null as Float32Array | null,
  compared: null as Compared | null,  // the numbers of `sinew compare`, on request
  distance: null as {joint: number; values: Float32Array} | null,
  voxels: null as {key: string; resolution: number; coarser: boolean; leaves: Float32Array} | null,
  defects: null as Defects | null,  // on request
  editReport: [] as string[],
  mode: 'look' as Mode,
  step: 'bind' as Step,
  tool: 'look' as Tool,
  joint: -1,
  /** What alone is in colour: joints, vertices (1), or both. */
  only: null as {joints?: readonly number[]; vertices?: Uint8Array} | null,
  dual: false,
  beside: false,  // the file's own weights are shown too
  passing: null as Pose | null,  // a pose that is shown in passing
  clip: -1,
  clipTime: 0,
  time: 0,  // seconds, on the time line
  onTrack: false,  // the pose of the time line is shown, and not the pose by hand
  /** values: by op. smooth: a share of the radius. to: the name of the joint that takes the weight of another. on: "",
   * "material NAME" or "mesh NAME", a limit of the brush. front: only surface that faces the camera. through: across gaps. */
  brush: {
    op: 'add' as BrushOp, values: {add: 0.3, set: 0.3, scale: 0.5, smooth: 0.25, relax: 4, hardness: 0.5}, radius: 0.05, strength: 1,
    curve: 'smooth' as Curve, pressure: true, front: true, through: false, symmetric: false, to: '', on: '',
  },
  /** The vertices whose weights are shown as numbers. */
  probed: [] as readonly number[],
  byHand: new Map<object, Uint32Array>(),  // the vertices that each edit has changed
  painted: [] as number[],  // vertices whose rows changed in place, until the view has them
  stroke: {count: 0, vertices: 0, milliseconds: 0},  // strokes that the core has applied one by one; the last of them
};

// ---- topics and listeners

/** character: another one is open. bound: a binding was made or lost. weights: rows are new. options: settings of the
 * document, or which joints deform. joints: the list of joints and their properties. moved: positions of joints, while one is drawn.
 * selection, mode, tool, clip, time, probe: the field of that name; time also when the view switches to or from the pose of the time
 * line. timeline: it is shown or hidden. interrupt: what the pointer is doing must end. */
export type Topic = 'interrupt' | 'character' | 'bound' | 'weights' | 'options' | 'joints' | 'moved' | 'selection' | 'mode' | 'tool' | 'clip' | 'time' | 'timeline' | 'probe';
const listeners: [ReadonlySet<Topic>, () => void][] = [];

export function on(topics: Topic[], listener: () => void): void {
  listeners.push([new Set(topics), listener]);
}

/** Calls each listener once, in the order of registration. */
export function notify(...topics: Topic[]): void {
  for (const [listened, listener] of listeners) if (topics.some((t) => listened.has(t))) listener();
}

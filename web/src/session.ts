// The open character and its state. A change of the document becomes work for the core, one task at a time. Panels read
// `session`, call the functions below, and listen to topics of changes; they never call each other.
import {Character} from 'sinew-skin';
import type {Compared, Defects, Early, Joint, ModelInfo, OpenFile, Option, Painted, Rig, Rows, Template} from 'sinew-skin';
import {byId} from './dom';
import {busy, hideError, notice, say, showError} from './messages';
import {fromRest} from './rest';
import {bonesIn, jointsOf, type Bone} from './skeleton';
import {EMPTY, History, appliedOf, belowStrokes, editsOf, listBelow, poseNumbers, settingsOf, stepsBetween, withBones, withSkeleton, workOf, type Applied, type Curve, type Doc} from './store';
import {View} from './view';
import {withRows} from './rows';
import {poseAt, type Pose} from './track';
import {valueIn} from './values';
import {fitOf} from './words';
import {resolutionOf, resolutionsToTry} from './volume';

/** The quantity shown on the surface. */
export type Mode = 'look' | 'joints' | 'weight' | 'coverage' | 'difference' | 'distance' | 'marks' | 'voxels' | 'defects';
export type BrushOp = 'add' | 'set' | 'scale' | 'smooth' | 'relax' | 'sharpen' | 'replace' | 'sample' | 'hardness' | 'rigid';
export type Tool = 'look' | 'turn' | 'paint' | 'draw';

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
view.onLost = (lost) => notice(lost ? 'The browser has taken the graphics context away. The work is kept; the view comes back when the browser gives it again.' : '');

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
  tool: 'look' as Tool,
  joint: -1,
  dual: false,
  beside: false,  // the file's own weights are shown too
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

// ---- work: one task at a time; requests made meanwhile are served once, after it

/** A binding outside the core. */
export interface KeptBinding {
  bytes: Uint8Array;
  doc: Doc;
  seconds: number;
  first: number | null;
}
/** Everything that is needed to go on with a character: what was opened, and what was done since. */
export interface Work {
  file: OpenFile;
  doc: Doc;
  binding: KeptBinding | null;
}
export const currentWork = (): Work | null => openedFile && {file: openedFile, doc: history.doc, binding: kept};

let openedFile: OpenFile | null = null;
let resetting = false;  // the document is being reset for another character
let behind = false;  // the core does not have the drawn skeleton yet
let stopping = false;
let boundOf: Doc | null = null;  // the document of the last bind
let kept: KeptBinding | null = null;  // the last final binding, in case the core has to be started again
let working = false, binding = false, pending: 'none' | 'pose' | 'weigh' = 'none';
export const isWorking = () => working;

export function request(what: 'pose' | 'weigh'): void {
  if (what === 'weigh' || pending === 'none') pending = what;
  wake();
  if (!working) void work();
}

async function work() {
  working = true;
  try {
    while (pending !== 'none') {
      const now = pending;
      pending = 'none';
      if (now === 'weigh' && session.bound && !session.stale) {
        await weigh(history.doc);
        notify('weights');
      }
      await pose();
    }
  } catch (error) {
    showError(error);
  } finally {
    working = false;
  }
}

let applied: Applied | null = null;  // what the weights of the core follow from

/** The weights of the document: only the edits that differ from those of the core's weights are taken back and applied, where
 * that suffices. */
async function weigh(doc: Doc) {
  const wanted = appliedOf(doc);
  const steps = stepsBetween(applied, wanted);
  if (steps && session.rows && (await stroke(doc, wanted, steps))) return;
  const below = session.rows && belowStrokes(applied, wanted);
  if (below === 'other' && (await rebase(doc, wanted))) return;
  applied = null;
  // Strokes are applied one by one, so that the next change below them computes only what it touches.
  const made = await client.weigh(settingsOf(doc), below ? listBelow(wanted) : editsOf(doc));
  applied = below ? {base: wanted.base, edits: []} : wanted;
  session.rows = made.rows;
  session.difference = made.difference;
  session.compared = null;
  session.editReport = made.report;
  if (below) await stroke(doc, wanted, {back: 0, apply: wanted.edits});
}

/** Whether the core could replace the weights below the strokes. */
async function rebase(doc: Doc, wanted: Applied): Promise<boolean> {
  const start = performance.now();
  const painted = await client.rebase(settingsOf(doc), listBelow(wanted), wanted.edits.length);
  if (!painted) return false;
  session.rows = withRows(session.rows!, painted);
  session.painted.push(...painted.vertices);
  applied = wanted;
  ++session.stroke.count;
  session.stroke.vertices = painted.vertices.length;
  session.stroke.milliseconds = performance.now() - start;
  session.compared = null;
  if (session.opened?.ownRows) session.difference = await client.difference();
  return true;
}

/** Whether the core could take these steps one by one. */
async function stroke(doc: Doc, wanted: Applied, {back, apply}: NonNullable<ReturnType<typeof stepsBetween>>): Promise<boolean> {
  const settings = settingsOf(doc);
  let edits = applied!.edits;
  const start = performance.now();
  const show = (painted: Painted, next: readonly object[]) => {
    session.rows = withRows(session.rows!, painted);
    session.painted.push(...painted.vertices);
    applied = {base: wanted.base, edits: (edits = next)};
    ++session.stroke.count;
    session.stroke.vertices = painted.vertices.length;
  };
  // A stroke that goes on replaces its earlier part.
  const again = back > 0 && apply.length > 0;
  const lines = session.editReport.slice(0, edits.length - back);
  for (let i = 0; i < (again ? back - 1 : back); ++i) {
    const painted = await client.unstroke();
    if (!painted) return false;
    show(painted, edits.slice(0, -1));
  }
  const locks = listBelow(wanted);
  for (const [i, edit] of apply.entries()) {
    const replaces = again && i === 0;
    const painted = await client.stroke(settings, locks, JSON.stringify(edit), replaces);
    if (!painted) return false;
    show(painted, [...(replaces ? edits.slice(0, -1) : edits), edit]);
    const stuck = painted.stuck ? `, ${painted.stuck} unchanged: no other joint can take the weight` : '';
    lines.push(`edit ${edits.length} (${(edit as {op: string}).op}): ${painted.vertices.length} vertices changed${stuck}`);
  }
  session.stroke.milliseconds = performance.now() - start;
  session.editReport = lines;
  session.compared = null;
  if (session.opened?.ownRows) session.difference = await client.difference();
  return true;
}

/** The shown pose unless an animation of the file plays: by hand, or from the time line. */
export const shownPose = (): Pose => (session.onTrack ? poseAt(history.doc.track, session.time) : history.doc.pose);

function shownMatrices(joints: number): Promise<Float64Array> {
  const {clip, clipTime, base, opened} = session;
  const pose = shownPose();
  // At rest the matrices of the file are exact, also where bones are stretched.
  if (clip < 0 && base && !Object.keys(pose).length) return Promise.resolve(opened!.rest.matrices.slice());
  return client.matricesOf(clip >= 0 ? {clip, time: clipTime} : {joints: poseNumbers(pose, joints, base)});
}

let wake = () => {};  // ends the pause in pose()
const PAUSE = 80;  // milliseconds without another pose, after which the core places the vertices

async function pose() {
  const {opened, info} = session;
  if (!opened || !info || behind || session.bare || session.tool === 'draw') return;
  const matrices = await shownMatrices(info.joints.length);
  const drawn = !session.dual && view.setMatrices(matrices);
  // The places of vertices are not needed while one pose follows another.
  if (drawn && pending === 'none') await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, PAUSE);
    wake = () => (clearTimeout(timer), resolve());
  });
  if (drawn && pending !== 'none') return;
  const normals = !drawn && !!opened.normals;
  const posed = await client.deform(matrices.slice(), session.dual, normals);
  const beside = canCompare() && session.beside ? await client.deform(matrices.slice(), session.dual, normals, true) : null;
  if (drawn) view.setPlaces(posed, beside);
  else view.setPose(matrices, posed, beside);
}

/** Whether two bindings can be shown side by side. */
export const canCompare = () => !!session.bound && !!session.opened?.ownRows;

/** Computes the numbers of `sinew compare`. */
export function measureDifference(): Promise<void> {
  return alone(async () => {
    busy('Comparing…');
    session.compared = await client.compare();
    notify('weights');
  });
}

/** Shows or hides the file's own weights beside the new ones. */
export function setBeside(on: boolean): void {
  session.beside = on;
  notify('mode');
  request('pose');
}

/** Runs a task when no other is running; the tasks before it take milliseconds. Errors are shown. */
async function alone(task: () => Promise<void>) {
  while (working) await new Promise((resolve) => setTimeout(resolve, 10));
  working = true;
  try {
    await task();
  } catch (error) {
    showError(error);
  } finally {
    busy('');
    working = false;
  }
  if (pending !== 'none') await work();
}

/** Passes the drawn skeleton to the core. */
async function catchUp() {
  if (!behind || !openedFile) return;
  const {doc} = history;
  const file = withSkeleton(openedFile, doc);
  busy(file.picture ? 'Cutting out…' : 'Reading the skeleton…');
  const opened = await client.open(file);
  if (history.doc.bones !== doc.bones || history.doc.smoothness !== doc.smoothness) {
    // The skeleton has changed again; the core needs it only when drawing ends.
    if (session.tool !== 'draw' || !history.doc.bones) await catchUp();
    return;
  }
  behind = false;
  session.file = file;
  session.bare = opened.bare;
  const info = opened.bare ? withJoints(opened.info, []) : await client.describe(settingsOf(history.doc));
  session.opened = {...opened, info, ...(opened.bare ? {poses: [], ownRows: null} : {})};
  session.rows = session.opened.ownRows;
  if (session.flat && session.rows && session.tool !== 'draw') session.mode = 'joints';
  showJoints(info);
}

function showJoints(info: ModelInfo) {
  session.info = info;
  if (session.joint >= info.joints.length) session.joint = -1;
  view.replaceJoints(info);
  view.select(session.joint);
  notify('options', 'clip', 'selection');
}

const withJoints = (info: ModelInfo, joints: Joint[]): ModelInfo =>
  ({...info, joints, bones: [], counts: {...info.counts, joints: joints.length, deforming_joints: joints.length}});

/** Whether a skeleton may be drawn: not for files with a skin or with layers, which keep their own. */
export const canDraw = () => !!openedFile && !openedFile.picture?.layers && (session.bare || !!openedFile.skeleton || !!openedFile.picture || history.doc.bones !== null);

/** Places a template skeleton into the mesh, instead of the drawn one; null: it failed, which is shown. */
export async function placeTemplate(name: string): Promise<Rig | null> {
  let placed: Rig | null = null;
  await alone(async () => {
    busy(`Placing the template ${name}…`);
    placed = await client.rig(name);
    const bones = bonesIn(new TextDecoder().decode(placed.skeleton));
    session.placed = {...placed, names: bones.map((b) => b.name)};
    selectJoint(-1);
    history.settle();
    history.change(withBones(history.doc, bones));
    say(fitOf(placed)[0]);
  });
  return placed;
}

/** Whether there is a new binding at the end. */
export async function bind(): Promise<boolean> {
  if (!session.opened || binding) return false;
  if (session.tool === 'draw') setTool('look');
  if (session.flat) return false;
  binding = true;
  let done = false;
  await alone(async () => {
    try {
      await catchUp();
      if (session.bare) throw new Error('there is no skeleton yet: draw one (D), or drop a skeleton file together with the mesh');
      const start = performance.now();
      const {doc} = history;
      let first: number | null = null;
      const has = (made: {report: Record<string, any>; coverage: Uint8Array}, coarse: boolean) => {
        const seconds = (performance.now() - start) / 1000;
        if (coarse) first = seconds;
        session.bound = {report: made.report, coverage: made.coverage, seconds, first, coarse};
        boundOf = doc;
        session.stale = workOf(history.doc, doc, session.groups) === 'bind';
        session.distance = null;
        if (session.mode === 'look') session.mode = 'joints';
      };
      stopping = false;
      busy('Binding…', null, true);
      const matrices = await shownMatrices(session.info!.joints.length);
      const shown = {edits: editsOf(doc), matrices: matrices.slice(), dual: session.dual, normals: !!session.opened!.normals,
                     beside: session.beside && !!session.opened!.ownRows};
      applied = null;
      const made = await client.bind(settingsOf(doc), (stage, f) =>
        stopping || busy(`${session.refining ? 'Refining' : 'Binding'}: ${stage}`, f || null, true), shown, (early: Early) => {
        if (behind) return;  // another skeleton was drawn meanwhile
        has(early, true);
        setRefining(true);
        applied = null;
        session.rows = early.rows;
        session.difference = early.difference;
        session.compared = null;
        session.editReport = early.editReport;
        if (session.tool !== 'draw') view.setPose(matrices, early.posed, early.posedBeside);
        notify('bound', 'weights');
      });
      if (behind) return;
      has(made, false);
      kept = {bytes: await client.saveBinding(), doc, seconds: session.bound!.seconds, first};
      await weigh(session.stale ? doc : history.doc);
      request('pose');
      done = true;
    } finally {
      binding = false;
    }
  });
  setRefining(false);
  notify('bound', 'weights');
  if (done) say(`bound in ${session.bound!.seconds.toFixed(1)} seconds, ${(100 * session.bound!.report.coverage.share).toFixed(1)} % reached by the method`);
  return done;
}

/** Gives a kept binding to the core, and its weights to the page. */
async function useKept(binding: KeptBinding) {
  const made = await client.openBinding(binding.bytes.slice(), settingsOf(binding.doc));
  applied = null;
  kept = binding;
  boundOf = binding.doc;
  session.bound = {...made, seconds: binding.seconds, first: binding.first, coarse: false};
  session.stale = workOf(history.doc, binding.doc, session.groups) === 'bind';
  session.info = await client.describe(settingsOf(history.doc));
  view.setJoints(session.info);
  await weigh(session.stale ? binding.doc : history.doc);
}

function setRefining(on: boolean) {
  session.refining = on;
  byId('busy').classList.toggle('refining', on);  // below the tool bar
}

/** Stops the bind: its first result stays if there is one, otherwise the previous binding. A second click, or the first one if the
 * core cannot be asked to stop, starts the core again, with the previous binding. */
async function stop() {
  const requested = client.requestStop();
  stopping = true;
  busy('Stopping…', null, requested);
  if (requested) return;
  const previous = kept;
  forget();
  session.rows = session.opened?.ownRows ?? null;
  const again = client.cancel();
  await alone(async () => {
    await again;
    if (previous && !behind) await useKept(previous);
  });
  notify('bound', 'weights', 'options');
  request('pose');
}

/** There is no binding any more, nor anything that was measured with it. */
function forget() {
  applied = null;
  session.bound = boundOf = kept = session.difference = session.compared = session.distance = null;
  session.stale = false;
}
byId('cancel').addEventListener('click', () => void stop());

/** Opens a character; `doc` and `binding`: what was done with it before. */
export async function open(chosen: OpenFile, {doc, binding: before}: Partial<Work> = {}): Promise<void> {
  if (binding) return showError(new Error('a binding is under way: stop it first, then open another character'));
  await alone(async () => {
    busy(`Opening ${chosen.name}…`);
    hideError();
    const opened = await client.open(chosen);
    if (opened.bare) Object.assign(opened, {info: withJoints(opened.info, []), poses: [], ownRows: null});
    const flat = !!chosen.picture;
    const {info, bare} = opened;
    openedFile = chosen;
    behind = false;
    const [low, high] = info.box;
    const base = opened.ownRows ? opened.rest.pose : null;
    session.base = base?.some((x, i) => x !== (i % 10 === 3 || i % 10 > 6 ? 1 : 0)) ? base : null;
    Object.assign(session, {
      opened, info, bare, flat, file: chosen, rows: opened.ownRows, bound: null, stale: false, difference: null, compared: null, distance: null, voxels: null,
      defects: null, placed: null,
      probed: [], editReport: [], joint: -1, clip: -1, clipTime: 0, time: 0, onTrack: false, beside: false, tool: bare ? 'draw' : 'look',
      mode: (opened.images.length && !flat) || !opened.ownRows ? 'look' : 'joints',
      brush: {...session.brush, to: '', on: '', radius: 0.03 * Math.hypot(...low.map((x, k) => high[k] - x))},
    });
    boundOf = kept = applied = null;
    resetting = true;
    history.reset({...EMPTY, settings: chosen.settings ?? {}, ...doc});
    resetting = false;
    await view.show(opened, info.vrm === '0.x');
    view.setFlat(flat);
    if (doc?.bones || doc?.smoothness) {
      behind = true;
      session.tool = 'look';
      await catchUp();
    }
    if (before && !session.bare) {
      await useKept(before);
      if (session.mode === 'look') session.mode = 'joints';
    } else if (doc && !session.bare) {
      session.info = await client.describe(settingsOf(history.doc));
      view.setJoints(session.info);
    }
    notify('character', 'tool');
    await pose();
    view.frame(bare || flat ? 'front' : view.plane ?? 'corner');  // from the front, a click hits the middle of the body
  });
}

// ---- the shown state

const MOST_LEAVES = 200000;  // more would make the page slow

/** The volume under the current settings; at a lower resolution if it has too many leaves to draw. */
async function measureVoxels() {
  const settings = settingsOf(history.doc);
  const key = JSON.stringify([settings, history.doc.bones]);
  if (session.voxels?.key === key) return;
  await alone(async () => {
    await catchUp();
    busy('Filling the volume…');
    const chosen = valueIn(session.options, history.doc.settings, 'resolution');
    for (const [i, resolution] of resolutionsToTry(chosen).entries()) {
      const leaves = await client.volume([...settings, ['resolution', resolution]], MOST_LEAVES);
      if (!leaves) continue;
      session.voxels = {key, resolution: resolutionOf(leaves), coarser: i > 0, leaves};
      return;
    }
  });
}

export async function setMode(next: Mode): Promise<void> {
  session.mode = next;
  const {joint} = session;
  if (next === 'voxels' && !working) await measureVoxels();
  if (next === 'defects' && !session.defects && !working)
    await alone(async () => {
      busy('Comparing triangles…');
      session.defects = await client.defects();
    });
  if (next === 'distance' && joint >= 0 && session.distance?.joint !== joint && !working)
    await alone(async () => {
      await catchUp();
      busy('Measuring distances…');
      session.distance = {joint, values: await client.distances(settingsOf(history.doc), joint)};
    });
  notify('mode');
}

export function selectJoint(next: number): void {
  session.joint = next;
  view.select(next);
  placeHandle();
  if (session.mode === 'distance') void setMode('distance');
  if (next >= 0 && session.mode === 'joints' && session.tool === 'paint') session.mode = 'weight';
  notify('selection');
}

export function setTool(next: Tool): void {
  if (next === 'draw' && !canDraw()) return;
  session.tool = next;
  placeHandle();
  if (next === 'paint' && session.joint >= 0) session.mode = 'weight';
  if (next !== 'paint') view.setBrush(0, 0, null);
  view.setOrbit(true);
  view.turnByRight(next === 'paint');
  if (next === 'draw') {
    setClip(-1);
    view.bindPose();
  } else if (behind) {
    void alone(catchUp).then(() => request('pose'));
  } else {
    request('pose');
  }
  notify('tool');
}

export function setClip(next: number): void {
  if (session.clip === next) return;
  session.clip = next;
  session.clipTime = next >= 0 && session.info ? session.info.clips[next].start : 0;
  if (next >= 0) session.onTrack = false;
  placeHandle();
  notify('clip');
  request('pose');
}

/** Shows the time line at a time; null: the pose by hand. */
export function setTime(time: number | null): void {
  session.onTrack = time !== null;
  if (time !== null) {
    session.time = time;
    if (session.clip >= 0) setClip(-1);
  }
  notify('time');
  request('pose');
}

function placeHandle() {
  view.setGizmo(session.tool === 'turn' && session.joint >= 0 && session.clip < 0);
}

/** Shows the weights of a vertex; `also`: beside those that are shown, or no longer. */
export function probe(vertex: number | null, also = false): void {
  const {probed} = session;
  if (vertex === null) session.probed = also ? probed : [];
  else if (!also) session.probed = [vertex];
  else session.probed = probed.includes(vertex) ? probed.filter((v) => v !== vertex) : [...probed, vertex];
  notify('probe');
}

// ---- the document

history.listen((doc, before) => {
  if (resetting) return;
  // A pose by hand is shown at once, also after undo.
  if (doc.pose !== before.pose && session.onTrack) {
    session.onTrack = false;
    notify('time');
  }
  const needed = workOf(doc, before, session.groups);
  if (needed === 'bind') {
    const was = session.stale;
    session.stale = !!boundOf && workOf(doc, boundOf, session.groups) === 'bind';
    if (was && !session.stale) request('weigh');  // changes of weights were not applied meanwhile
    void describe();
    notify('options');
  } else if (needed === 'joints') {
    const {bones} = doc;
    const lost = !behind;  // measured numbers are obsolete
    behind = true;
    forget();
    session.rows = null;
    session.mode = 'look';
    if (session.info && bones) {
      const info = withJoints(session.info, jointsOf(bones));
      if (!lost && session.tool === 'draw' && sameTree(bones, before.bones)) {
        // A joint is being dragged: panels are updated at once.
        session.info = info;
        view.replaceJoints(info);
        return notify('moved');
      }
      showJoints(info);
    }
    // Undo in another tool, or back to the file's own skeleton, which only the core has.
    if (session.tool !== 'draw' || !bones) void alone(catchUp).then(() => request('pose'));
    notify('bound');
  } else if (needed !== 'none') {
    request(needed);
  }
});

const sameTree = (a: readonly Bone[], b: readonly Bone[] | null) =>
  a.length === b?.length && a.every((bone, i) => bone.name === b[i].name && bone.parent === b[i].parent);

/** Undo or redo; panels show the restored settings. A stroke or drag that is under way ends before: undo takes back the part of it
 * that was made. */
export function undo(): void {
  notify('interrupt');
  history.undo();
  notify('options');
}
export function redo(): void {
  notify('interrupt');
  history.redo();
  notify('options');
}

async function describe() {
  if (!session.opened || behind) return;
  try {
    session.info = await client.describe(settingsOf(history.doc));
    view.setJoints(session.info);
    notify('joints');
  } catch (error) {
    showError(error);
  }
}

view.onTurn = (joint, rotation, done) => {
  history.change({pose: {...shownPose(), [joint]: [...fromRest(session.base, joint, rotation)]}}, `turn ${joint}`);
  if (done) {
    history.settle();
    notify('selection');
  }
};

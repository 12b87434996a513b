// Work of the core: a change of the document becomes weights and places of vertices. One task at a time; requests made meanwhile are served
// once, after it.
import type {Joint, ModelInfo, OpenFile, Painted} from 'sinew-skin';
import {busy, showError} from './messages';
import {withRows} from './rows';
import {client, history, notify, session, view} from './state';
import {appliedOf, belowStrokes, followsPose, listBelow, poseNumbers, settingsOf, stepsBetween, withSkeleton, type Applied, type Doc, type Edit} from './store';
import {poseAt, type Pose} from './track';

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

/** What the page knows of the core. */
export const core = {
  file: null as OpenFile | null,  // as it was opened, without a drawn skeleton
  behind: false,  // the core does not have the drawn skeleton yet
  boundOf: null as Doc | null,  // the document of the last bind
  kept: null as KeptBinding | null,  // the last final binding, in case the core has to be started again
  applied: null as Applied | null,  // what the weights of the core follow from
};
let working = false, pending: 'none' | 'pose' | 'weigh' = 'none';

export const isWorking = () => working;
view.stage.mayRefine = () => !working;

export function request(what: 'pose' | 'weigh'): void {
  if (followsPose(history.doc)) what = 'weigh';
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
      if (now === 'weigh' && canEdit()) {
        await weigh(history.doc);
        notify('weights');
      } else if (now === 'weigh' && !session.bound && session.opened?.ownRows) {
        // The start with the file's weights was taken back.
        await client.useOwn();
        core.applied = null;
        session.rows = session.opened.ownRows;
        notify('bound', 'weights');
      }
      await pose();
    }
  } catch (error) {
    ++failures;
    showError(error);
  } finally {
    working = false;
  }
}

let failures = 0;  // of work

/** When nothing is being computed. */
export async function quiet(): Promise<void> {
  while (working) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** The weights of the document: only the edits that differ from those of the core's weights are taken back and applied, where
 * that suffices. Edits are applied one by one, so that the next change below them computes only what it touches. Falloffs by
 * angle have their values in the shown pose; `atRest`, for files, in the bind pose. */
export async function weigh(doc: Doc, atRest = false) {
  const matrices = followsPose(doc) && !atRest ? await shownMatrices(session.info!.joints.length) : undefined;
  const wanted = appliedOf(doc, matrices);
  const steps = stepsBetween(core.applied, wanted);
  if (steps && session.rows && (await stroke(doc, wanted, steps))) return;
  if (session.rows && belowStrokes(core.applied, wanted) === 'other' && (await rebase(doc, wanted, matrices))) return;
  core.applied = null;
  if (doc.start === 'file') {
    await client.useOwn();
    const {width, joints, shares} = session.opened!.ownRows!;
    session.rows = {width, joints: joints.slice(), shares: shares.slice()};
    session.difference = null;
    session.editReport = [];
  } else {
    const made = await client.weigh(settingsOf(doc), listBelow(wanted), undefined, matrices);
    session.rows = made.rows;
    session.difference = made.difference;
    session.editReport = made.report;
  }
  core.applied = {base: wanted.base, edits: []};
  session.byHand.clear();
  session.compared = null;
  if (wanted.edits.length) await stroke(doc, wanted, {back: 0, apply: wanted.edits});
}

/** Whether the core could replace the weights below the strokes. */
async function rebase(doc: Doc, wanted: Applied, matrices?: Float64Array): Promise<boolean> {
  const start = performance.now();
  const painted = await client.rebase(settingsOf(doc), listBelow(wanted), wanted.edits.length, matrices);
  if (!painted) return false;
  session.rows = withRows(session.rows!, painted);
  session.painted.push(...painted.vertices);
  core.applied = wanted;
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
  let edits = core.applied!.edits;
  const start = performance.now();
  const show = (painted: Painted, next: readonly object[], edit: object | null) => {
    session.rows = withRows(session.rows!, painted);
    session.painted.push(...painted.vertices);
    // A stroke that goes on reports only what is new.
    const before = next.length === edits.length ? session.byHand.get(edits[next.length - 1]) : undefined;
    if (edit) session.byHand.set(edit, before ? Uint32Array.from(new Set([...before, ...painted.vertices])) : painted.vertices);
    core.applied = {base: wanted.base, edits: (edits = next)};
    ++session.stroke.count;
    session.stroke.vertices = painted.vertices.length;
  };
  // A stroke that goes on replaces its earlier part.
  const again = back > 0 && apply.length > 0;
  const lines = session.editReport.slice(0, edits.length - back);
  for (let i = 0; i < (again ? back - 1 : back); ++i) {
    const painted = await client.unstroke();
    if (!painted) return false;
    show(painted, edits.slice(0, -1), null);
  }
  const locks = listBelow(wanted);
  for (const [i, edit] of apply.entries()) {
    const replaces = again && i === 0;
    const painted = await client.stroke(settings, locks, JSON.stringify(edit), replaces);
    if (!painted) return false;
    show(painted, [...(replaces ? edits.slice(0, -1) : edits), edit], edit);
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
export const shownPose = (): Pose => session.passing ?? (session.onTrack ? poseAt(history.doc.track, session.time) : history.doc.pose);

export function shownMatrices(joints: number): Promise<Float64Array> {
  const {clip, clipTime, base, opened} = session;
  const pose = shownPose();
  // At rest the matrices of the file are exact, also where bones are stretched.
  if (clip < 0 && base && !Object.keys(pose).length) return Promise.resolve(opened!.rest.matrices.slice());
  return client.matricesOf(clip >= 0 ? {clip, time: clipTime} : {joints: poseNumbers(pose, joints, base)});
}

let wake = () => {};  // ends the pause in pose()
const PAUSE = 80;  // milliseconds without another pose, after which the core places the vertices

export async function pose() {
  const {opened, info} = session;
  if (!opened || !info || core.behind || session.bare || session.tool === 'draw') return;
  const matrices = await shownMatrices(info.joints.length);
  const drawn = !session.dual && view.figure.setMatrices(matrices);
  // The places of vertices are not needed while one pose follows another.
  if (drawn && pending === 'none') await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, PAUSE);
    wake = () => (clearTimeout(timer), resolve());
  });
  if (drawn && pending !== 'none') return;
  const normals = !drawn && !!opened.normals;
  const posed = await client.deform(matrices.slice(), session.dual, normals);
  const beside = canCompare() && session.beside ? await client.deform(matrices.slice(), session.dual, normals, true) : null;
  if (drawn) view.figure.setPlaces(posed, beside);
  else view.figure.setPose(matrices, posed, beside);
}

/** Whether there are weights that edits can change. */
export const canEdit = (): boolean => !session.flat && (history.doc.start === 'file' ? !!session.opened?.ownRows : !!session.bound && !session.stale);
/** Whether two sets of weights can be shown side by side. */
export const canCompare = () => !!session.opened?.ownRows && (!!session.bound || history.doc.start === 'file');
/** Runs a task when no other is running; the tasks before it take milliseconds. Errors are shown. */
export async function alone(task: () => Promise<void>): Promise<void> {
  await quiet();
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
export async function catchUp() {
  if (!core.behind || !core.file) return;
  const {doc} = history;
  const file = withSkeleton(core.file, doc);
  busy(file.picture ? 'Cutting out…' : 'Reading the skeleton…');
  const opened = await client.open(file);
  if (history.doc.bones !== doc.bones || history.doc.smoothness !== doc.smoothness) {
    // The skeleton has changed again; the core needs it only when drawing ends.
    if (session.tool !== 'draw' || !history.doc.bones) await catchUp();
    return;
  }
  core.behind = false;
  session.file = file;
  session.bare = opened.bare;
  const info = opened.bare ? withJoints(opened.info, []) : await client.describe(settingsOf(history.doc));
  session.opened = {...opened, info, ...(opened.bare ? {poses: [], ownRows: null} : {})};
  session.rows = session.opened.ownRows;
  if (session.flat && session.rows && session.tool !== 'draw') session.mode = 'joints';
  showJoints(info);
}

export function showJoints(info: ModelInfo) {
  session.info = info;
  if (session.joint >= info.joints.length) session.joint = -1;
  view.figure.replaceJoints(info);
  view.select(session.joint);
  notify('options', 'clip', 'selection');
}

export const withJoints = (info: ModelInfo, joints: Joint[]): ModelInfo =>
  ({...info, joints, bones: [], counts: {...info.counts, joints: joints.length, deforming_joints: joints.length}});

/** Whether a skeleton may be drawn: not for files with a skin or with layers, which keep their own. */
export const canDraw = () => !!core.file && !core.file.picture?.layers && (session.bare || !!core.file.skeleton || !!core.file.picture || history.doc.bones !== null);
/** Adds an edit, and takes it back if the core refuses it, which is shown. */
export async function tryEdit(edits: readonly Edit[], merge = ''): Promise<boolean> {
  const before = failures;
  history.change({edits}, merge);
  const {doc} = history;
  await quiet();
  if (failures === before) return true;
  if (history.doc === doc) history.undo();
  return false;
}

// The open character: opening, binding, stopping, and what a change of the document leads to.
import type {Early, OpenFile, Rig} from 'sinew-skin';
import {byId} from './dom';
import {fromRest} from './rest';
import {busy, hideError, say, showError} from './messages';
import {selectJoint, setStep} from './showing';
import {bonesIn, jointsOf, type Bone} from './skeleton';
import {client, history, notify, session, view} from './state';
import {editsOf, settingsOf, withBones, workOf, EMPTY} from './store';
import {fitOf} from './words';
import {alone, canEdit, catchUp, core, type KeptBinding, pose, request, showJoints, shownMatrices, weigh, withJoints, type Work, shownPose} from './work';

export const currentWork = (): Work | null => core.file && {file: core.file, doc: history.doc, binding: core.kept};
let resetting = false;  // the document is being reset for another character
let stopping = false, binding = false;

/** Begins with the weights of the file, instead of a bind. */
export function startFromFile(): void {
  if (!session.opened?.ownRows) return;
  history.change({start: 'file'});
  setStep('finish');
  notify('bound');
}

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
  if (session.tool === 'draw') setStep('bind');
  if (session.flat) return false;
  binding = true;
  let done = false;
  await alone(async () => {
    try {
      await catchUp();
      if (history.doc.start === 'file') history.change({start: 'bind'});
      if (session.bare) throw new Error('there is no skeleton yet: draw one (D), or drop a skeleton file together with the mesh');
      const start = performance.now();
      const {doc} = history;
      let first: number | null = null;
      const has = (made: {report: Record<string, any>; coverage: Uint8Array}, coarse: boolean) => {
        const seconds = (performance.now() - start) / 1000;
        if (coarse) first = seconds;
        session.bound = {report: made.report, coverage: made.coverage, seconds, first, coarse};
        core.boundOf = doc;
        session.stale = workOf(history.doc, doc, session.groups) === 'bind';
        session.distance = null;
        if (session.mode === 'look') session.mode = 'joints';
      };
      stopping = false;
      busy('Binding…', 0, true);
      const matrices = await shownMatrices(session.info!.joints.length);
      const shown = {edits: editsOf(doc), matrices: matrices.slice(), dual: session.dual, normals: !!session.opened!.normals,
                     beside: session.beside && !!session.opened!.ownRows};
      core.applied = null;
      const made = await client.bind(settingsOf(doc), (stage, f) =>
        stopping || busy(`${session.refining ? 'Refining' : 'Binding'}: ${stage}`, f, true), shown, (early: Early) => {
        if (core.behind) return;  // another skeleton was drawn meanwhile
        has(early, true);
        setRefining(true);
        core.applied = null;
        session.rows = early.rows;
        session.difference = early.difference;
        session.compared = null;
        session.editReport = early.editReport;
        if (session.tool !== 'draw') view.figure.setPose(matrices, early.posed, early.posedBeside);
        notify('bound', 'weights');
      });
      if (core.behind) return;
      has(made, false);
      core.kept = {bytes: await client.saveBinding(), doc, seconds: session.bound!.seconds, first};
      await weigh(session.stale ? doc : history.doc);
      request('pose');
      done = true;
    } finally {
      binding = false;
    }
  });
  setRefining(false);
  if (done && session.step === 'bind') setStep('finish');
  notify('bound', 'weights');
  if (done) say(`bound in ${session.bound!.seconds.toFixed(1)} seconds, ${(100 * session.bound!.report.coverage.share).toFixed(1)} % reached by the method`);
  return done;
}

/** Gives a kept binding to the core, and its weights to the page. */
async function useKept(binding: KeptBinding) {
  const made = await client.openBinding(binding.bytes.slice(), settingsOf(binding.doc));
  core.applied = null;
  core.kept = binding;
  core.boundOf = binding.doc;
  session.bound = {...made, seconds: binding.seconds, first: binding.first, coarse: false};
  session.stale = workOf(history.doc, binding.doc, session.groups) === 'bind';
  session.info = await client.describe(settingsOf(history.doc));
  view.figure.setJoints(session.info);
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
  const previous = core.kept;
  forget();
  session.rows = session.opened?.ownRows ?? null;
  const again = client.cancel();
  await alone(async () => {
    await again;
    if (previous && !core.behind) await useKept(previous);
  });
  notify('bound', 'weights', 'options');
  request('pose');
}

/** There is no binding any more, nor anything that was measured with it. */
function forget() {
  core.applied = null;
  session.bound = core.boundOf = core.kept = session.difference = session.compared = session.distance = null;
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
    core.file = chosen;
    core.behind = false;
    const [low, high] = info.box;
    const base = opened.ownRows ? opened.rest.pose : null;
    session.base = base?.some((x, i) => x !== (i % 10 === 3 || i % 10 > 6 ? 1 : 0)) ? base : null;
    Object.assign(session, {
      opened, info, bare, flat, file: chosen, rows: opened.ownRows, bound: null, stale: false, difference: null, compared: null, distance: null, voxels: null,
      defects: null, placed: null,
      probed: [], editReport: [], joint: -1, only: null, passing: null, clip: -1, clipTime: 0, time: 0, onTrack: false, beside: false, step: 'bind', tool: bare ? 'draw' : 'look',
      mode: (opened.images.length && !flat) || !opened.ownRows ? 'look' : 'joints',
      brush: {...session.brush, to: '', on: '', radius: 0.03 * Math.hypot(...low.map((x, k) => high[k] - x))},
    });
    core.boundOf = core.kept = core.applied = null;
    session.byHand.clear();
    resetting = true;
    history.reset({...EMPTY, settings: chosen.settings ?? {}, ...doc});
    resetting = false;
    await view.show(opened, info.vrm === '0.x');
    view.setFlat(flat);
    if (doc?.bones || doc?.smoothness) {
      core.behind = true;
      session.tool = 'look';
      await catchUp();
    }
    if (before && !session.bare) {
      await useKept(before);
      if (session.mode === 'look') session.mode = 'joints';
    } else if (doc && !session.bare) {
      session.info = await client.describe(settingsOf(history.doc));
      view.figure.setJoints(session.info);
    }
    if (history.doc.start === 'file' && opened.ownRows) await weigh(history.doc);
    if (canEdit()) session.step = 'finish';
    notify('character', 'tool');
    await pose();
    view.eye.frame(bare || flat ? 'front' : view.figure.plane ?? 'corner');  // from the front, a click hits the middle of the body
  });
}

// ---- the document

history.listen((doc, before) => {
  if (resetting) return;
  if (doc.pose !== before.pose) session.passing = null;
  // A pose by hand is shown at once, also after undo.
  if (doc.pose !== before.pose && session.onTrack) {
    session.onTrack = false;
    notify('time');
  }
  const needed = workOf(doc, before, session.groups);
  if (needed === 'bind') {
    const was = session.stale;
    session.stale = !!core.boundOf && workOf(doc, core.boundOf, session.groups) === 'bind';
    if (was && !session.stale) request('weigh');  // changes of weights were not applied meanwhile
    void describe();
    notify('options');
  } else if (needed === 'joints') {
    const {bones} = doc;
    const lost = !core.behind;  // measured numbers are obsolete
    core.behind = true;
    forget();
    session.rows = null;
    session.mode = 'look';
    if (session.info && bones) {
      const info = withJoints(session.info, jointsOf(bones));
      if (!lost && session.tool === 'draw' && sameTree(bones, before.bones)) {
        // A joint is being dragged: panels are updated at once.
        session.info = info;
        view.figure.replaceJoints(info);
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
  if (!session.opened || core.behind) return;
  try {
    session.info = await client.describe(settingsOf(history.doc));
    view.figure.setJoints(session.info);
    notify('joints');
  } catch (error) {
    showError(error);
  }
}

view.handle.onTurn = (joint, rotation, done) => {
  history.change({pose: {...shownPose(), [joint]: [...fromRest(session.base, joint, rotation)]}}, `turn ${joint}`);
  if (done) {
    history.settle();
    notify('selection');
  }
};

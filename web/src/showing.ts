// What is shown: the quantity on the surface, the step, the selected joint, the time, and poses in passing.
import {busy} from './messages';
import {client, history, type Mode, notify, session, type Step, TOOL_OF, view} from './state';
import {settingsOf} from './store';
import {type Pose} from './track';
import {valueIn} from './values';
import {resolutionOf, resolutionsToTry} from './volume';
import {alone, canDraw, catchUp, core, isWorking, request} from './work';

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
  if (next === 'voxels' && !isWorking()) await measureVoxels();
  if (next === 'defects' && !session.defects && !isWorking())
    await alone(async () => {
      busy('Comparing triangles…');
      session.defects = await client.defects();
    });
  if (next === 'distance' && joint >= 0 && session.distance?.joint !== joint && !isWorking())
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

/** Shows only some joints, or some vertices, in colour; null: all again. */
export function showOnly(only: typeof session.only): void {
  session.only = only;
  if (session.rows) session.mode = 'joints';
  notify('mode');
}

/** Shows a pose in passing, which is not that of the document; null: that of the document again. */
export function passPose(pose: Pose | null): void {
  if (session.passing === pose) return;
  session.passing = pose;
  request('pose');
}

export function setStep(next: Step, drawing = false): void {
  if (drawing && !canDraw()) return;
  session.step = next;
  session.passing = null;
  session.only = null;
  session.tool = drawing ? 'draw' : TOOL_OF[next];
  const {tool} = session;
  placeHandle();
  if (tool === 'paint' && session.joint >= 0 && session.rows) session.mode = 'weight';
  if (next === 'finish' && session.rows && session.mode === 'look') session.mode = 'joints';
  if (tool !== 'paint') view.ring.hide();
  view.stage.setOrbit(true);
  view.stage.turnByRight(tool === 'paint');
  if (drawing) {
    setClip(-1);
    view.figure.bindPose();
  } else if (core.behind) {
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
  view.handle.set(session.tool === 'turn' && session.joint >= 0 && session.clip < 0);
}

/** Shows the weights of a vertex; `also`: beside those that are shown, or no longer. */
export function probe(vertex: number | null, also = false): void {
  const {probed} = session;
  if (vertex === null) session.probed = also ? probed : [];
  else if (!also) session.probed = [vertex];
  else session.probed = probed.includes(vertex) ? probed.filter((v) => v !== vertex) : [...probed, vertex];
  notify('probe');
}

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

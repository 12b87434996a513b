// Poses: standard poses of the skeleton, animations of the file, and the blending of joints.
import {degreesOf, turnOf, type Degrees} from './angles';
import {button, byId, choice, el, figure, refill, slider, type VNode} from './dom';
import {setClip} from './showing';
import {history, on, session, view} from './state';
import {request, shownPose} from './work';
import {keepPose} from './timeline';
import {boundPose, restsBound, turnsOf} from './rest';
import type {Pose} from './track';
import type {Quaternion} from './handle';

let playing = false;
let chosen = {name: '', share: 1, pose: history.doc.pose};  // the pose taken from the list, and its share

/** The typed angles: a rotation has several sets of Euler angles, and the page keeps the typed one. */
let typed: {turn: readonly number[] | undefined; degrees: Degrees} = {turn: undefined, degrees: [0, 0, 0]};
let typing = false;

/** The rotation of the selected joint in degrees; in a flat figure only about the line of sight. */
function turns(): VNode[] {
  const {joint, info, flat, clip} = session;
  if (joint < 0 || clip >= 0 || !info) return [];
  const turn = shownPose()[joint];
  const degrees: Degrees = turn && turn === typed.turn ? typed.degrees : degreesOf(turn ?? [0, 0, 0, 1]);
  const {name} = info.joints[joint];
  return [
    el('p', {class: 'dim'}, `${name}, in degrees about its own axes`),
    el('div', {class: 'turns'}, ...(['x', 'y', 'z'] as const).flatMap((axis, k) => (flat && k < 2 ? [] : [figure(`Turn ${axis}`, 'Arrows step by 5 degrees', Number(degrees[k].toFixed(2)), 5, (d) => {
      degrees[k] = d;
      typed = {turn: turnOf(degrees), degrees: [...degrees]};
      typing = true;
      history.change({pose: {...shownPose(), [joint]: typed.turn as Quaternion}}, `turn ${joint}`);
      typing = false;
    }, () => {
      history.settle();
      draw();
    })]))),
  ];
}

/** The pose of that name, or a share of it. */
function take(name: string, share: number, merge = '') {
  const found = session.opened?.poses.find((p) => p.name === name);
  if (!found) return;
  chosen = {name, share, pose: turnsOf(found.pose, session.info!.joints.length, share, session.base)};
  setClip(-1);
  typing = !!merge;  // keeps the slider that is being dragged
  history.change({pose: chosen.pose}, merge);
  typing = false;
}

function to(pose: Pose) {
  setClip(-1);
  if (session.onTrack || Object.keys(history.doc.pose).length || Object.keys(pose).length) history.change({pose});
}

function draw() {
  const {info, opened, clip} = session;
  if (!info || !opened) return;
  const named = opened.poses.map((p): [string, string] => [p.name, p.name]);
  const parts: VNode[] = [el('h2', {}, 'Pose')];
  if (session.flat) parts.push(el('p', {class: 'dim'}, 'Choose the tool Pose (R). Turn the selected joint by its handle, or type the angle.'));
  else {
    const name = chosen.pose === history.doc.pose && !session.onTrack ? chosen.name : '';
    parts.push(choice('Pose', 'Standard poses of this skeleton', [['', 'by hand'], ...named], name, (n) => take(n, 1)));
    if (name) parts.push(slider('How far', 'From the bind pose to this one, and beyond', {min: 0, max: 1.25, step: 0.05}, chosen.share,
                                (share) => take(name, share, `pose ${name}`), () => {
      history.settle();
      draw();
    }));
  }
  if (info.clips.length) {
    const clips = info.clips.map((c, i): [string, string] => [String(i), c.name || `animation ${i + 1}`]);
    parts.push(choice('Animation', 'The file’s own', [['-1', 'none'], ...clips], String(clip), (v) => setClip(Number(v))));
    if (clip >= 0) {
      const {start, end} = info.clips[clip];
      parts.push(slider('Time', 'Seconds', {min: start, max: end, step: (end - start) / 500 || 0.01}, session.clipTime, (t) => {
        session.clipTime = t;
        request('pose');
      }, () => {}), el('div', {class: 'row'}, button(playing ? 'Stop' : 'Play', 'Play (Space)', togglePlay)));
    }
  }
  parts.push(
    ...turns(),
    choice('Skinning', 'How joints are blended', [['lbs', 'linear blend'], ['dqs', 'dual quaternion']], session.dual ? 'dqs' : 'lbs', (v) => {
      session.dual = v === 'dqs';
      request('pose');
    }),
    el('div', {class: 'row'}, ...(restsBound(session.base) ? [] : [button('Rest pose', 'All joints as the file rests', () => to({}))]),
       button('Bind pose', 'All joints in the bind pose', () => to(boundPose(session.base, info.joints.length))), button('Keep as key', 'On the time line (K)', keepPose, {disabled: clip >= 0 || session.bare})));
  refill(byId('pose-panel'), ...parts);
}

export function togglePlay(): void {
  const {info, clip} = session;
  if (clip < 0 || !info) return;
  playing = !playing;
  draw();
  const {start, end} = info.clips[clip];
  let last = performance.now();
  const step = (now: number) => {
    if (!playing || session.clip !== clip) return;
    session.clipTime += (now - last) / 1000;
    if (session.clipTime > end) session.clipTime = start;
    last = now;
    const scrub = document.querySelector<HTMLInputElement>('#pose-panel input[type=range]');
    if (scrub) scrub.value = String(session.clipTime);
    request('pose');
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

on(['character', 'clip'], () => {
  playing = false;
  draw();
});
on(['bound', 'options'], draw);
on(['selection', 'time'], () => {
  if (!view.handle.turning && !typing) draw();
});
// A pose from the list may be changed by hand or undone.
history.listen((doc, before) => {
  if (doc.pose !== before.pose && !view.handle.turning && !typing) draw();
});

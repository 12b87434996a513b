// Poses: those made for the skeleton, the file's animations, and how joints are blended.
import {button, byId, choice, el, refill, slider} from './dom';
import {ask, history, on, session, setClip, view} from './session';
import type {Quaternion} from './view';

let playing = false;
let chosen = {name: '', pose: history.doc.pose};  // the pose that was taken from the list

/** A pose of ten numbers a joint as what is turned. */
function turnsOf(pose: readonly number[], joints: number): Record<number, Quaternion> {
  const turned: Record<number, Quaternion> = {};
  for (let j = 0; j < joints; ++j) {
    const q = pose.slice(j * 10, j * 10 + 4) as Quaternion;
    if (q[3] !== 1) turned[j] = q;
  }
  return turned;
}

function draw() {
  shown = history.doc.pose;
  const {info, opened, clip} = session;
  if (!info || !opened) return;
  const named = opened.poses.map((p): [string, string] => [p.name, p.name]);
  const parts: HTMLElement[] = [el('h2', {}, 'Pose')];
  if (session.flat) parts.push(el('p', {class: 'dim'}, 'Take the tool Pose (R), and turn the selected joint by its handle.'));
  else parts.push(choice('Pose', 'Poses made for this skeleton', [['', 'by hand'], ...named], chosen.pose === history.doc.pose ? chosen.name : '', (name) => {
    const found = opened.poses.find((p) => p.name === name);
    if (!found) return;
    chosen = {name, pose: turnsOf(found.pose, info.joints.length)};
    setClip(-1);
    history.change({pose: chosen.pose});
  }));
  if (info.clips.length) {
    const clips = info.clips.map((c, i): [string, string] => [String(i), c.name || `animation ${i + 1}`]);
    parts.push(choice('Animation', 'The file’s own', [['-1', 'none'], ...clips], String(clip), (v) => setClip(Number(v))));
    if (clip >= 0) {
      const {start, end} = info.clips[clip];
      parts.push(slider('Time', 'Seconds', {min: start, max: end, step: (end - start) / 500 || 0.01}, session.clipTime, (t) => {
        session.clipTime = t;
        ask('pose');
      }, () => {}), el('div', {class: 'row'}, button(playing ? 'Stop' : 'Play', 'Play (Space)', togglePlay)));
    }
  }
  parts.push(
    choice('Skinning', 'How joints are blended', [['lbs', 'linear blend'], ['dqs', 'dual quaternion']], session.dual ? 'dqs' : 'lbs', (v) => {
      session.dual = v === 'dqs';
      ask('pose');
    }),
    el('div', {class: 'row'}, button('Bind pose', 'All joints as they were bound', () => {
      setClip(-1);
      if (Object.keys(history.doc.pose).length) history.change({pose: {}});
    })));
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
    ask('pose');
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

on(['character', 'clip'], () => {
  playing = false;
  draw();
});
on(['bound', 'options'], draw);
// What was taken from the list may be turned on by hand, or undone.
let shown = history.doc.pose;
on(['selection'], () => {
  if (shown !== history.doc.pose) draw();
});
history.listen((doc, before) => {
  if (doc.pose !== before.pose && !view.turning) draw();
});

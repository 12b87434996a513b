// The strip below the view in Finish: poses as thumbnails, and the automatic sweep through all of them with the damage that each does.
import {button, byId, el, refill, type VNode} from './dom';
import {partOf} from './angles';
import {icon} from './icons';
import {passPose, showOnly} from './showing';
import {client, history, on, session, view} from './state';
import {canEdit, isWorking} from './work';
import {DamageMeter, type Damage} from './places';
import {poseNumbers} from './store';
import {turnsOf, type Turn} from './rest';
import {withJoints} from './surface';
import type {Pose} from './track';
import {wordsOf} from './words';

interface Stop {
  name: string;
  pose: Pose;
  joint: number;  // that it swings; -1: a pose
  own: number;  // among the document's poses; -1: not one of them
}
const SECONDS = 1.4;  // out and back
const SWING = Math.PI / 4;
const LARGE = 150_000;  // vertices, from which joints are not swept one by one
const PAUSE = 500;  // milliseconds without a change, before damage is measured
const THUMB = [66, 78] as const;

const still = matchMedia('(prefers-reduced-motion: reduce)');
let stops: Stop[] = [];
let measured: (Damage | null)[] = [];
let thumbs: (ImageData | null)[] = [];
let playing = false, time = 0;
let swung: readonly number[] = [];  // joints of a card: they alone are swept, before the poses

/** A turn of a joint across its bone. */
function swingOf(joint: number): Turn {
  const {joints} = session.info!;
  const {position, axes} = joints[joint];
  const child = joints.find(({parent}) => parent === joint);
  const along = child ? child.position.map((x, k) => x - position[k]) : axes[1];
  const across = [0, 2, 1].map((k) => ({k, dot: Math.abs(axes[k].reduce((s, x, i) => s + x * along[i], 0))})).sort((a, b) => a.dot - b.dot)[0].k;
  const turn = [0, 0, 0, Math.cos(SWING / 2)] as [number, number, number, number];
  turn[across] = Math.sin(SWING / 2);
  return turn;
}
const swinging = (joint: number): Stop => ({name: session.info!.joints[joint].name, pose: {[joint]: swingOf(joint)}, joint, own: -1});

function makeStops() {
  const {opened, info, rows, base} = session;
  stops = [];
  if (!opened || !info || !rows || !canEdit()) return;
  stops.push(...opened.poses.map(({name, pose}) => ({name: wordsOf(name), pose: turnsOf(pose, info.joints.length, 1, base), joint: -1, own: -1})),
             ...history.doc.poses.map((pose, i) => ({name: `Pose ${i + 1}`, pose, joint: -1, own: i})));
  if (info.counts.vertices < LARGE) {
    const moves = new Set<number>();
    for (let at = 0; at < rows.joints.length; at += rows.width) moves.add(rows.joints[at]);
    stops.push(...info.joints.flatMap((_, j) => (moves.has(j) && info.joints[j].parent >= 0 ? [swinging(j)] : [])));
  }
}

// ---- damage and thumbnails, one pose after the other, while nothing else is computed

let run = 0, timer = 0;
let meter: {of: object; meter: DamageMeter} | null = null;

function later() {
  clearTimeout(timer);
  ++run;
  if (session.step === 'finish' && canEdit()) timer = window.setTimeout(() => void measure(), PAUSE);
}

async function measure() {
  const mine = ++run;
  const {opened, info, base} = session;
  if (!opened || !info) return;
  if (meter?.of !== opened) meter = {of: opened, meter: new DamageMeter(opened.positions, opened.triangles)};
  for (const [i, stop] of stops.entries()) {
    while (isWorking()) {
      await new Promise((resolve) => setTimeout(resolve, 30));
      if (mine !== run) return;
    }
    const posed = await client.deform(await client.matricesOf({joints: poseNumbers(stop.pose, info.joints.length, base)}), session.dual, false);
    if (mine !== run || !posed) return;
    measured[i] = meter.meter.of(posed.positions);
    if (stop.joint < 0) thumbs[i] = withJoints(null, () => view.pictures.thumbnail(...THUMB, {posed: posed.positions}));
    draw();
    await new Promise((resolve) => setTimeout(resolve));
    if (mine !== run) return;
  }
}

// ---- playing

/** What is swept. */
const sweptNow = (): Stop[] => (swung.length ? [...swung.map(swinging), ...stops.filter((s) => s.joint < 0)] : stops);

/** A share of a pose. */
const part = (pose: Pose, share: number): Pose => Object.fromEntries(Object.entries(pose).map(([j, turn]) => [j, partOf([...turn] as Turn & [number, number, number, number], share)]));

function show(stop: Stop, share: number) {
  passPose(share === 1 ? stop.pose : part(stop.pose, share));
}

export function stop(): void {
  playing = false;
  draw();
}

let turn = 0;  // of play(): a frame that an earlier one asked for does nothing

function play() {
  if (playing) return;
  playing = true;
  const mine = ++turn;
  let last = performance.now();
  const step = (now: number) => {
    if (!playing || mine !== turn) return;
    if (session.step !== 'finish') return stop();
    time += Math.max(0, now - last) / 1000;  // the first frame may have begun before this call
    last = now;
    const all = sweptNow();
    if (!all.length) return stop();
    time %= all.length * SECONDS;
    const at = all[Math.floor(time / SECONDS)];
    const phase = (time / SECONDS) % 1;
    // To one side, and for a joint then to the other.
    const share = at.joint >= 0 ? Math.sin(2 * Math.PI * phase) : Math.sin(Math.PI * phase) ** 2;
    show(at, share < 0 ? share : Math.max(share, 1e-3));
    place();
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
  draw();
}

/** Sweeps what a card asks about: its joints out and back, then the poses; none: the pose of the document is shown again, and the sweep
 * is the whole one. By itself only where motion is wanted. */
export function sweepOver(joints: readonly number[]): void {
  stop();
  time = 0;
  passPose(null);
  swung = joints;
  if (joints.length && !still.matches) play();
}

/** Shows a pose at its full extent; with the place that it damages most. */
function jump(i: number, look: boolean) {
  stop();
  if (session.only) showOnly(null);  // the whole result
  swung = [];
  time = (i + (stops[i].joint >= 0 ? 0.25 : 0.5)) * SECONDS;
  show(stops[i], 1);
  const damage = measured[i];
  if (look && damage && damage.stretched + damage.folded > 0) view.eye.lookAt([damage.vertex], 0.12 * sizeOf());
  draw();
}
const sizeOf = () => {
  const [low, high] = session.info!.box;
  return Math.hypot(...low.map((x, k) => high[k] - x));
};

function keepOwn() {
  const pose = {...(session.passing ?? history.doc.pose)};
  if (Object.keys(pose).length) history.change({poses: [...history.doc.poses, pose]});
}

// ---- elements

const Picture = ({data}: {data: ImageData | null | undefined}): VNode => el('canvas', {
  width: THUMB[0], height: THUMB[1], 'aria-hidden': 'true', ref: (canvas: HTMLCanvasElement | null) => data && canvas?.getContext('2d')!.putImageData(data, 0, 0),
});
const percent = (x: number) => `${(100 * x).toFixed(1)} %`;
const titleOf = (i: number) => {
  const damage = measured[i];
  return damage ? `${stops[i].name}: ${percent(damage.stretched)} stretched, ${percent(damage.folded)} folded` : stops[i].name;
};

/** Where the sweep is. */
function place() {
  const head = document.getElementById('sweep-head');
  const at = sweptNow()[Math.floor(time / SECONDS)];
  const bar = at ? stops.findIndex((s) => s.joint === at.joint && s.name === at.name) : 0;
  if (head) head.style.left = `${(100 * (bar + (time / SECONDS) % 1)) / Math.max(stops.length, 1)}%`;
}

function draw() {
  const box = byId('sweep');
  box.hidden = session.step !== 'finish' || !stops.length;
  if (box.hidden) return;
  const most = Math.max(0.01, ...measured.map((d) => (d ? d.stretched + d.folded : 0)));
  refill(box,
    el('div', {class: 'poses'},
      el('button', {type: 'button', class: 'pose', title: 'As the file rests', onClick: () => (stop(), passPose({}))}, el('span', {class: 'rest'}, icon('pose')), 'Rest'),
      ...stops.flatMap((s, i) => (s.joint >= 0 ? [] : [el('button', {
        key: `pose ${i}`, type: 'button', class: 'pose', title: titleOf(i), 'aria-pressed': session.passing === s.pose, onClick: () => jump(i, false),
      }, el(Picture as never, {data: thumbs[i]}), s.name)])),
      button('Add', 'The pose of Pose as one of these', keepOwn, {class: 'pose', disabled: !session.passing && !Object.keys(history.doc.pose).length})),
    el('div', {class: 'damage'},
      el('button', {type: 'button', id: 'sweep-play', title: playing ? 'Stop the sweep' : 'Sweep through all poses, and each joint out and back', 'aria-label': playing ? 'Stop the sweep' : 'Sweep',
                    onClick: () => (playing ? stop() : play())}, icon(playing ? 'stop' : 'play')),
      el('div', {class: 'bars', role: 'group', 'aria-label': 'Damage in each pose: a click shows the place'}, ...stops.map((_, i) => {
        const damage = measured[i];
        const height = (x: number) => `height:${damage ? Math.round((100 * x) / most) : 0}%`;
        return el('button', {key: i, type: 'button', tabIndex: i ? -1 : 0, title: titleOf(i), 'aria-label': titleOf(i), onClick: () => jump(i, true), onKeyDown: (event: KeyboardEvent) => {
          const to = {ArrowRight: (event.currentTarget as Element).nextElementSibling, ArrowLeft: (event.currentTarget as Element).previousElementSibling}[event.key];
          if (to instanceof HTMLButtonElement) to.focus(), event.stopPropagation(), event.preventDefault();
        }}, el('i', {class: 'folded', style: height(damage?.folded ?? 0)}), el('i', {class: 'stretched', style: height(damage?.stretched ?? 0)}));
      }), el('b', {id: 'sweep-head'})),
      el('span', {class: 'key'}, el('i', {class: 'stretched'}), 'stretched'), el('span', {class: 'key'}, el('i', {class: 'folded'}), 'folded')));
  place();
}

function renew() {
  makeStops();
  measured = measured.slice(0, stops.length);
  draw();
  later();
}
let entered = false;
on(['character'], () => {
  stop();
  swung = [];
  measured = [];
  thumbs = [];
  time = 0;
});
on(['character', 'bound', 'weights', 'tool'], () => {
  renew();
  const here = session.step === 'finish' && stops.length > 0;
  // Motion begins by itself where the machine can draw it.
  if (here && !entered && !still.matches && (view.stage.card || session.info!.counts.vertices < 60_000)) play();
  entered = here;
});
on(['interrupt'], stop);
history.listen((doc, before) => {
  if (doc.poses !== before.poses) renew();
  else if (doc.pose !== before.pose) draw();
});

// The time line below the view. Poses are kept as keys, moved and played. They are exported as an animation.
import {button, byId, check, choice, el, entry, refill, type VNode} from './dom';
import {setTime} from './showing';
import {history, on, session, notify} from './state';
import {request, shownPose} from './work';
import {keyAt, onGrid, played, withKey, withLength, withMovedKey, withoutKey, type Track} from './track';

let open = false;
let playing = false;
let loop = true;

const box = byId('timeline');
const track = () => history.doc.track;
const change = (next: Track, merge = '') => history.change({track: next}, merge);
const seconds = (t: number) => `${t.toFixed(2)} s`;
/** Nothing can be posed while a skeleton is drawn. */
const usable = () => !!session.opened && !session.bare && session.tool !== 'draw';

export const timelineShown = () => open;
export function toggleTimeline(): void {
  if (usable()) show(!open);
}
function show(next: boolean) {
  if (open === next) return;
  open = next;
  if (!open) playing = false;
  notify('timeline');
}

/** Keeps the pose that is shown as a key at the current time. */
export function keepPose(): void {
  if (!usable() || session.clip >= 0) return;
  show(true);
  const pose = {...shownPose()};
  // The pose is set too, so that undo shows it again.
  history.change({track: withKey(track(), session.time, pose), pose});
  setTime(onGrid(session.time, track().length));
}

function removeKey(key: number) {
  if (key < 0) return;
  change(withoutKey(track(), key));
  if (!track().keys.length) setTime(null);
}

export function toggleTrack(): void {
  if (!usable() || !track().keys.length) return;
  show(true);
  if (playing) return stop();
  playing = true;
  draw();
  setTime(session.time >= track().length ? 0 : session.time);
  let last = performance.now();
  const step = (now: number) => {
    if (!playing) return;
    const next = played(session.time, (now - last) / 1000, track().length, loop);
    last = now;
    session.time = next.time;
    request('pose');
    if (next.ended) {
      stop();
    } else {
      draw();
      requestAnimationFrame(step);
    }
  };
  requestAnimationFrame(step);
}

function stop() {
  if (!playing) return;
  playing = false;
  session.time = onGrid(session.time, track().length);
  notify('time');
}

// ---- by the pointer and by keys; the strip captures the pointer while a key is dragged

let dragged = -1, moved = false;
const marks = () => byId('track-marks');
const timeAt = (x: number) => {
  const {left, width} = marks().getBoundingClientRect();
  return ((x - left) / width) * track().length;
};
const markOf = (event: Event) => [...marks().children].indexOf(event.target as Element);
function grab(event: PointerEvent) {
  const key = markOf(event);
  if (key < 0 || event.button !== 0) return;
  stop();
  dragged = key;
  moved = false;
  marks().setPointerCapture(event.pointerId);
  setTime(track().keys[key].time);
}
function drag(event: PointerEvent) {
  if (dragged < 0) return;
  const next = withMovedKey(track(), dragged, timeAt(event.clientX));
  if (next.keys[dragged].time === track().keys[dragged].time) return;
  moved = true;
  change(next, `key ${dragged}`);
  setTime(next.keys[dragged].time);
}
function letGo() {
  if (dragged >= 0 && moved) history.settle();
  dragged = -1;
}
on(['interrupt'], letGo);
// Enter or Space on a key. A click of the pointer has already set the time.
function press(event: MouseEvent) {
  const key = markOf(event);
  if (key >= 0 && event.detail === 0) setTime(track().keys[key].time);
}
function byKey(event: KeyboardEvent) {
  const key = markOf(event);
  if (key < 0) return;
  const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
  if (by) {
    change(withMovedKey(track(), key, track().keys[key].time + by * (event.shiftKey ? 0.1 : 0.01)), `key ${key}`);
    setTime(track().keys[key].time);
  } else if (event.key === 'Delete' || event.key === 'Backspace') {
    removeKey(key);
    ((marks().children[Math.min(key, track().keys.length - 1)] as HTMLElement | undefined) ?? byId('track-scrub')).focus();
  } else {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}

// ---- elements

/** At most about a dozen, at round times. */
function ticks(length: number): VNode[] {
  const step = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60].find((s) => length / s <= 12) ?? 120;
  return Array.from({length: Math.floor(length / step + 1e-6) + 1}, (_, i) =>
    el('span', {style: `left:${(100 * i * step) / length}%`}, String(Number((i * step).toFixed(2)))));
}

function draw() {
  box.hidden = !open || !usable();
  if (box.hidden) return;
  const {name, step, length, keys} = track();
  const here = keyAt(track(), session.time);
  refill(box,
    el('div', {class: 'controls'},
      button(playing ? 'Stop' : 'Play', 'Play or stop (Space)', toggleTrack, {key: 'play', id: 'track-play', disabled: !keys.length}),
      button('Add key', 'The shown pose, at this time (K)', keepPose, {id: 'track-add', disabled: session.clip >= 0}),
      button('Delete key', 'The key at this time', () => removeKey(keyAt(track(), session.time)), {id: 'track-delete', disabled: here < 0}),
      el('output', {id: 'track-time', value: `${session.time.toFixed(2)} / ${seconds(length)}`}),
      el('span', {class: 'fields'},
        choice('Between', 'Between keys: joints turn evenly, or hold until the next', [['linear', 'linear'], ['step', 'step']], step ? 'step' : 'linear',
               (v) => change({...track(), step: v === 'step'})),
        check('Loop', 'Play from the beginning again', loop, (v) => (loop = v)),
        entry('Length', 'In seconds; not before the last key', String(length), (v) => {
          const next = withLength(track(), Number(v.replace(',', '.')) || length);
          change({...next});
          if (session.time > next.length) setTime(next.length);
        }),
        entry('Name', 'Of the animation in the exported file', name, (v) => change({...track(), name: v || 'Studio'})))),
    el('div', {class: 'strip'},
      el('div', {class: 'ticks', 'aria-hidden': 'true'}, ...ticks(length)),
      el('div', {id: 'track-marks', class: 'marks', onPointerDown: grab, onPointerMove: drag, onPointerUp: letGo, onPointerCancel: letGo, onClick: press,
                 onKeyDown: byKey, onfocusout: () => history.settle()},
        ...keys.map(({time}, i) => el('button', {
          type: 'button', class: 'mark', style: `left:${(100 * time) / length}%`, title: `Key at ${seconds(time)}: drag it, or move it by arrows`,
          'aria-label': `Key at ${seconds(time)}`, 'aria-pressed': session.onTrack && i === here,
        }))),
      el('input', {id: 'track-scrub', type: 'range', min: 0, max: length, step: 0.01, value: session.time, title: 'Time, in seconds',
                   'aria-label': 'Time on the time line', onInput: (event: Event) => {
        stop();
        setTime((event.currentTarget as HTMLInputElement).valueAsNumber);
      }})));
}

on(['character', 'bound', 'tool', 'clip', 'time', 'timeline'], () => {
  if (!session.onTrack || !usable()) playing = false;
  draw();
});
history.listen((doc, before) => {
  if (doc.pose !== before.pose) playing = false;  // a pose by hand is shown at once
  if (session.time > doc.track.length) session.time = doc.track.length;
  if (doc.track !== before.track || doc.pose !== before.pose) draw();
});

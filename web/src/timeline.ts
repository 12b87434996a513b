// The time line below the view. Poses are kept as keys, moved and played. They are exported as an animation.
import {button, byId, check, choice, el, entry} from './dom';
import {request, history, on, session, setTime, shownPose, notify} from './session';
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
      place();
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

// ---- elements are created once, so that a dragged or focused key survives a redraw

const play = button('Play', 'Play or stop (Space)', toggleTrack, {id: 'track-play'});
const keep = button('Add key', 'The shown pose, at this time (K)', keepPose, {id: 'track-add'});
const remove = button('Delete key', 'The key at this time', () => removeKey(keyAt(track(), session.time)), {id: 'track-delete'});
const now = el('output', {id: 'track-time'});
const fields = el('span', {class: 'fields'});
const marks = el('div', {class: 'marks'});
const ticks = el('div', {class: 'ticks', 'aria-hidden': 'true'});
const scrub = el('input', {id: 'track-scrub', type: 'range', min: '0', step: '0.01', title: 'Time, in seconds', 'aria-label': 'Time on the time line'});
const strip = el('div', {class: 'strip'}, ticks, marks, scrub);
box.append(el('div', {class: 'controls'}, play, keep, remove, now, fields), strip);

scrub.addEventListener('input', () => {
  stop();
  setTime(scrub.valueAsNumber);
});

// The strip captures the pointer while a key is dragged.
let dragged = -1, moved = false;
const timeAt = (x: number) => {
  const {left, width} = marks.getBoundingClientRect();
  return ((x - left) / width) * track().length;
};
const markOf = (target: EventTarget | null) => [...marks.children].indexOf(target as Element);
marks.addEventListener('pointerdown', (event) => {
  const key = markOf(event.target);
  if (key < 0 || event.button !== 0) return;
  stop();
  dragged = key;
  moved = false;
  marks.setPointerCapture(event.pointerId);
  setTime(track().keys[key].time);
});
marks.addEventListener('pointermove', (event) => {
  if (dragged < 0) return;
  const next = withMovedKey(track(), dragged, timeAt(event.clientX));
  if (next.keys[dragged].time === track().keys[dragged].time) return;
  moved = true;
  change(next, `key ${dragged}`);
  setTime(next.keys[dragged].time);
});
function letGo() {
  if (dragged >= 0 && moved) history.settle();
  dragged = -1;
}
on(['interrupt'], letGo);
marks.addEventListener('pointerup', letGo);
marks.addEventListener('pointercancel', letGo);
// Enter or Space on a key. A click of the pointer has already set the time.
marks.addEventListener('click', (event) => {
  const key = markOf(event.target);
  if (key >= 0 && event.detail === 0) setTime(track().keys[key].time);
});
marks.addEventListener('keydown', (event) => {
  const key = markOf(event.target);
  if (key < 0) return;
  const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
  if (by) {
    change(withMovedKey(track(), key, track().keys[key].time + by * (event.shiftKey ? 0.1 : 0.01)), `key ${key}`);
    setTime(track().keys[key].time);
  } else if (event.key === 'Delete' || event.key === 'Backspace') {
    removeKey(key);
    ((marks.children[Math.min(key, marks.children.length - 1)] as HTMLElement | undefined) ?? scrub).focus();
  } else {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
});
marks.addEventListener('focusout', () => history.settle());

/** Shows the current time. While playing nothing else is redrawn. */
function place() {
  scrub.valueAsNumber = session.time;
  now.value = `${session.time.toFixed(2)} / ${seconds(track().length)}`;
}

function drawMarks() {
  const {keys, length} = track();
  while (marks.children.length > keys.length) marks.lastElementChild!.remove();
  while (marks.children.length < keys.length) marks.append(el('button', {type: 'button', class: 'mark'}));
  const here = session.onTrack ? keyAt(track(), session.time) : -1;
  keys.forEach(({time}, i) => {
    const mark = marks.children[i] as HTMLButtonElement;
    mark.style.left = `${(100 * time) / length}%`;
    mark.title = `Key at ${seconds(time)}: drag it, or move it by arrows`;
    mark.setAttribute('aria-label', `Key at ${seconds(time)}`);
    mark.setAttribute('aria-pressed', String(i === here));
  });
}

function drawTicks(length: number) {
  // At most about a dozen, at round times.
  const step = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60].find((s) => length / s <= 12) ?? 120;
  ticks.replaceChildren(...Array.from({length: Math.floor(length / step + 1e-6) + 1}, (_, i) =>
    el('span', {style: `left:${(100 * i * step) / length}%`}, String(Number((i * step).toFixed(2))))));
}

let drawn: Track | null = null;
function draw() {
  box.hidden = !open || !usable();
  if (box.hidden) return;
  const {name, step, length, keys} = track();
  play.textContent = playing ? 'Stop' : 'Play';
  play.disabled = !keys.length;
  keep.disabled = session.clip >= 0;
  remove.disabled = keyAt(track(), session.time) < 0;
  scrub.max = String(length);
  place();
  drawMarks();
  if (drawn?.length !== length || !ticks.children.length) drawTicks(length);
  const same = drawn && drawn.name === name && drawn.step === step && drawn.length === length;
  drawn = track();
  if (same && fields.children.length) return;
  // The focused field keeps the focus.
  const at = [...fields.querySelectorAll('input, select')].indexOf(document.activeElement!);
  fields.replaceChildren(
    choice('Between', 'Between keys: joints turn evenly, or hold until the next', [['linear', 'linear'], ['step', 'step']], step ? 'step' : 'linear',
           (v) => change({...track(), step: v === 'step'})),
    check('Loop', 'Play from the beginning again', loop, (v) => (loop = v)),
    entry('Length', 'In seconds; not before the last key', String(length), (v) => {
      const next = withLength(track(), Number(v.replace(',', '.')) || length);
      change({...next});
      if (session.time > next.length) setTime(next.length);
    }),
    entry('Name', 'Of the animation in the exported file', name, (v) => change({...track(), name: v || 'Studio'})),
  );
  if (at >= 0) fields.querySelectorAll<HTMLElement>('input, select')[at]?.focus();
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

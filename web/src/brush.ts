// Painting: the brush, the list of changes by hand, and the strokes themselves.
import {button, byId, choice, el, slider} from './dom';
import {history, on, session, view} from './session';
import type {Edit, Sphere} from './store';

const nameOf = (e: Edit) =>
  e.op === 'mirror' ? `mirror from ${e.from}` : e.op === 'smooth' ? 'smooth'
  : e.op === 'replace' ? `${e.joints} to ${e.with}` : `${e.op} ${e.value} ${e.joint}`;

function draw() {
  const {info, bound, joint, tool, brush} = session;
  if (!info) return;
  const box = byId('paint-panel');
  if (!bound) {
    box.replaceChildren(el('h2', {}, 'Paint'), el('p', {class: 'dim'}, 'Bind first: the brush changes what was bound.'));
    return;
  }
  const name = joint >= 0 ? info.joints[joint].name : null;
  const [low, high] = info.box;
  const size = Math.hypot(...low.map((x, k) => high[k] - x));
  box.replaceChildren(
    el('h2', {}, 'Paint'),
    el('p', {class: 'dim'}, tool !== 'paint' ? 'Take the tool Paint (P) to use the brush.'
                            : name ? `Drag over the character to change the weight of ${name}.` : 'Select a joint to paint.'),
    choice('Brush', 'What a stroke does', [['add', 'add'], ['set', 'set'], ['smooth', 'smooth']], brush.op, (v) => {
      brush.op = v as typeof brush.op;
      draw();
    }),
    ...(brush.op === 'smooth' ? [] : [slider(brush.op === 'add' ? 'Adds' : 'Weight', 'Of the selected joint',
        {min: brush.op === 'add' ? -1 : 0, max: 1, step: 0.05}, brush.value, (v) => (brush.value = v), () => {})]),
    slider('Radius', 'In the units of the file', {min: size / 400, max: size / 8, step: size / 400},
           Number(brush.radius.toPrecision(3)), (v) => (brush.radius = v), () => {}),
    el('div', {class: 'row'}, ...(['left', 'right'] as const).map((side) =>
      button(`Mirror from ${side}`, `The other side gets what the ${side} has`, () =>
        history.change({edits: [...history.doc.edits, {op: 'mirror', from: side}]})))),
    el('ul', {id: 'edit-list'}, ...history.doc.edits.map((e, i) =>
      el('li', {}, el('span', {}, nameOf(e)), button('Remove', 'Takes this change away', () =>
        history.change({edits: history.doc.edits.filter((_, k) => k !== i)}))))),
  );
}

// ---- strokes: spheres along the pointer's way, one change of the document

let stroke: Sphere[] | null = null;

/** Whether a stroke begins there: it does not beside the character. */
export function beginStroke(x: number, y: number): boolean {
  const {tool, bound, stale, brush, joint} = session;
  if (tool !== 'paint' || !bound || stale || (brush.op !== 'smooth' && joint < 0) || !view.surfaceAt(x, y)) return false;
  history.settle();
  stroke = [];
  continueStroke(x, y);
  return true;
}

export function continueStroke(x: number, y: number): void {
  const {brush, joint, info} = session;
  const hit = stroke && view.surfaceAt(x, y);
  if (!hit || !stroke) return;
  const last = stroke[stroke.length - 1]?.sphere.center;
  if (last && Math.hypot(...last.map((c, k) => c - hit.bind[k])) < brush.radius / 3) return;
  stroke.push({sphere: {center: hit.bind, radius: brush.radius}});
  const select = [...stroke];
  const edit: Edit = brush.op === 'smooth' ? {op: 'smooth', length: brush.radius, select}
                                           : {op: brush.op, joint: info!.joints[joint].name, value: brush.value, select};
  const edits = history.doc.edits;
  history.change({edits: select.length > 1 ? [...edits.slice(0, -1), edit] : [...edits, edit]}, 'stroke');
}

/** Whether there was one. */
export function endStroke(): boolean {
  const was = stroke !== null;
  stroke = null;
  if (was) history.settle();
  return was;
}

on(['character', 'bound', 'options', 'selection', 'tool'], draw);
history.listen((doc, before) => {
  if (doc.edits !== before.edits) draw();
});

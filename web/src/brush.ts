// Edits by hand: the brush and its limits, strokes, and the list of edits.
import {button, byId, choice, el, refill, slider} from './dom';
import {hideError, showError} from './messages';
import {shapeOfFalloff} from './options';
import {history, on, session, view, type BrushOp} from './session';
import type {Edit, Selection, Where} from './store';

const OPS: [BrushOp, string][] = [
  ['add', 'add weight'],
  ['set', 'set weight'],
  ['smooth', 'smooth'],
  ['replace', 'give weight away'],
  ['hardness', 'hardness'],
  ['rigid', 'rigid'],
];
const needsJoint = (op: BrushOp) => op === 'add' || op === 'set' || op === 'rigid' || op === 'replace';
const quotedPattern = (name: string) => name.replace(/[*?]/g, '?');  // wildcards in an edit list
/** Whether the brush lacks a joint. */
const lacks = () => (needsJoint(session.brush.op) && session.joint < 0) || (session.brush.op === 'replace' && !session.brush.to);

function whereOf(select: Selection | undefined): string {
  const {mesh, material, sphere} = select?.[0] ?? {};
  return (mesh ?? material ? ` on ${mesh ?? material}` : '') + (select && !sphere ? ', all of it' : '');
}
function nameOf(e: Edit): string {
  if (e.op === 'mirror') return `mirror from ${e.from}`;
  if (e.op === 'other') return `${e.entry.op ?? e.list} of the file`;
  if (e.op === 'replace') return `${e.joints} to ${e.with}${whereOf(e.select)}`;
  const what = e.op === 'smooth' ? 'smooth' : e.op === 'hardness' ? `hardness ${e.value}`
    : e.op === 'rigid' ? `rigid with ${e.joint}` : `${e.op} ${e.value} ${e.joint}`;
  return what + whereOf(e.select);
}

/** The brush as an edit of a selection. */
function editOf(select: Selection): Edit {
  const {brush, joint, info} = session;
  const {op, values, radius} = brush;
  const name = joint >= 0 ? info!.joints[joint].name : '';
  if (op === 'smooth') return {op, length: radius, select};
  if (op === 'replace') return {op, joints: quotedPattern(name), with: brush.to, select};
  if (op === 'hardness') return {op, value: values.hardness, select};
  return op === 'rigid' ? {op, joint: name, select} : {op, joint: name, value: values[op], select};
}

/** The limit of the brush, as a key of a selection. */
function kept(): Where {
  const [, kind, name] = /^(mesh|material) (.*)$/s.exec(session.brush.on) ?? [];
  return kind ? {[kind]: name} : {};
}

/** Meshes and materials of the file, where there are several to choose from. */
function surfaces(): [string, string][] {
  const {primitives} = session.info!;
  const names = (kind: 'mesh' | 'material', of: (p: (typeof primitives)[0]) => string): [string, string][] => {
    const all = [...new Set(primitives.map(of).filter(Boolean))];
    return all.length > 1 ? all.map((n) => [`${kind} ${n}`, `${kind}: ${n}`]) : [];
  };
  return [...names('material', (p) => p.material_name), ...names('mesh', (p) => p.mesh)];
}

function sliders(): HTMLElement[] {
  const {brush, info, joint} = session;
  const {op, values} = brush;
  const [low, high] = info!.box;
  const size = Math.hypot(...low.map((x, k) => high[k] - x));
  const value = (name: string, help: string, range: {min: number; max: number; step: number}, of: keyof typeof values) =>
    slider(name, help, range, values[of], (v) => (values[of] = v), () => {});
  const {name, min, max, step} = shapeOfFalloff();
  return [
    ...(op === 'add' ? [value('Adds', 'To the weight of the selected joint', {min: -1, max: 1, step: 0.05}, 'add')] : []),
    ...(op === 'set' ? [value('Weight', 'Of the selected joint', {min: 0, max: 1, step: 0.05}, 'set')] : []),
    ...(op === 'hardness' ? [value(`${name} here`, 'Replaces the general value here; joints with their own value count less', {min, max, step}, 'hardness')] : []),
    ...(op === 'replace' ? [choice('Gives to', 'The joint that takes the weight of the selected one', [['', 'choose a joint'],
      ...info!.joints.flatMap((j, i): [string, string][] => (j.deforms && i !== joint ? [[j.name, j.name]] : []))], brush.to, (to) => {
      brush.to = to;
      draw();
    })] : []),
    slider('Radius', 'In the units of the file', {min: size / 400, max: size / 8, step: size / 400},
           Number(brush.radius.toPrecision(3)), (v) => (brush.radius = v), () => {}),
  ];
}

function hint(): string {
  const {tool, joint, info, brush} = session;
  if (tool !== 'paint') return 'Choose the tool Paint (P) to use the brush.';
  if (!needsJoint(brush.op)) return 'Drag over the character.';
  if (joint < 0) return 'Select a joint to paint.';
  const {name} = info!.joints[joint];
  if (brush.op === 'replace') return brush.to ? `Drag over the character to move weight from ${name} to ${brush.to}.` : `Choose the joint that takes the weight of ${name}.`;
  return brush.op === 'rigid' ? `Drag over the character: painted vertices follow only ${name}.`
                              : `Drag over the character to change the weight of ${name}.`;
}

function draw() {
  const {info, bound, brush} = session;
  if (!info) return;
  const box = byId('paint-panel');
  if (session.flat) return box.replaceChildren();
  if (!bound) {
    refill(box, el('h2', {}, 'Paint'), el('p', {class: 'dim'}, 'Bind first: the brush changes the new weights.'));
    return;
  }
  const parts = surfaces();
  const edits = (next: readonly Edit[]) => history.change({edits: next});
  refill(box,
    el('h2', {}, 'Paint'),
    el('p', {class: 'dim'}, hint()),
    choice('Brush', 'The effect of a stroke', OPS, brush.op, (v) => {
      brush.op = v as BrushOp;
      draw();
    }),
    ...sliders(),
    ...(parts.length ? [choice('Only on', 'The parts that the brush may change', [['', 'everything'], ...parts], brush.on, (v) => {
      brush.on = v;
      draw();
    })] : []),
    ...(brush.on ? [el('div', {class: 'row'}, button('All of it', 'The whole surface, without a stroke', () =>
      edits([...history.doc.edits, editOf([kept()])]), {id: 'paint-all', disabled: lacks()}))] : []),
    el('div', {class: 'row'}, ...(['left', 'right'] as const).map((side) =>
      button(`Mirror from ${side}`, `Copies the ${side} side to the other side`, () =>
        edits([...history.doc.edits, {op: 'mirror', from: side}])))),
    ...(history.doc.edits.length ? [el('details', {}, el('summary', {}, `Edits by hand: ${history.doc.edits.length}`),
      el('ul', {id: 'edit-list'}, ...history.doc.edits.map((e, i) =>
        el('li', {}, el('span', {}, nameOf(e)), button('Remove', 'Removes this change', () =>
          edits(history.doc.edits.filter((_, k) => k !== i)))))))] : []),
  );
}

// ---- strokes: spheres along the path of the pointer, one change of the document

let stroke: (Where & {sphere: NonNullable<Where['sphere']>})[] | null = null;

/** Whether a stroke begins there: not beside the character. */
export function beginStroke(x: number, y: number): boolean {
  const {tool, bound, stale} = session;
  if (tool !== 'paint' || !bound || stale || lacks() || !view.surfaceAt(x, y)) return false;
  if (view.isBeside(x)) {
    if (view.jointAt(x, y) < 0) showError(new Error('this side shows the file’s own weights, which stay as they are: paint on the other side'));
    return false;
  }
  hideError();
  history.settle();
  stroke = [];
  continueStroke(x, y);
  return true;
}

export function continueStroke(x: number, y: number): void {
  const {radius} = session.brush;
  const hit = stroke && view.surfaceAt(x, y);
  if (!hit || !stroke) return;
  const last = stroke[stroke.length - 1]?.sphere.center;
  if (last && Math.hypot(...last.map((c, k) => c - hit.bind[k])) < radius / 3) return;
  stroke.push({sphere: {center: hit.bind, radius}, ...kept()});
  const edit = editOf([...stroke]);
  const edits = history.doc.edits;
  history.change({edits: stroke.length > 1 ? [...edits.slice(0, -1), edit] : [...edits, edit]}, 'stroke');
}

/** Whether there was one. */
export function endStroke(): boolean {
  const was = stroke !== null;
  stroke = null;
  if (was) history.settle();
  return was;
}

on(['interrupt'], () => endStroke());
on(['character', 'bound', 'options', 'selection', 'tool'], draw);
history.listen((doc, before) => {
  if (doc.edits !== before.edits) draw();
});

// Edits by hand: the brush and its limits, strokes, and the list of edits.
import {button, byId, check, choice, el, refill, slider, type VNode} from './dom';
import {hideError, notice, showError} from './messages';
import {shapeOfFalloff} from './options';
import {bind, startFromFile} from './session';
import {selectJoint} from './showing';
import {history, on, session, view, type BrushOp} from './state';
import {canEdit} from './work';
import {quotedPattern, type Curve, type Edit, type Selection, type Triple, type Where} from './store';

const OPS: [BrushOp, string][] = [
  ['add', 'add weight'],
  ['set', 'replace weight'],
  ['scale', 'scale weight'],
  ['smooth', 'smooth'],
  ['relax', 'relax along the surface'],
  ['sharpen', 'sharpen'],
  ['replace', 'give weight to another joint'],
  ['sample', 'sample a weight'],
  ['hardness', 'hardness'],
  ['rigid', 'rigid'],
];
const CURVES: [Curve, string][] = [['smooth', 'smooth'], ['linear', 'linear'], ['sharp', 'sharp'], ['dome', 'dome'], ['constant', 'constant']];
const needsJoint = (op: BrushOp) => ['add', 'set', 'scale', 'rigid', 'replace'].includes(op);
/** These change the measured values, before all edits of weights: their strokes are spheres. */
const isMeasured = (op: BrushOp) => op === 'hardness' || op === 'rigid';
/** Whether the brush lacks a joint. */
const lacks = () => (needsJoint(session.brush.op) && session.joint < 0) || (session.brush.op === 'replace' && !session.brush.to);

/** How keys change a stroke that begins: Shift smooths, Ctrl inverts. */
export interface Held {
  shift: boolean;
  control: boolean;
}
const NO_KEYS: Held = {shift: false, control: false};

/** The brush as an edit of a selection. */
function editOf(select: Selection, {shift, control} = NO_KEYS): Edit {
  const {brush, joint, info} = session;
  const {values, radius} = brush;
  let op = shift && !isMeasured(brush.op) ? 'smooth' : brush.op;
  if (control && (op === 'smooth' || op === 'relax')) op = 'sharpen';
  else if (control && op === 'sharpen') op = 'smooth';
  const name = joint >= 0 ? info!.joints[joint].name : '';
  const {held} = history.doc;
  const painted = {select, ...(held.length ? {locked: held.map(quotedPattern)} : {}), ...(brush.symmetric && select[0].brush ? {symmetric: true as const} : {})};
  switch (op) {
    case 'smooth': return {op, length: radius * values.smooth, ...painted};
    case 'relax': return {op, steps: values.relax, ...painted};
    case 'sharpen': return {op, ...painted};
    case 'replace': return {op, joints: quotedPattern(name), with: brush.to, ...painted};
    case 'scale': return {op, joints: quotedPattern(name), value: control ? (values.scale > 0 ? Math.min(1 / values.scale, 100) : 100) : values.scale, ...painted};
    case 'hardness': return {op, value: values.hardness, select};
    case 'rigid': return {op, joint: name, select};
    case 'set': return {op, joint: name, value: control ? 0 : values.set, ...painted};
    default: return {op: 'add', joint: name, value: control ? -values.add : values.add, ...painted};
  }
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

const sizeOfModel = () => {
  const [low, high] = session.info!.box;
  return Math.hypot(...low.map((x, k) => high[k] - x));
};

/** A larger or smaller brush, by a step. */
export function resize(by: number): void {
  if (session.tool !== 'paint' || !session.info) return;
  const size = sizeOfModel();
  session.brush.radius = Math.min(Math.max(session.brush.radius * 1.15 ** by, size / 2000), size / 4);
  draw();
  view.ring.resize(session.brush.radius);
}

function sliders(): VNode[] {
  const {brush, info, joint} = session;
  const {op, values} = brush;
  const size = sizeOfModel();
  const value = (name: string, help: string, range: {min: number; max: number; step: number}, of: keyof typeof values) =>
    slider(name, help, range, values[of], (v) => (values[of] = v), () => {});
  const {name, min, max, step} = shapeOfFalloff();
  const flag = (label: string, help: string, of: 'pressure' | 'front' | 'through' | 'symmetric') =>
    check(label, help, brush[of], (on) => (brush[of] = on));
  return [
    ...(op === 'add' ? [value('Adds', 'To the weight of the selected joint; Ctrl takes it away', {min: -1, max: 1, step: 0.05}, 'add')] : []),
    ...(op === 'set' ? [value('Weight', 'Of the selected joint; with Ctrl 0', {min: 0, max: 1, step: 0.05}, 'set')] : []),
    ...(op === 'scale' ? [value('Times', 'The weight of the selected joint; Ctrl divides', {min: 0, max: 4, step: 0.05}, 'scale')] : []),
    ...(op === 'smooth' ? [value('Over', 'The length over which weights are averaged, as a fraction of the radius', {min: 0.05, max: 1, step: 0.05}, 'smooth')] : []),
    ...(op === 'relax' ? [value('Steps', 'Each takes rows half of the way to the mean of their neighbours', {min: 1, max: 32, step: 1}, 'relax')] : []),
    ...(op === 'hardness' ? [value(`${name} here`, 'Replaces the general value here; joints with their own value count less', {min, max, step}, 'hardness')] : []),
    ...(op === 'replace' ? [choice('Gives to', 'The joint that takes the weight of the selected one', [['', 'choose a joint'],
      ...info!.joints.flatMap((j, i): [string, string][] => (j.deforms && i !== joint ? [[j.name, j.name]] : []))], brush.to, (to) => {
      brush.to = to;
      draw();
    })] : []),
    ...(op === 'sample' ? [] : [slider('Radius', 'In the units of the file ([ and ])', {min: size / 400, max: size / 8, step: size / 400},
           Number(brush.radius.toPrecision(3)), (v) => (brush.radius = v), () => {})]),
    ...(isMeasured(op) || op === 'sample' ? [] : [
      slider('Strength', 'The strength of the effect in the middle of the brush', {min: 0.05, max: 1, step: 0.05}, brush.strength, (v) => (brush.strength = v), () => {}),
      choice('Curve', 'How the effect falls off towards the rim', CURVES, brush.curve, (v) => (brush.curve = v as Curve)),
      el('details', {}, el('summary', {}, 'Reach of the brush'),
        flag('Only surface that faces you', 'Vertices whose normals point away stay as they are', 'front'),
        flag('Through gaps', 'Also what is within the radius, but not connected there', 'through'),
        flag('Both sides', 'The same on the other side, with the partners of the joints', 'symmetric'),
        flag('Pressure of the pen', 'A pen that is pressed less has less effect', 'pressure')),
    ]),
  ];
}

/** Why the brush cannot paint; empty: it can. */
function obstacle(): string {
  const {brush, joint, info, bound, stale} = session;
  if (!canEdit()) return stale ? 'Options changed since the bind: bind again, then paint.' : bound ? 'These weights cannot be painted.' : 'Bind first: the brush changes the new weights.';
  if (joint < 0 && needsJoint(brush.op)) return 'Select a joint to paint.';
  return brush.op === 'replace' && !brush.to ? `Choose the joint that takes the weight of ${info!.joints[joint].name}.` : '';
}

function hint(): string {
  const {joint, info, brush} = session;
  if (obstacle()) return obstacle();
  if (brush.op === 'sample') return 'Click: the weight there becomes that of the brush.';
  if (!needsJoint(brush.op)) return 'Drag over the character.';
  const {name} = info!.joints[joint];
  if (brush.op === 'replace') return `Drag over the character to move weight from ${name} to ${brush.to}.`;
  return brush.op === 'rigid' ? `Drag over the character: painted vertices follow only ${name}.`
                              : `Drag over the character to change the weight of ${name}.`;
}

const toBind = () => el('div', {class: 'row'}, button('Bind', 'Compute weights (B)', () => void bind(), {class: 'primary'}),
  session.opened!.ownRows && button('Start from the file’s weights', 'Without a bind', startFromFile));

function draw() {
  const {info, brush} = session;
  if (!info) return;
  const box = byId('paint-panel');
  if (!canEdit()) return refill(box, el('h2', {}, 'Paint'), el('p', {id: 'paint-hint', class: 'dim'}, obstacle()), toBind());
  const parts = surfaces();
  const edits = (next: readonly Edit[]) => history.change({edits: next});
  refill(box,
    el('h2', {}, 'Paint'),
    el('p', {id: 'paint-hint', class: 'dim'}, hint()),
    choice('Brush', 'The effect of a stroke', OPS, brush.op, (v) => {
      brush.op = v as BrushOp;
      draw();
    }),
    ...sliders(),
    ...(parts.length ? [choice('Only on', 'The parts that the brush may change', [['', 'everything'], ...parts], brush.on, (v) => {
      brush.on = v;
      draw();
    })] : []),
    ...(brush.on && brush.op !== 'sample' ? [el('div', {class: 'row'}, button('All of it', 'The whole surface, without a stroke', () =>
      edits([...history.doc.edits, editOf([kept()])]), {id: 'paint-all', disabled: lacks()}))] : []),
    el('div', {class: 'row'}, ...(['left', 'right'] as const).map((side) =>
      button(`Mirror from ${side}`, `Copies the ${side} side to the other side`, () =>
        edits([...history.doc.edits, {op: 'mirror', from: side}])))),
  );
}

// ---- strokes: dabs along the path of the pointer, one change of the document

/** One position of the pointer. */
export interface Pressed {
  x: number;
  y: number;
  /** Of a pen, 0 to 1; 1 for others. */
  pressure: number;
}
interface Dab {
  place: Triple;
  facing: Triple;
  pressure: number;
}
let stroke: {dabs: Dab[]; keys: Held; last: Pressed} | null = null;
const MOST_BETWEEN = 8;  // dabs between two positions of the pointer: each costs a ray

function selectionOf(dabs: readonly Dab[]): Selection {
  const {brush} = session;
  const limit = kept();
  if (isMeasured(brush.op)) return dabs.map(({place}) => ({sphere: {center: place, radius: brush.radius}, ...limit}));
  const pressed = dabs.some((d) => d.pressure !== 1);
  return [{
    brush: {
      points: dabs.map((d) => d.place), radius: brush.radius,
      ...(brush.strength !== 1 ? {strength: brush.strength} : {}),
      ...(pressed ? {strengths: dabs.map((d) => d.pressure)} : {}),
      ...(brush.front ? {facing: dabs.map((d) => d.facing)} : {}),
      ...(brush.curve !== 'smooth' ? {curve: brush.curve} : {}),
      ...(brush.through ? {through: true} : {}),
    }, ...limit,
  }];
}

/** The weight under the pointer becomes that of the brush. Without a selected joint, the strongest there is selected. */
function sample(vertex: number) {
  const {rows, brush} = session;
  const at = vertex * rows!.width;
  if (session.joint < 0) selectJoint(rows!.joints[at]);
  let weight = 0;
  for (let k = at; k < at + rows!.width; ++k) if (rows!.joints[k] === session.joint) weight = rows!.shares[k];
  brush.values.set = Number(weight.toFixed(3));
  brush.op = 'set';
  draw();
}

/** The ring of the brush where the pointer is. */
export function hoverBrush(x: number, y: number): void {
  if (session.tool !== 'paint') return;
  if (view.stage.paneAt(x)) view.ring.hide();
  else view.ring.follow(x, y, session.brush.radius);
}

/** Whether a stroke begins there: not beside the character. */
export function beginStroke(at: Pressed, keys: Held = NO_KEYS): boolean {
  const {tool, brush} = session;
  const {x, y} = at;
  const smooths = keys.shift && !isMeasured(brush.op);
  if (tool !== 'paint') return false;
  const hit = view.picker.surfaceAt(x, y);
  if (!hit) return false;
  if (!canEdit() || (lacks() && !smooths)) {
    notice(obstacle(), session.stale ? [['Bind again', () => void bind()]] : []);
    return false;
  }
  if (view.stage.paneAt(x)) {
    if (view.picker.jointAt(x, y) < 0) showError(new Error('this side shows the file’s own weights, which stay as they are: paint on the other side'));
    return false;
  }
  hideError();
  notice('');
  if (brush.op === 'sample' && !smooths) {
    sample(hit.vertex);
    return true;
  }
  history.settle();
  stroke = {dabs: [], keys, last: at};
  dab(at);
  commit();
  return true;
}

/** Whether it is far enough from the last one. */
function dab({x, y, pressure}: Pressed): boolean {
  const {dabs} = stroke!;
  const hit = view.picker.surfaceAt(x, y);
  if (!hit) return false;
  const last = dabs[dabs.length - 1]?.place;
  if (last && Math.hypot(...last.map((c, k) => c - hit.bind[k])) < session.brush.radius / 4) return false;
  dabs.push({place: hit.bind, facing: hit.facing, pressure: session.brush.pressure ? pressure : 1});
  return true;
}

function commit() {
  const edit = editOf(selectionOf(stroke!.dabs), stroke!.keys);
  const {edits} = history.doc;
  history.change({edits: begun ? [...edits.slice(0, -1), edit] : [...edits, edit]}, 'stroke');
  begun = true;
}
let begun = false;  // the document has the first part of the stroke

export function continueStroke(to: Pressed): void {
  if (!stroke) return;
  const {last} = stroke;
  const pixels = view.eye.pixelsOf(session.brush.radius / 4) || 1;
  const steps = Math.min(Math.max(Math.ceil(Math.hypot(to.x - last.x, to.y - last.y) / pixels), 1), MOST_BETWEEN);
  let more = false;
  for (let i = 1; i <= steps; ++i) {
    const t = i / steps;
    const between = (a: number, b: number) => a + (b - a) * t;
    more = dab({x: between(last.x, to.x), y: between(last.y, to.y), pressure: between(last.pressure, to.pressure)}) || more;
  }
  stroke.last = to;
  if (more) commit();
}

/** How many dabs it had; 0: there was none. */
export function endStroke(): number {
  const dabs = stroke?.dabs.length ?? 0;
  stroke = null;
  begun = false;
  if (dabs) history.settle();
  return dabs;
}

on(['interrupt'], () => endStroke());
on(['character', 'bound', 'options', 'selection', 'tool'], draw);
history.listen((doc, before) => {
  if (doc.edits !== before.edits) draw();
});

// Drawing a skeleton for a mesh that has none: joints placed by clicking, in the middle of the volume under the
// pointer.
import {button, byId, check, choice, download, el, entry, refill, type VNode} from './dom';
import {showError} from './messages';
import {placeTemplate} from './session';
import {selectJoint, setStep} from './showing';
import {history, on, session, view} from './state';
import {canDraw} from './work';
import {added, bonesIn, bonesOf, firstMiddle, hung, mirrored, moved, movedAlike, planeOf, removed, renamed, type Bone, type Point} from './skeleton';
import {withBones, withSkeleton} from './store';
import {fitOf} from './words';

let centred = true;
let alike = false;  // both sides move
let template = '';

/** The skeleton to edit: the drawn one, otherwise that of the file. */
function bones(): readonly Bone[] {
  const {info, file, bare} = session;
  if (history.doc.bones) return history.doc.bones;
  if (bare || !info) return [];
  const text = new TextDecoder().decode(file?.skeleton?.bytes);
  return file?.picture ? bonesIn(text, file.picture) : bonesOf(info.joints, text);
}

const change = (next: readonly Bone[], merge = '') => history.change(withBones(history.doc, next), merge);

/** Moves a joint; with `Mirror` also that of the other side. */
function move(now: readonly Bone[], joint: number, to: Point): Bone[] {
  const plane = alike ? planeOf(now) : null;
  return plane ? movedAlike(now, joint, to, plane, 0.01 * widest()) : moved(now, joint, to);
}

/** The longest side of the mesh's box. */
function widest(): number {
  const [low, high] = session.info!.box;
  return Math.max(...low.map((x, k) => high[k] - x));
}

// ---- by pointer

let dragged = -1;

/** The point under the pointer in the middle of the volume; beside the character, at the depth of `from`. */
function placeAt(x: number, y: number, from: Point | null): Point | null {
  const {crossings, place} = view.picker.crossingsAt(x, y);
  const middle = firstMiddle(crossings);
  if (middle !== null && (centred || !from)) return place(middle);
  return from && view.picker.besideAt(x, y, from);
}

/** Whether a joint is there to be dragged. */
export function beginDrag(x: number, y: number, within?: number): boolean {
  if (session.tool !== 'draw') return false;
  dragged = view.picker.jointAt(x, y, within);
  if (dragged < 0) return false;
  history.settle();
  selectJoint(dragged);
  return true;
}
export function drag(x: number, y: number): void {
  if (dragged < 0) return;
  const now = bones();
  const to = placeAt(x, y, now[dragged].head);
  if (to) change(move(now, dragged, to), `drag ${dragged}`);
}
/** Whether there was one. */
export function endDrag(): boolean {
  const was = dragged >= 0;
  dragged = -1;
  if (was) history.settle();
  return was;
}

/** A click on the surface adds a joint, a child of the selected one. */
export function addAt(x: number, y: number): void {
  const head = placeAt(x, y, null);
  if (!head) return;
  const parent = session.joint >= 0 ? bones()[session.joint].name : null;
  const before = bones();
  const next = added(before, before.findIndex((b) => b.name === parent), head);
  change(next);
  selectJoint(next.findIndex((b) => !before.some((o) => o.name === b.name)));
}

/** Adds a joint without a click: beyond the selected one, by the length of the selected one's link; a root in the middle of the mesh.
 * Then its position is typed, or moved to the middle of the volume. */
function addBelow() {
  const before = bones();
  const {joint, info} = session;
  const [low, high] = info!.box;
  const on = before[joint] ?? null;
  const up = on && on.parent >= 0 ? before[on.parent].head : null;
  const tall = high[1] - low[1];
  const head = (on ? on.head.map((x, k) => x + (up ? x - up[k] : k === 1 ? tall / 8 : 0)) : low.map((x, k) => (x + high[k]) / 2)) as unknown as Point;
  const next = added(before, on ? joint : -1, head);
  change(next);
  selectJoint(next.findIndex((b) => !before.some((o) => o.name === b.name)));
}

/** Moves the selected joint along the line of sight to the middle of the volume. */
function centre() {
  const now = bones(), {joint} = session;
  const {x, y} = view.figure.pixelOf(now[joint].head);
  const {left, top} = view.stage.rect();
  const {crossings, place} = view.picker.crossingsAt(left + x, top + y);
  const middle = firstMiddle(crossings);
  if (middle === null) showError(new Error(`${now[joint].name} is not in front of or behind the character: type its position, or drag it there`));
  else change(move(now, joint, place(middle)));
}

export function removeSelected(): void {
  const {joint, tool} = session;
  if (tool !== 'draw' || joint < 0) return;
  const now = bones();
  const {name, parent} = now[joint];
  const up = parent > joint ? parent - 1 : parent;
  history.change(withBones(history.doc, removed(now, joint), name, null));
  selectJoint(up);
}

// ---- by the panel

function mirror(from: 'left' | 'right') {
  const [low, high] = session.info!.box;
  const wide = widest();
  // Most characters are centred at x = 0; otherwise the middle of the mesh.
  const middle = (low[0] + high[0]) / 2;
  change(mirrored(bones(), from, Math.abs(middle) < 0.05 * wide ? 0 : middle, 0.01 * wide));
}

/** Rounds to a ten-thousandth of the character's size, for display. */
function shortly(x: number): number {
  const digits = 4 - Math.ceil(Math.log10(widest()));
  return Number(x.toFixed(Math.min(Math.max(digits, 0), 12)));
}

function fields(now: readonly Bone[], joint: number): VNode[] {
  const {name, parent, head} = now[joint];
  const parents = now.flatMap((b, j): [string, string][] => (j !== joint ? [[String(j), b.name]] : []));
  return [
    entry('Name', 'Of the selected joint; left and right in names are mirrored', name, (to) => {
      if (!to || to === name) return draw();
      const next = renamed(now, joint, to);
      history.change(withBones(history.doc, next, name, next[joint].name));
    }),
    choice('Hangs on', 'Its parent', [['-1', 'nothing: a root'], ...parents], String(parent), (to) => {
      const next = hung(now, joint, Number(to));
      if (next) return change(next);
      showError(new Error(`${now[Number(to)].name} cannot be the parent of ${name}: it is one of its descendants`));
      draw();
    }),
    entry('Place', 'x y z, in the units of the file', head.map(shortly).join(' '), (text) => {
      const place = text.split(/[\s,]+/).map(Number);
      if (place.length === 3 && place.every(Number.isFinite)) return change(move(now, joint, place as unknown as Point));
      showError(new Error(`a position is three numbers, x y z, not "${text}"`));
      draw();
    }),
  ];
}

async function placeChosen() {
  const rig = await placeTemplate(template);
  if (!rig) return;
  alike = rig.symmetry >= 0.75;  // as the core decides whether pairs are alike
  draw();
}

/** The choice of a template, and how well the placed one fits. */
function templates(now: readonly Bone[]): VNode[] {
  template ||= session.templates[0].name;
  const {placed} = session;
  const fits = placed && now.length === placed.names.length && now.every(({name}, j) => name === placed.names[j]);
  return [
    choice('Template', 'A usual skeleton, placed into the mesh; it should stand upright and face you', session.templates.map(({name}) => name), template, (to) => {
      template = to;
      draw();
    }),
    el('p', {class: 'dim'}, session.templates.find(({name}) => name === template)!.summary),
    el('div', {class: 'row'}, button('Place', now.length ? 'Replaces the skeleton; undo brings it back' : 'Places the template into the mesh',
      () => void placeChosen(), {id: 'place-template', class: now.length ? '' : 'primary'})),
    ...(fits ? fitOf(placed).map((text, i) => el('p', i ? {class: 'dim'} : {id: 'fit'}, text)) : []),
  ];
}

function draw() {
  const box = byId('draw-panel');
  if (session.tool !== 'draw' || !session.info) {
    refill(box, ...(session.opened && canDraw() ? [el('h2', {}, 'Skeleton'), el('div', {class: 'row'},
      button('Draw', 'Place and move joints (D)', () => setStep('bind', true), {class: session.bare ? 'primary' : ''}))] : []));
    return;
  }
  const now = bones();
  const {joint} = session;
  const on = joint >= 0 && joint < now.length;
  const next = on ? `a joint below ${now[joint].name}` : now.length ? 'another root' : 'the first joint, at the hips';
  refill(box,
    el('h2', {}, 'Skeleton'),
    ...(session.flat ? [] : templates(now)),
    el('p', {class: 'dim'}, `${now.length || session.flat ? 'Click' : 'Or click'} on the character to place ${next}. Drag joints to move them.`),
    ...(on ? fields(now, joint) : []),
    ...(session.flat ? [] : [check('In the middle of the volume', 'Off: dragging keeps the depth', centred, (yes) => (centred = yes)),
                               check('Mirror', 'The joint of the other side moves too: arm.L and arm.R', alike, (yes) => (alike = yes))]),
    el('div', {class: 'row'},
       button(on ? 'Joint below' : 'Root', 'Adds a joint without a click; then type its position', addBelow, {id: 'add-below'}),
       ...(session.flat ? [] : [button('To the middle', 'Moves it along the line of sight to the middle of the volume', centre, {disabled: !on})])),
    el('div', {class: 'row'},
       button('Delete', 'Removes the joint; its children stay (Del)', removeSelected, {disabled: !on}),
       button('New root', 'The next click begins another chain (Esc)', () => selectJoint(-1), {disabled: !on})),
    el('div', {class: 'row'}, ...(['left', 'right'] as const).map((side) =>
      button(`Mirror from ${side}`, `Copies the joints of the ${side} to the other side (${side === 'left' ? '+' : '−'}x)`,
             () => mirror(side), {disabled: !now.length}))),
    el('div', {class: 'row'},
       button('Save skeleton', session.flat ? 'As bones JSON' : 'As skeleton JSON', save, {id: 'export-skeleton', disabled: !now.length}),
       button(session.flat ? 'Cut out' : 'Done', 'Back to the view (V)', () => setStep('bind'), {id: 'draw-done', class: session.flat ? 'primary' : ''})),
  );
}

export function save(): void {
  const {skeleton} = withSkeleton(session.file!, {...history.doc, bones: bones()});
  if (skeleton) download(skeleton.name, skeleton.bytes, 'application/json');
}

on(['interrupt'], () => endDrag());
on(['character'], () => (alike = false));
on(['character', 'bound', 'options', 'moved', 'selection', 'tool'], draw);

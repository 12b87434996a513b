// The shown quantity on the surface, its legend, and the numbers of the clicked vertex.
import {COVERAGE, blendColours, scaleColour, valueColours, weightColours} from './colours';
import type {Defects, Rows} from 'sinew-skin';
import {byId, el, refill, slider, type VNode} from './dom';
import {MARKS, marksOf} from './marks';
import {history, on, session, view, type Mode} from './state';
import {canCompare, canEdit} from './work';

/** needs: the step that is missing before it can be shown. */
export const MODES: {mode: Mode; name: string; help: string; needs?: string; can: () => boolean}[] = [
  {mode: 'look', name: 'Material', help: 'As the file looks (1)', can: () => true},
  {mode: 'joints', name: 'Joints', help: 'Each joint has a colour, blended by weight (2)', needs: 'bind first', can: () => !!session.rows},
  {mode: 'weight', name: 'Weight', help: 'The weight of the selected joint (3)', needs: 'bind, and select a joint',
   can: () => !!session.rows && session.joint >= 0},
  {mode: 'distance', name: 'Distance', help: 'The distance to the selected joint through the volume (4)', needs: 'select a joint that moves skin',
   can: () => session.tool !== 'draw' && !session.flat && session.joint >= 0 && !!session.info?.joints[session.joint].deforms},
  {mode: 'coverage', name: 'How bound', help: 'How each vertex got its weights (5)', needs: 'bind first', can: () => !!session.bound && history.doc.start === 'bind'},
  {mode: 'difference', name: 'Against file', help: 'The difference to the file’s own weights (6)', needs: 'bind a file that comes with weights',
   can: () => !!session.difference},
  {mode: 'marks', name: 'By hand', help: 'The vertices changed by hand (7)', needs: 'paint something first', can: () => history.doc.edits.length > 0},
  {mode: 'voxels', name: 'Voxels', help: 'The volume in which distances are measured (8)', needs: 'open or draw a skeleton',
   can: () => session.tool !== 'draw' && !session.bare && !session.flat},
  {mode: 'defects', name: 'Defects', help: 'Intersecting triangles, boundary and non-manifold edges (9)', can: () => !session.flat},
];
const VOXELS = {within: [0.75, 0.32, 0.12], boundary: [0.16, 0.3, 0.5]} as const;
const DEFECTS = {intersecting: [0.73, 0.03, 0.02], boundary: [0.1, 0.42, 1], nonmanifold: [1, 0.6, 0.05]} as const;
let cut = 0.5;  // of the depth, from the front
let marks = new Uint8Array();
let shown: Record<string, unknown> = {rows: null, beside: false, opened: null};  // what the view has

const css = ([r, g, b]: readonly number[]) => {
  const byte = (x: number) => Math.round(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055));
  return `rgb(${byte(r)} ${byte(g)} ${byte(b)})`;
};
export const swatch = (colour: readonly number[]) => el('span', {class: 'swatch', style: `background:${css(colour)}`});
export const colourOf = (j: number) => [...view.figure.palette.subarray(j * 3, j * 3 + 3)];

function largest(values: Float32Array): number {
  let most = 0;
  for (const v of values) if (Number.isFinite(v) && v > most) most = v;
  return most;
}

/** The joints' colours; where only some are to be in colour, the others are grey. */
function palette(): Float32Array {
  const joints = session.only?.joints;
  if (!joints) return view.figure.palette;
  const out = new Float32Array(view.figure.palette.length).fill(0.22);
  for (const j of joints) out.set(colourOf(j), j * 3);
  return out;
}

function currentMarks(): Uint8Array {
  const {opened, info, byHand} = session;
  const out = new Uint8Array(opened!.positions.length / 3);
  marksOf(history.doc.edits, byHand, opened!.positions, info!.primitives, out);
  return out;
}

function recolour() {
  const {mode, rows, joint, difference, bound, distance} = session;
  if (!session.opened || !session.info) return;
  const beside = session.beside && canCompare();
  view.setBeside(beside);
  const now = {rows, beside, opened: session.opened, mode, joint, only: session.only};
  const same = (...keys: (keyof typeof now)[]) => keys.every((key) => now[key] === shown[key]);
  const painted = session.painted.length && same('rows', 'beside', 'opened') ? Uint32Array.from(session.painted).sort() : null;
  if (painted) view.figure.setRows(rows, null, painted);
  else if (!same('rows', 'beside', 'opened')) view.figure.setRows(rows, beside ? session.opened.ownRows : null);
  const few = painted && !beside && !session.only && same('mode', 'joint', 'only');
  session.painted = [];
  shown = now;
  if (few && mode === 'joints') blendColours(rows!, palette(), view.figure.colours, painted);
  if (few && mode === 'weight' && joint >= 0) weightColours(rows!, joint, view.figure.colours, painted);
  if (few && (mode === 'joints' || mode === 'weight')) return view.figure.setPainted(painted);
  byId('beside').hidden = !beside;
  const colours = view.figure.colours;
  colours.fill(0.3);
  if (mode === 'joints' && rows) {
    blendColours(rows, palette(), colours);
    session.only?.vertices?.forEach((yes, v) => !yes && colours.fill(0.16, 3 * v, 3 * v + 3));
  }
  if (mode === 'weight' && rows && joint >= 0) weightColours(rows, joint, colours);
  if (mode === 'difference' && difference) valueColours(difference, 1, colours);
  if (mode === 'coverage' && bound) bound.coverage.forEach((c, v) => colours.set(COVERAGE[c].colour, v * 3));
  if (mode === 'distance' && distance) valueColours(distance.values, largest(distance.values), colours);
  if (mode === 'marks') {
    marks = currentMarks();
    marks.forEach((m, v) => colours.set(MARKS[m].colour, v * 3));
  }
  const {ownRows} = session.opened;
  const other = view.figure.coloursBeside;
  if (beside && other && ownRows) {
    other.set(colours);
    // The file has neither coverage nor changes by hand, and no difference to itself: its side shows its joints.
    if (['joints', 'coverage', 'difference', 'marks'].includes(mode)) blendColours(ownRows, palette(), other);
    if (mode === 'weight' && joint >= 0) weightColours(ownRows, joint, other);
  }
  view.figure.setSurface(mode === 'look');
  view.figure.setVoxels(mode === 'voxels' ? session.voxels?.leaves ?? null : null, cut, VOXELS);
  view.figure.setThrough((mode === 'joints' && rows && session.only?.vertices) || null);
  view.figure.setDefects(mode === 'defects' ? session.defects : null, DEFECTS);
}

/** How many vertices have another colour than their weights say, where the surface shows joints or a weight. For tests. */
export function wrongColours(): number {
  const {mode, rows, joint, only} = session;
  if (!rows || only?.vertices || !(mode === 'joints' || (mode === 'weight' && joint >= 0))) return 0;
  const wanted = new Float32Array(view.figure.colours.length);
  if (mode === 'joints') blendColours(rows, palette(), wanted);
  else weightColours(rows, joint, wanted);
  return wanted.reduce((n, c, i) => n + Number(Math.abs(c - view.figure.colours[i]) > 1e-4), 0);
}

/** Does something while the surface shows joints, all or only some. */
export function withJoints<T>(only: typeof session.only, work: () => T): T {
  const {mode, only: before} = session;
  Object.assign(session, {mode: 'joints', only});
  recolour();
  const out = work();
  Object.assign(session, {mode, only: before});
  recolour();
  return out;
}

/** One line for each kind that occurs. */
function counted(kinds: readonly {meaning: string; colour: readonly number[]}[], of: Uint8Array): VNode[] {
  const counts = kinds.map(() => 0);
  for (const k of of) ++counts[k];
  return kinds.flatMap(({meaning, colour}, k) =>
    counts[k] ? [el('div', {class: 'key'}, swatch(colour), `${meaning}: ${counts[k].toLocaleString('en')}`)] : []);
}

function voxelLegend({resolution, coarser, leaves}: NonNullable<typeof session.voxels>): VNode[] {
  let boundary = 0;
  for (let i = 4; i < leaves.length; i += 5) boundary += leaves[i];
  const number = (n: number) => n.toLocaleString('en');
  return [
    el('div', {}, `Leaves of the volume at resolution ${resolution}`),
    ...(coarser ? [el('small', {}, 'Binding uses a finer volume, with more leaves than a page can draw.')] : []),
    el('div', {class: 'key'}, swatch(VOXELS.boundary), `on the surface: ${number(boundary)}`),
    el('div', {class: 'key'}, swatch(VOXELS.within), `inside: ${number(leaves.length / 5 - boundary)}`),
    slider('Cut away', 'From the front', {min: 0, max: 1, step: 0.02}, cut, (v) => {
      cut = v;
      view.figure.setVoxels(leaves, cut, VOXELS);
    }, () => {}),
  ];
}

function defectLegend({triangles, edges}: Defects): VNode[] {
  const [, intersecting, unknown] = triangles.reduce((n, t) => (++n[t], n), [0, 0, 0]);
  let boundary = 0;
  for (let i = 2; i < edges.length; i += 3) if (edges[i] === 1) ++boundary;
  const line = (colour: readonly number[], what: string, n: number) =>
    el('div', {class: 'key'}, swatch(colour), `${what}: ${n.toLocaleString('en')}`);
  return [
    line(DEFECTS.intersecting, 'intersecting triangles', intersecting),
    line(DEFECTS.boundary, 'boundary edges', boundary),
    line(DEFECTS.nonmanifold, 'edges of three or more triangles', edges.length / 3 - boundary),
    ...(unknown ? [el('small', {}, `${unknown.toLocaleString('en')} triangles were not compared with all: that would take too long.`)] : []),
  ];
}

function drawLegend() {
  const {mode, rows, joint, difference, bound, distance, info} = session;
  const bar = (title: string, low: string, high: string) => {
    const stops = [0, 0.25, 0.5, 0.75, 1].map((t) => css(scaleColour(t))).join(',');
    return [el('div', {}, title), el('div', {class: 'bar', style: `background:linear-gradient(90deg,${stops})`}),
            el('div', {class: 'ends'}, el('span', {}, low), el('span', {}, high))];
  };
  const name = joint >= 0 && info ? info.joints[joint].name : '';
  let parts: VNode[] = [];
  if (mode === 'weight' && rows && joint >= 0) parts = bar(`Weight of ${name}`, '0', '1');
  if (mode === 'difference' && difference) parts = bar('Difference to the file’s weights (sum over joints)', '0', '1 and more');
  if (mode === 'distance' && distance) parts = bar(`Distance from ${name}`, '0', largest(distance.values).toPrecision(3));
  if (mode === 'coverage' && bound) parts = counted(COVERAGE, bound.coverage);
  if (mode === 'marks') parts = counted(MARKS, marks);
  if (mode === 'voxels' && session.voxels) parts = voxelLegend(session.voxels);
  if (mode === 'defects' && session.defects) parts = defectLegend(session.defects);
  const box = byId('legend');
  box.hidden = !parts.length;
  refill(box, ...parts);
}

/** Sets the weight of a joint at the shown vertices. */
function setWeight(joint: number, value: number) {
  const {info, probed} = session;
  if (!info || !Number.isFinite(value)) return;
  const {held, edits} = history.doc;
  history.change({edits: [...edits, {
    op: 'set', joint: info.joints[joint].name, value: Math.min(Math.max(value, 0), 1), select: [{vertices: [...probed]}],
    ...(held.length ? {locked: held} : {}),
  }]});
}

/** The mean weights of some vertices, the largest first. */
function meanOf({width, joints, shares}: Rows, vertices: readonly number[]): [joint: number, weight: number][] {
  const sum = new Map<number, number>();
  for (const v of vertices)
    for (let at = v * width; at < (v + 1) * width; ++at)
      if (shares[at] > 0) sum.set(joints[at], (sum.get(joints[at]) ?? 0) + shares[at]);
  return [...sum].map(([joint, weight]): [number, number] => [joint, weight / vertices.length]).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
}

function drawProbe() {
  const {probed, rows, info, bound} = session;
  const box = byId('probe');
  box.hidden = !probed.length || !rows;
  if (!probed.length || !rows || !info) return;
  const many = probed.length > 1;
  const editable = canEdit() && !session.refining;
  const {held} = history.doc;
  const row = (joint: number, weight: number, may: boolean) => {
    const {name} = info.joints[joint];
    const value = may && !held.includes(name)
      ? el('input', {type: 'number', min: '0', max: '1', step: '0.05', value: weight.toFixed(3), 'aria-label': `Weight of ${name}`,
                     onChange: (event: Event) => setWeight(joint, (event.target as HTMLInputElement).valueAsNumber)})
      : el('b', {}, weight.toFixed(3));
    return el('div', {class: 'key'}, swatch(colourOf(joint)), name, value);
  };
  const rowsOf = (of: Rows, may = false): VNode[] => {
    const out = meanOf(of, probed).map(([joint, weight]) => row(joint, weight, may));
    return out.length ? out : [el('div', {}, many ? 'have no weights' : 'has no weights')];
  };
  const title = many ? `${probed.length.toLocaleString('en')} vertices, mean` : `Vertex ${probed[0].toLocaleString('en')}`;
  const lines = [el('small', {}, title), ...rowsOf(rows, editable)];
  const joint = session.joint;
  if (editable && joint >= 0 && !meanOf(rows, probed).some(([j]) => j === joint)) lines.push(row(joint, 0, true));
  const own = session.beside && canCompare() ? session.opened!.ownRows : null;
  if (own) lines.push(el('small', {}, 'In the file'), ...rowsOf(own));
  if (!many) {
    const mark = currentMarks()[probed[0]];
    if (mark) lines.push(el('small', {}, `by hand: ${MARKS[mark].meaning}`));
    else if (history.doc.start === 'file') lines.push(el('small', {}, 'as in the file'));
    else if (bound) lines.push(el('small', {}, COVERAGE[bound.coverage[probed[0]]].meaning));
  }
  refill(box, ...lines);
}

function draw() {
  recolour();
  drawLegend();
}
on(['character', 'bound', 'weights', 'mode', 'tool', 'selection'], draw);
history.listen((doc, before) => {
  if (session.mode === 'marks' && doc.edits !== before.edits) draw();
  if (doc.held !== before.held) drawProbe();
});
on(['character', 'bound', 'weights', 'mode', 'probe', 'selection'], drawProbe);

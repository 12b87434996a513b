// What the surface shows, what its colours mean, and the numbers of the vertex that was clicked.
import {COVERAGE, blendColours, scaleColour, valueColours, weightColours} from './colours';
import {byId, el} from './dom';
import {on, session, view, type Mode} from './session';

export const MODES: {mode: Mode; name: string; help: string; can: () => boolean}[] = [
  {mode: 'look', name: 'Material', help: 'As the file looks (1)', can: () => true},
  {mode: 'joints', name: 'Joints', help: 'Each joint has a colour, blended by weight (2)', can: () => !!session.rows},
  {mode: 'weight', name: 'Weight', help: 'The weight of the selected joint (3)',
   can: () => !!session.rows && session.joint >= 0},
  {mode: 'distance', name: 'Distance', help: 'How far the selected joint is through the volume (4)',
   can: () => session.tool !== 'draw' && session.joint >= 0 && !!session.info?.joints[session.joint].deforms},
  {mode: 'coverage', name: 'How bound', help: 'How each vertex came to its weights (5)', can: () => !!session.bound},
  {mode: 'difference', name: 'Against file', help: 'How far the weights are from the file’s own (6)',
   can: () => !!session.difference},
];

const css = ([r, g, b]: readonly number[]) => {
  const byte = (x: number) => Math.round(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055));
  return `rgb(${byte(r)} ${byte(g)} ${byte(b)})`;
};
export const swatch = (colour: readonly number[]) => el('span', {class: 'swatch', style: `background:${css(colour)}`});
export const colourOf = (j: number) => [...view.jointPalette.subarray(j * 3, j * 3 + 3)];

function largest(values: Float32Array): number {
  let most = 0;
  for (const v of values) if (Number.isFinite(v) && v > most) most = v;
  return most;
}

function recolour() {
  const {mode, rows, joint, difference, bound, distance} = session;
  if (!session.opened || !session.info) return;
  const colours = view.colours;
  colours.fill(0.3);
  if (mode === 'joints' && rows) blendColours(rows, view.jointPalette, colours);
  if (mode === 'weight' && rows && joint >= 0) weightColours(rows, joint, colours);
  if (mode === 'difference' && difference) valueColours(difference, 1, colours);
  if (mode === 'coverage' && bound) bound.coverage.forEach((c, v) => colours.set(COVERAGE[c].colour, v * 3));
  if (mode === 'distance' && distance) valueColours(distance.values, largest(distance.values), colours);
  view.setSurface(mode === 'look');
}

function drawLegend() {
  const {mode, rows, joint, difference, bound, distance, info} = session;
  const bar = (title: string, low: string, high: string) => {
    const stops = [0, 0.25, 0.5, 0.75, 1].map((t) => css(scaleColour(t))).join(',');
    return [el('div', {}, title), el('div', {class: 'bar', style: `background:linear-gradient(90deg,${stops})`}),
            el('div', {class: 'ends'}, el('span', {}, low), el('span', {}, high))];
  };
  const name = joint >= 0 && info ? info.joints[joint].name : '';
  let parts: HTMLElement[] = [];
  if (mode === 'weight' && rows && joint >= 0) parts = bar(`Weight of ${name}`, '0', '1');
  if (mode === 'difference' && difference) parts = bar('Difference to the file’s weights (sum over joints)', '0', '1 and more');
  if (mode === 'distance' && distance) parts = bar(`Distance from ${name}`, '0', largest(distance.values).toPrecision(3));
  if (mode === 'coverage' && bound) {
    const counts = COVERAGE.map((_, k) => bound.coverage.reduce((n, c) => n + (c === k ? 1 : 0), 0));
    parts = COVERAGE.flatMap((c, k) =>
      counts[k] ? [el('div', {class: 'key'}, swatch(c.colour), `${c.meaning}: ${counts[k].toLocaleString('en')}`)] : []);
  }
  const box = byId('legend');
  box.hidden = !parts.length;
  box.replaceChildren(...parts);
}

function drawProbe() {
  const {probed, rows, info, bound} = session;
  const box = byId('probe');
  box.hidden = probed === null || !rows;
  if (probed === null || !rows || !info) return;
  const {width, joints, shares} = rows;
  const lines: HTMLElement[] = [el('small', {}, `Vertex ${probed.toLocaleString('en')}`)];
  for (let k = 0; k < width; ++k) {
    const at = probed * width + k;
    if (shares[at] === 0) continue;
    lines.push(el('div', {class: 'key'}, swatch(colourOf(joints[at])), info.joints[joints[at]].name,
                  el('b', {}, shares[at].toFixed(3))));
  }
  if (lines.length === 1) lines.push(el('div', {}, 'has no weights'));
  if (bound) lines.push(el('small', {}, COVERAGE[bound.coverage[probed]].meaning));
  box.replaceChildren(...lines);
}

on(['character', 'bound', 'weights', 'mode', 'tool', 'selection'], () => {
  recolour();
  drawLegend();
});
on(['character', 'bound', 'weights', 'probe'], drawProbe);

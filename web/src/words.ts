// Texts on the mesh, the joints and the results. No DOM.
import {inWords, type Compared, type ModelInfo, type Named, type Rig} from 'sinew-skin';
import type {Doc} from './store';

export const number = (n: number) => n.toLocaleString('en');
export const count = (n: number, one: string, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

const REASONS: Record<string, string> = {
  deforms: 'moves skin',
  included: 'moves skin: included by hand',
  excluded: 'idle: excluded by hand',
  unused_by_skin: 'idle: without weight in the file',
  control_name: 'idle: named like a control',
  end_name: 'idle: named like an end marker',
  slot_name: 'idle: named like an attachment',
  root_structure: 'idle: a root that only carries the skeleton',
  no_skin: 'idle: in no skin of the file',
};
export const reasonOf = (reason: string) => REASONS[reason] ?? reason;

/** Defects of the mesh, a sentence each. None of them prevents a bind. */
export function defectsOf(info: ModelInfo): string[] {
  const d = info.defects;
  const out: string[] = [];
  const say = (n: number, text: string) => n > 0 && out.push(text);
  say(d.holes, `${count(d.holes, 'hole')} in ${count(d.open_parts, 'open part')}`);
  say(d.flipped_triangles, `${count(d.flipped_triangles, 'triangle')} face inwards: reversed during the bind`);
  say(d.nonmanifold_edges, `${count(d.nonmanifold_edges, 'edge')} of three or more triangles`);
  say(d.duplicate_triangles, `${count(d.duplicate_triangles, 'triangle')} repeated`);
  say(d.degenerate_triangles, `${count(d.degenerate_triangles, 'triangle')} without area`);
  say(d.unused_vertices, `${count(d.unused_vertices, 'vertex', 'vertices')} in no triangle`);
  return out;
}

export function factsOf(info: ModelInfo): string[] {
  const c = info.counts;
  const idle = c.joints - c.deforming_joints;
  return [
    `${count(c.vertices, 'vertex', 'vertices')}, ${count(c.triangles, 'triangle')} in ${count(c.parts, 'part')}`,
    `${count(c.joints, 'joint')}${idle ? `, ${number(idle)} of them idle` : ''}`,
    info.weights ? 'has its own weights' : 'comes without weights',
    ...(info.clips.length ? [count(info.clips.length, 'animation')] : []),
  ];
}

/** The mean L1 distance to the file's weights, and the share of vertices with the same strongest joint. */
export function agreement(difference: Float32Array, a: {width: number; joints: Uint16Array},
                          b: {width: number; joints: Uint16Array}): {mean: number; strongest: number} {
  let [sum, same] = [0, 0];
  for (let v = 0; v < difference.length; ++v) {
    sum += difference[v];
    if (a.joints[v * a.width] === b.joints[v * b.width]) ++same;
  }
  const n = Math.max(difference.length, 1);
  return {mean: sum / n, strongest: same / n};
}

/** The lines of `sinew compare`, name and value: the file against the new weights. */
export function comparedLines(c: Compared): [string, string][] {
  const three = (x: number) => x.toFixed(3);
  const both = (of: (side: Compared['a']) => string): string => `${of(c.a)} / ${of(c.b)}`;
  return [
    ['L1, median', three(c.l1.median)], ['L1, 95th percentile', three(c.l1.p95)], ['L1, most', three(c.l1.max)],
    ['Influences: precision, recall', `${three(c.precision)}, ${three(c.recall)}`],
    ...(['standard', 'random'] as const).flatMap((kind): [string, string][] => {
      const d = c.deformation[kind];
      return d.poses ? [[`Apart in ${d.poses} ${kind} poses, %`, `${three(d.mean)}, most ${three(d.mean_max)}`]] : [];
    }),
    ['Influences, file / here', both((s) => s.mean_influences.toFixed(2))],
    ['Joints with weight', both((s) => String(s.joints))],
    ['Torn vertices', both((s) => number(s.torn))],
    ['Dirichlet energy', both((s) => s.dirichlet.toFixed(2))],
    ['Bleed, % of weight', both((s) => three(100 * s.bleed.share))],
  ];
}

/** How well a template fits, in the words of `sinew rig`, and what was not found. */
export function fitOf({confidence, limbs_found, limbs_expected, symmetry, notes}: Pick<Rig, 'confidence' | 'limbs_found' | 'limbs_expected' | 'symmetry' | 'notes'>): string[] {
  const word = confidence >= 0.75 ? 'good' : confidence >= 0.5 ? 'fair' : 'poor';
  return [
    `Fit: ${word} (${confidence.toFixed(2)}). ${limbs_found} of ${count(limbs_expected, 'limb')} found, ${Math.round(100 * symmetry)} % symmetric.`,
    ...notes,
    ...(confidence < 0.5 ? ['Look at the joints before you bind, or choose another template.'] : []),
  ];
}

/** What was done in a document, for the list of earlier work. */
export function summaryOf(doc: Doc, bound: boolean): string {
  const parts = [
    ...(doc.bones ? [count(doc.bones.length, 'drawn joint')] : []),
    ...(bound ? ['bound'] : []),
    ...(doc.edits.length ? [count(doc.edits.length, 'edit')] : []),
    ...(doc.track.keys.length ? [count(doc.track.keys.length, 'key')] : []),
  ];
  return parts.join(', ') || 'changed settings';
}

/** Names of options of bind. */
const LABELS: Record<string, string> = {
  'max-influences': 'Joints per vertex', 'local-resolution': 'Finer at fingers', penalty: 'Cost at the surface', overshoot: 'Past the end of a bone', domain: 'Volume',
  'hard-range': 'Rigid part of a bone', 'all-pairs': 'Matrix of all pairs', cooling: 'Heat loss', 'heat-transfer': 'Heat from bones', learned: 'Learned from artists',
  'fit-check': 'Check the skeleton', 'lambda-min': 'Exponent, soft', 'lambda-max': 'Exponent, hard', power: 'Exponent', 'limit-rule': 'Beyond the limit',
  'deform-from': 'Joints that move skin', 'weight-format': 'Numbers in the file',
};
/** A word of the command line as one of the page: "surface-heat", "Surface heat". */
export const wordsOf = (word: string): string => (/^[fu]\d+$|^\d/.test(word) ? word : word.replaceAll('-', ' ').replace(/^./, (c) => c.toUpperCase()));
export const labelOf = (option: string): string => LABELS[option] ?? wordsOf(option);

/** What options and commands are in the page: they stand in backticks in messages of the library. */
const IN_PAGE: Record<string, string> = {
  'sinew bind': 'Bind',
  'sinew rig': 'a template',
  folder: 'opening or dropping the whole folder, or a ZIP,',
  exclude: 'Moves skin: off',
  include: 'Moves skin',
  'only-missing': 'Only missing',
  prop: 'sinew studio --prop',
  skeleton: 'a skeleton file that is opened or dropped together with it',
  'skeleton-scale': 'sinew studio --skeleton-scale',
};
function sayInPage({command, option, value}: Named): string {
  const known = IN_PAGE[option ?? `sinew ${command}`];
  if (!option) return known ?? `the command sinew ${command}`;
  const label = known ?? labelOf(option);
  return value && !/^[A-Z]+$/.test(value) ? `${label}${label.startsWith('sinew ') ? '' : ':'} ${value}` : label;
}
const FAILED = /an unknown exception was thrown/i, OUT_OF_MEMORY = /out of memory|Aborted\(OOM\)|memory access out of bounds/i;
export function inPage(text: string): string {
  if (OUT_OF_MEMORY.test(text)) return 'there is not enough memory for this: use a lower resolution, or another method';
  if (FAILED.test(text)) return 'the computation failed, most likely for lack of memory: use a lower resolution, or another method';
  return inWords(text, sayInPage);
}

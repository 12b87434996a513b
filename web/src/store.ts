// The state of the page without DOM: a document with undo and redo.

import type {Animation, Format, OpenFile, Settings} from 'sinew-skin';
import {withRest} from './rest';
import {skeletonText, type Bone} from './skeleton';
import {NO_TRACK, keysToWrite, type Pose, type Track} from './track';

/** An edit as in docs/edits.md. There hardness and rigid edits are separate lists, "falloff" and "rigid", which apply
 * before all others. */
export type Edit =
  | {op: 'hardness'; value: number; select?: Selection}
  | {op: 'rigid'; joint: string; select?: Selection}
  | ({op: 'set' | 'add'; joint: string; value: number} & Painted)
  | ({op: 'scale' | 'multiply'; joints: string; value: number} & Painted)
  | ({op: 'smooth'; length: number} & Painted)
  | ({op: 'relax'; steps: number} & Painted)
  | ({op: 'sharpen'} & Painted)
  | ({op: 'replace'; joints: string; with: string} & Painted)
  | {op: 'mirror'; from: 'left' | 'right'}
  | ({op: 'pin'; pins: readonly Pin[]; reach?: number} & Painted)
  | ({op: 'assign'; joint?: string; as?: 'file'; parts?: true} & Painted)
  | ({op: 'border'; joints: readonly [string, string]; shift?: number; width?: number} & Painted)
  /** An entry of an edit list as its file has it: with a selection or patterns of names that the page does not have. */
  | {op: 'other'; list: 'falloff' | 'rigid' | 'edits'; entry: Readonly<Record<string, unknown>>};
/** A row that is known: at a vertex, or at a place of the surface. */
export interface Pin {
  vertex?: number;
  point?: Triple;
  weights: Readonly<Record<string, number>>;
  /** Only the strongest joint is meant. */
  strongest?: true;
}
/** What all edits of weights may have. */
export interface Painted {
  select?: Selection;
  /** Joints whose weights it does not change. */
  locked?: readonly string[];
  symmetric?: true;
}
/** All keys must match; one matching entry of a selection is enough. */
export interface Where {
  sphere?: {center: Triple; radius: number};
  brush?: BrushStroke;
  vertices?: readonly number[];
  mesh?: string;
  material?: string;
}
export type Triple = [number, number, number];
export type Curve = 'smooth' | 'linear' | 'sharp' | 'dome' | 'constant';
/** A stroke, as docs/edits.md has it. */
export interface BrushStroke {
  points: readonly Triple[];
  radius: number;
  strength?: number;
  strengths?: readonly number[];
  facing?: readonly Triple[];
  curve?: Curve;
  through?: boolean;
}
export type Selection = Where[];

/** The state that undo restores. Fields are replaced, never changed in place. */
export interface Doc {
  /** What the edits begin with: a bind, or the weights that the file has. */
  start: 'bind' | 'file';
  /** The drawn skeleton; null: the file's own. */
  bones: readonly Bone[] | null;
  /** Flat figures: distance in pixels over which a bone's influence falls off; 0 = automatic. */
  smoothness: number;
  /** Options of bind that differ from their default, by their names on the command line. */
  settings: Readonly<Record<string, string>>;
  /** Joints that do not deform, and joints that do in any case. */
  exclude: readonly string[];
  include: readonly string[];
  /** α of single joints. */
  falloff: Readonly<Record<string, number>>;
  /** Joints that keep the weights of the file; and a selection of vertices that do, as an edit list has it. */
  locked: readonly string[];
  lockedWhere: unknown;
  /** Joints whose weights the brush does not change. */
  held: readonly string[];
  edits: readonly Edit[];
  /** The pose by hand, or from the list. */
  pose: Pose;
  /** Poses kept as keys. */
  track: Track;
  /** Poses by hand that stand beside the standard poses. */
  poses: readonly Pose[];
}

export const EMPTY: Doc = {start: 'bind', bones: null, smoothness: 0, settings: {}, exclude: [], include: [], falloff: {}, locked: [], lockedWhere: null, held: [], edits: [], pose: {}, track: NO_TRACK, poses: []};

export class History {
  private past: Doc[] = [];
  private future: Doc[] = [];
  private merging = '';
  private listeners: ((doc: Doc, before: Doc) => void)[] = [];
  private now: Doc;

  constructor(doc: Doc = EMPTY) {
    this.now = doc;
  }

  get doc(): Doc {
    return this.now;
  }
  get canUndo(): boolean {
    return this.past.length > 0;
  }
  get canRedo(): boolean {
    return this.future.length > 0;
  }

  listen(listener: (doc: Doc, before: Doc) => void): void {
    this.listeners.push(listener);
  }

  /** Successive changes with the same `merge` word (dragging a slider) are one step. */
  change(part: Partial<Doc>, merge = ''): void {
    const before = this.now;
    if (!merge || merge !== this.merging) this.past.push(before);
    if (this.past.length > 200) this.past.shift();
    this.merging = merge;
    this.future = [];
    this.now = {...before, ...part};
    this.notify(before);
  }

  /** The next change is a new step, also with the same word: the slider was released. */
  settle(): void {
    this.merging = '';
  }

  undo(): void {
    const before = this.now;
    const last = this.past.pop();
    if (!last) return;
    this.future.push(before);
    this.now = last;
    this.merging = '';
    this.notify(before);
  }

  redo(): void {
    const before = this.now;
    const next = this.future.pop();
    if (!next) return;
    this.past.push(before);
    this.now = next;
    this.merging = '';
    this.notify(before);
  }

  /** Resets the document for another character. */
  reset(doc: Doc = EMPTY): void {
    const before = this.now;
    this.past = [];
    this.future = [];
    this.merging = '';
    this.now = doc;
    this.notify(before);
  }

  private notify(before: Doc) {
    for (const listener of this.listeners) listener(this.now, before);
  }
}

/** The options in the order in which the core takes them: a method's preset first. */
export function settingsOf(doc: Doc): Settings {
  const out: Settings = [];
  // Options that set others come first.
  const first = ['method', 'as-published'];
  for (const name of first) if (doc.settings[name]) out.push([name, doc.settings[name]]);
  for (const [name, value] of Object.entries(doc.settings)) if (!first.includes(name)) out.push([name, value]);
  for (const name of doc.exclude) out.push(['exclude', name]);
  for (const name of doc.include) out.push(['include', name]);
  return out;
}

/** Entries of an edit list: those of "edits", each the object of the document, and all else. */
function listsOf(doc: Doc) {
  const falloff: object[] = Object.entries(doc.falloff).map(([joint, hardness]) => ({hardness, joints: [joint]}));
  const rigid: object[] = [], edits: object[] = [];
  for (const e of doc.edits)
    if (e.op === 'other') ({falloff, rigid, edits})[e.list].push(e.entry);
    else if (e.op === 'hardness') falloff.push({value: e.value, ...(e.select ? {select: e.select} : {})});
    else if (e.op === 'rigid') rigid.push({joints: [e.joint], ...(e.select ? {select: e.select} : {})});
    else edits.push(e);
  // Distances, which these change, are not in a file.
  if (doc.start === 'file') falloff.length = rigid.length = 0;
  const lock = {...(doc.locked.length ? {joints: doc.locked} : {}), ...(doc.lockedWhere ? {select: doc.lockedWhere} : {})};
  return {edits, rest: {...(rigid.length ? {rigid} : {}), ...(falloff.length ? {falloff} : {}), ...(Object.keys(lock).length ? {lock} : {})}};
}

/** A name as a pattern of an edit list: there * and ? are wildcards. */
export const quotedPattern = (name: string) => name.replace(/[*?]/g, '?');

/** Where the factor of all weights of a joint stands in the edits: a `multiply` without a selection; -1: nowhere. */
const placeOfFactor = (doc: Doc, joint: string) =>
  doc.edits.map((e) => e.op === 'multiply' && !e.select && e.joints === quotedPattern(joint)).lastIndexOf(true);

/** The factor of all weights of a joint. */
export function factorOf(doc: Doc, joint: string): number {
  const edit = doc.edits[placeOfFactor(doc, joint)];
  return edit?.op === 'multiply' ? edit.value : 1;
}

/** The edits with another factor, at the same place of the list, or at its end; null: without one. */
export function withFactor(doc: Doc, joint: string, value: number | null): Edit[] {
  const at = placeOfFactor(doc, joint);
  const own = value === null ? [] : [at < 0
    ? {op: 'multiply' as const, joints: quotedPattern(joint), value, ...(doc.held.length ? {locked: doc.held.map(quotedPattern)} : {})}
    : {...doc.edits[at], value} as Edit];
  return at < 0 ? [...doc.edits, ...own] : [...doc.edits.slice(0, at), ...own, ...doc.edits.slice(at + 1)];
}

/** The edit list of docs/edits.md; empty if there are no edits. */
export function editsOf(doc: Doc): string {
  const {edits, rest} = listsOf(doc);
  if (!edits.length && !Object.keys(rest).length) return '';
  return JSON.stringify({sinew: 'edits', ...rest, ...(edits.length ? {edits} : {})});
}

/** What weights follow from: edits, each applied after the one before, and `base`, which all of them need. */
export interface Applied {
  base: string;
  edits: readonly object[];
}
export function appliedOf(doc: Doc, matrices?: Float64Array): Applied {
  const {edits, rest} = listsOf(doc);
  return {base: JSON.stringify([settingsOf(doc), rest, doc.start, [...(matrices ?? [])]]), edits};
}
/** Whether weights depend on the pose: by falloffs with "angles". */
export const followsPose = (doc: Doc) => doc.start === 'bind' && doc.edits.some((e) => e.op === 'other' && e.list === 'falloff' && 'angles' in e.entry);

/** The steps from weights with some edits to those with others: how many are taken back, and which are then applied; null: all
 * weights have to be computed. */
export function stepsBetween(from: Applied | null, to: Applied): {back: number; apply: readonly object[]} | null {
  if (!from || from.base !== to.base) return null;
  let same = 0;
  while (same < from.edits.length && same < to.edits.length && from.edits[same] === to.edits[same]) ++same;
  return {back: from.edits.length - same, apply: to.edits.slice(same)};
}

/** The edit list of all but the strokes. */
export const listBelow = (of: Applied) => JSON.stringify({sinew: 'edits', ...JSON.parse(of.base)[1]});

/** How the weights below strokes differ: 'other', if only in what strokes do not read themselves (falloff, rigid parts);
 * 'anew', if the strokes have to be applied again; null if the strokes differ, or there are none. */
export function belowStrokes(from: Applied | null, to: Applied): 'other' | 'anew' | null {
  if (!from || !to.edits.length || from.edits.length !== to.edits.length || from.edits.some((e, i) => e !== to.edits[i])) return null;
  const read = (of: Applied) => {
    const [settings, {lock}, start] = JSON.parse(of.base) as [Settings, {lock?: object}, Doc['start']];
    return JSON.stringify([settings.filter(([name]) => name === 'max-influences'), lock, start]);
  };
  return read(from) === read(to) ? 'other' : 'anew';
}

const sameNames = (a: readonly string[], b: readonly string[]) => a === b || (a.length === b.length && [...a].sort().join('\n') === [...b].sort().join('\n'));
/** "0.50" and "0.5" are one value. */
const sameValue = (a: string | undefined, b: string | undefined) =>
  a === b || (!!a?.trim() && !!b?.trim() && Number.isFinite(Number(a)) && Number(a) === Number(b));

/** The work that a change needs; joints: another skeleton, which invalidates everything. */
export type Work = 'none' | 'pose' | 'weigh' | 'bind' | 'joints';

/** `groups`: the group of each option, from Core.options(). A change of the method's options needs another bind. */
export function workOf(doc: Doc, before: Doc, groups: ReadonlyMap<string, string>): Work {
  if (doc === before) return 'none';
  if (doc.bones !== before.bones || doc.smoothness !== before.smoothness) return 'joints';
  const names = new Set([...Object.keys(doc.settings), ...Object.keys(before.settings)]);
  let weigh = doc.start !== before.start || doc.falloff !== before.falloff || doc.locked !== before.locked || doc.lockedWhere !== before.lockedWhere || doc.edits !== before.edits;
  if (!sameNames(doc.exclude, before.exclude) || !sameNames(doc.include, before.include)) return 'bind';
  for (const name of names) {
    if (sameValue(doc.settings[name], before.settings[name])) continue;
    const group = groups.get(name);
    if (group === 'Method' || group === 'Joints') return 'bind';
    if (group === 'Weights') weigh = true;
  }
  return weigh ? 'weigh' : doc.pose !== before.pose || doc.track !== before.track ? 'pose' : 'none';
}

/** The keys of edits that name joints. */
export const NAMES = ['joint', 'joints', 'with', 'locked'];

/** A renamed or removed joint: its settings are renamed or removed. Poses and keys refer to numbers and are removed. */
export function withBones(doc: Doc, bones: readonly Bone[], from = '', to: string | null = null): Partial<Doc> {
  const keys = doc.track.keys.length ? {track: {...doc.track, keys: []}} : {};
  if (!from) return {bones, pose: {}, poses: [], ...keys};
  const list = (names: readonly string[]) => names.flatMap((n) => (n !== from ? [n] : to ? [to] : []));
  const falloff = Object.fromEntries(Object.entries(doc.falloff).flatMap(([n, v]) => (n !== from ? [[n, v]] : to ? [[to, v]] : [])));
  const edits = doc.edits.flatMap((e): Edit[] => {
    const pins = (e.op === 'pin' && e.pins) || [], entry = {...e} as Record<string, unknown>;
    const named = [...NAMES.map((key) => entry[key] ?? []), ...pins.map(({weights}) => Object.keys(weights))].flat();
    if (e.op === 'other' || !named.includes(from)) return [e];
    if (!to && ['joint', 'joints', 'with'].some((key) => [entry[key]].flat().includes(from))) return [];
    for (const key of NAMES) if (entry[key]) entry[key] = Array.isArray(entry[key]) ? list(entry[key]) : list([entry[key] as string])[0];
    const kept = pins.filter(({weights}) => to || !(from in weights));
    if (pins.length) entry.pins = kept.map((pin) => ({...pin, weights: Object.fromEntries(Object.entries(pin.weights).map(([name, w]) => [name === from ? to : name, w]))}));
    return pins.length && !kept.length ? [] : [entry as Edit];
  });
  return {bones, pose: {}, poses: [], ...keys, exclude: list(doc.exclude), include: list(doc.include), locked: list(doc.locked), held: list(doc.held), falloff, edits};
}

/** The file, together with the drawn skeleton. */
export function withSkeleton(file: OpenFile, doc: Pick<Doc, 'bones' | 'smoothness'>): OpenFile {
  const {bones, smoothness} = doc;
  const {skeleton: given, skeletonScale, picture, ...rest} = file;
  const bare = {...rest, ...(picture ? {picture: {...picture, smoothness}} : {})};
  if (!bones) return {...bare, ...(given ? {skeleton: given} : {}), ...(skeletonScale ? {skeletonScale} : {})};
  if (!bones.length) return bare;
  const name = `${file.name.replace(/\.[^.]*$/, '')}.${picture ? 'bones' : 'skeleton'}.json`;
  return {...bare, skeleton: {name, bytes: new TextEncoder().encode(skeletonText(bones, picture))}};
}

/** The command `sinew cutout` for a flat figure. `bones`: for a single picture; null for a figure of layers, which has its own. */
export function cutoutLine(input: string, bones: string | null | undefined, smoothness: number): string {
  return [
    'sinew cutout', quoted(input), ...(bones === null ? [] : ['--bones', quoted(bones ?? 'BONES.json')]), '-o', quoted(input.replace(/\.[^.]*$/, '.glb')),
    ...(smoothness ? ['--smoothness', String(smoothness)] : []),
  ].join(' ');
}

/** The pose as the core takes it: ten numbers a joint. `base`: those of the rest pose, if it is not the bind pose. */
export const poseNumbers = (pose: Doc['pose'], joints: number, base: Float64Array | null = null): Float64Array => withRest(base, pose, joints);

/** The keys as an animation to save, or null if there are none. */
export function animationOf({track}: Doc, joints: number, base: Float64Array | null = null): Animation | null {
  const keys = keysToWrite(track);
  if (!keys.length) return null;
  const poses = new Float64Array(keys.length * joints * 10);
  keys.forEach(({pose}, k) => poses.set(poseNumbers(pose, joints, base), k * joints * 10));
  return {name: track.name, step: track.step, times: Float64Array.from(keys, (k) => k.time), poses};
}

/** Quoted for a POSIX shell. */
export function quoted(word: string): string {
  return /^[\w./:=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** What an export is without a choice: an FBX stays one. */
export const formatOf = (input: string): Format => (/\.fbx$/i.test(input) ? 'fbx' : 'glb');

/** "hero.glb" to "hero.skinned.glb"; the output is GLB, or VRM for a VRM. */
export function outputName(input: string, format = formatOf(input)): string {
  const dot = input.lastIndexOf('.');
  const stem = dot > 0 ? input.slice(0, dot) : input;
  return `${stem}.skinned.${format === 'glb' && /\.vrm$/i.test(input) ? 'vrm' : format}`;
}

/** The whole command. */
export function commandLine(input: string, skeleton: string | undefined, options: string, edits: boolean, start: Doc['start'] = 'bind'): string {
  const stem = input.replace(/\.[^.]*$/, '');
  return [
    start === 'file' ? 'sinew apply' : 'sinew bind',
    quoted(input),
    '-o',
    quoted(outputName(input)),
    ...(skeleton ? ['--skeleton', quoted(skeleton)] : []),
    ...(options ? [options] : []),
    ...(edits ? ['--edits', quoted(`${stem}.edits.json`)] : []),
  ].join(' ');
}

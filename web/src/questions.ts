// What Finish asks about: places, parts of the mesh and borders of two joints, and which of them are shown.
import type {Question} from 'sinew-skin';
import {session} from './state';
import {partsOf} from './places';
import type {Triple} from './store';
import {sweepOver} from './sweep';

export interface Card extends Omit<Question, 'text' | 'share'> {
  fine: boolean;
  thumb: ImageData | null;
}
const MOST_SHOWN = 12;  // vertices

export const asking = {
  cards: [] as Card[],
  here: null as Card | null,  // a place, or a part, that was clicked
  at: null as Card | null,  // the chosen one
  twin: true,  // answers are also given on the other side
};

export const jointOf = (name: string) => session.info!.joints.findIndex((j) => j.name === name);
export const nameOf = (joint: number) => session.info!.joints[joint].name;
export const ownerOf = (vertex: number) => session.rows!.joints[vertex * session.rows!.width];
export const placeOf = (vertex: number) => session.opened!.positions.subarray(vertex * 3, vertex * 3 + 3);
export const distance = (a: ArrayLike<number>, b: ArrayLike<number>) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
export const size = () => distance(...session.info!.box);

// ---- parts of the mesh

let parts: {of: object; part: Uint32Array; sizes: Uint32Array} | null = null;
export function partsNow() {
  const opened = session.opened!;
  if (parts?.of === opened) return parts;
  const {part, count} = partsOf(opened.positions, opened.triangles);
  const sizes = new Uint32Array(count);
  for (const p of part) ++sizes[p];
  return (parts = {of: opened, part, sizes});
}
function maskOf(vertex: number): Uint8Array {
  const {part} = partsNow();
  return Uint8Array.from(part, (p) => Number(p === part[vertex]));
}
/** Whether a part is loose: the core refuses to give away the body. */
export const isLoose = (vertex: number) => 2 * partsNow().sizes[partsNow().part[vertex]] < session.opened!.positions.length / 3;

// ---- what a card shows

export const onlyOf = (card: Card) => (card.kind === 'part' ? {vertices: maskOf(card.vertex)} : {joints: card.joints.slice(0, 2).map(jointOf)});

/** Vertices that a card shows: the camera looks at one from where most of them are seen. */
export function shownOf(card: Card): number[] {
  const some = <T>(all: readonly T[]) => all.filter((_, i) => i % Math.ceil(all.length / MOST_SHOWN) === 0);
  if (card.kind === 'part') return [card.vertex, ...some([...onlyOf(card).vertices!.entries()].flatMap(([v, yes]) => (yes ? [v] : [])))];
  return [card.vertex, ...some(card.line ?? []).map(nearestTo)];
}
function nearestTo([x, y, z]: Triple): number {
  const {positions} = session.opened!;
  let best = 0, least = Infinity;
  for (let at = 0; at < positions.length; at += 3) {
    const d = (positions[at] - x) ** 2 + (positions[at + 1] - y) ** 2 + (positions[at + 2] - z) ** 2;
    if (d < least) [best, least] = [at / 3, d];
  }
  return best;
}

/** How far around its vertex a card looks. */
export function radiusOf(card: Card): number {
  const centre = placeOf(card.vertex);
  let most = 0.08 * size();
  if (card.kind === 'border') for (const p of card.line ?? []) most = Math.max(most, distance(p, centre));
  if (card.kind === 'part') onlyOf(card).vertices!.forEach((yes, v) => yes && (most = Math.max(most, distance(placeOf(v), centre))));
  return Math.min(1.25 * most, 0.4 * size());
}

/** The joints that share the surroundings of a vertex, its owner first, then the strongest. */
export function candidates(vertex: number): string[] {
  const {rows, opened} = session;
  const sum = new Map<number, number>();
  const centre = placeOf(vertex), near = 0.08 * size();
  for (let v = 0; v < opened!.positions.length / 3; ++v) {
    if (distance(placeOf(v), centre) > near) continue;
    for (let i = v * rows!.width; i < (v + 1) * rows!.width; ++i) if (rows!.shares[i] > 0) sum.set(rows!.joints[i], (sum.get(rows!.joints[i]) ?? 0) + rows!.shares[i]);
  }
  const own = ownerOf(vertex);
  return [...sum].sort((a, b) => Number(b[0] === own) - Number(a[0] === own) || b[1] - a[1]).slice(0, 5).map(([j]) => nameOf(j));
}

/** The joints that a card asks about swing; that below a border first. */
export const sweepCard = ({kind, joints}: Card) => sweepOver((kind === 'border' ? [...joints].reverse() : joints).map(jointOf).filter((j) => j >= 0));

export const placeCard = (vertex: number, joints = candidates(vertex)): Card => ({kind: 'place', vertex, point: [...placeOf(vertex)] as Triple, joints, fine: false, thumb: null});

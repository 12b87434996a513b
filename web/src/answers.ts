// Answers to the questions of Finish, as edits of the document.
import {asking, jointOf, ownerOf, partsNow, type Card} from './questions';
import {showOnly} from './showing';
import {history} from './state';
import {quotedPattern, type Edit} from './store';
import {tryEdit} from './work';

const REACH = 0.06;  // of √area, the default of a pin

/** The edit of the document that answers it. */
export function editOf({kind, vertex, joints}: Card): Edit | undefined {
  const {part} = partsNow();
  const names = joints.map(quotedPattern).join();
  return history.doc.edits.filter((e) =>
    kind === 'place' ? e.op === 'pin' && e.pins.some((p) => p.vertex === vertex)
    : kind === 'part' ? e.op === 'assign' && !!e.parts && part[e.select?.[0].vertices?.[0] ?? -1] === part[vertex]
    : e.op === 'border' && e.joints.join() === names).at(-1);
}
export const isDone = (card: Card) => card.fine || !!editOf(card);

/** The edits with this answer instead of the one that the card had. Pins of one reach are one edit, and so hold against each other. */
function withAnswer(card: Card, edit: Edit): Edit[] {
  const {edits} = history.doc;
  const before = editOf(card);
  if (edit.op !== 'pin') return before ? edits.map((e) => (e === before ? edit : e)) : [...edits, edit];
  const others = edits.flatMap((e) => (e !== before || e.op !== 'pin' ? [e] : e.pins.length > 1 ? [{...e, pins: e.pins.filter((p) => p.vertex !== card.vertex)}] : []));
  const alike = (e: Edit) => JSON.stringify({...e, pins: []}) === JSON.stringify({...edit, pins: []});
  return [...others.filter((e) => !alike(e)), {...edit, pins: [...others.filter(alike).flatMap((e) => (e.op === 'pin' ? e.pins : [])), ...edit.pins]}];
}
export async function answer(card: Card, edit: Edit, merge = ''): Promise<void> {
  await tryEdit(withAnswer(card, edit), merge);
  if (card === asking.at && card.kind === 'place') showOnly({joints: [ownerOf(card.vertex), jointOf(card.joints[0])]});
}

export const more = () => ({...(history.doc.held.length ? {locked: history.doc.held.map(quotedPattern)} : {}), ...(asking.twin ? {symmetric: true as const} : {})});

export function give(card: Card, joint: string) {
  const {vertex} = card;
  if (card.kind === 'part') return answer(card, {op: 'assign', joint, parts: true, select: [{vertices: [vertex]}], ...more()});
  return answer(card, {op: 'pin', pins: [{vertex, weights: {[joint]: 1}, strongest: true}], reach: reachOf(card) ?? REACH, ...more()});
}
export const asInFile = (card: Card) => answer(card, {op: 'assign', as: 'file', parts: true, select: [{vertices: [card.vertex]}], ...more()});

/** Of a pin; undefined: the card has none. */
export function reachOf(card: Card): number | undefined {
  const edit = editOf(card);
  return edit?.op === 'pin' ? edit.reach ?? REACH : undefined;
}
export function setReach(card: Card, reach: number) {
  const edit = editOf(card);
  if (edit?.op !== 'pin') return;
  void answer(card, {...edit, pins: edit.pins.filter((p) => p.vertex === card.vertex), reach: Number(Math.min(Math.max(reach, 0.01), 0.5).toPrecision(3))}, `reach ${card.vertex}`);
}

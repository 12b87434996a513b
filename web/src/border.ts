// The border of two joints on the skin: a line and its rails, which are dragged.
import {answer, editOf, more} from './answers';
import {asking, distance, jointOf, placeOf, size, sweepCard, type Card} from './questions';
import {history, on, session, view} from './state';
import {borderOf, type OnEdges} from './places';
import {quotedPattern, type Triple} from './store';
import {sweepOver} from './sweep';

const RAIL = 0.304;  // of the width of a border: how far from its middle a joint has a tenth

function borderEdit(card: Card) {
  const edit = editOf(card);
  return edit?.op === 'border' ? edit : null;
}
/** The border's numbers: of the edit, and the width that it has by itself. */
export function borderIn(card: Card): {shift: number; width: number} {
  const edit = borderEdit(card);
  return {shift: edit?.shift ?? 0, width: edit?.width ?? widthNow(card)};
}
export function setBorder(card: Card, {shift, width}: {shift?: number; width?: number}) {
  const edit = borderEdit(card);
  const [a, b] = card.joints.map(quotedPattern);
  const short = (x: number) => Number(x.toPrecision(3));
  void answer(card, {op: 'border', joints: [a, b], shift: short(shift ?? edit?.shift ?? 0), ...((width ?? edit?.width) ? {width: short(width ?? edit!.width!)} : {}), ...more()},
              `border ${card.vertex}`);
}

let lines: {middle: OnEdges; rails: OnEdges[]} | null = null;

export function drawBorder() {
  const {rows, opened} = session;
  lines = null;
  const {at} = asking;
  if (at?.kind === 'border' && rows && opened && session.step === 'finish') {
    const [a, b] = at.joints.map(jointOf);
    const of = (level: number) => borderOf(rows, opened.triangles, a, b, level);
    lines = {middle: of(0.5), rails: [of(0.9), of(0.1)]};
  }
  view.figure.setBorder(lines);
}

/** The place of a line that is nearest to a point, in bind space. */
function nearestOn({ends, share}: OnEdges, to: ArrayLike<number>): Triple {
  let best: Triple = [NaN, NaN, NaN], least = Infinity;
  for (let i = 0; i < share.length; ++i) {
    const [p, q] = [placeOf(ends[2 * i]), placeOf(ends[2 * i + 1])];
    const place = [0, 1, 2].map((k) => p[k] + (q[k] - p[k]) * share[i]) as Triple;
    const d = distance(place, to);
    if (d < least) [best, least] = [place, d];
  }
  return best;
}
function widthNow(card: Card): number {
  if (!lines) return 0.05 * size();
  const centre = placeOf(card.vertex);
  const wide = distance(nearestOn(lines.rails[0], centre), nearestOn(lines.rails[1], centre)) / (2 * RAIL);
  return Number.isFinite(wide) ? wide : 0.05 * size();
}

let dragged: {line: number; from: Triple; middle: Triple; across: Triple; shift: number} | null = null;
/** Whether the pointer takes the border, or one of its rails. */
export function beginBorder(x: number, y: number): boolean {
  if (session.step !== 'finish' || asking.at?.kind !== 'border' || !lines) return false;
  const line = view.picker.borderAt(x, y);
  const hit = line >= 0 ? view.picker.surfaceAt(x, y) : null;
  if (!hit) return false;
  sweepOver([]);
  const middle = nearestOn(lines.middle, hit.bind);
  const [a, b] = lines.rails.map((rail) => nearestOn(rail, middle));
  const length = distance(a, b);
  if (!(length > 0)) return false;
  history.settle();
  dragged = {line, from: hit.bind, middle, across: a.map((x, k) => (b[k] - x) / length) as Triple, shift: borderIn(asking.at).shift};
  return true;
}
export function dragBorder(x: number, y: number): void {
  const hit = dragged && view.picker.surfaceAt(x, y);
  const {at} = asking;
  if (!dragged || !hit || !at) return;
  const {line, from, middle, across, shift} = dragged;
  const along = (p: ArrayLike<number>, q: ArrayLike<number>) => across.reduce((sum, c, k) => sum + c * (p[k] - q[k]), 0);
  if (line === 0) setBorder(at, {shift: shift + along(hit.bind, from)});
  else setBorder(at, {width: Math.max(Math.abs(along(hit.bind, middle)) / RAIL, 0.004 * size())});
}
export function endBorder(): boolean {
  const was = !!dragged;
  dragged = null;
  if (was) history.settle();
  if (was && asking.at) sweepCard(asking.at);
  return was;
}

/** After the weights have changed. A dragged line is drawn again only while there is one. */
export function renewBorder(): void {
  if (!dragged || lines) drawBorder();
}
on(['interrupt'], () => endBorder());

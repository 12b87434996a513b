// Finish: questions about the places where the weights are likely wrong, and what an answer does.
import type {Question} from 'sinew-skin';
import {button, byId, check, choice, el, refill, slider, type VNode} from './dom';
import {busy, showError} from './messages';
import {selectJoint, setStep, showOnly} from './showing';
import {client, history, on, session, view} from './state';
import {alone, canEdit, tryEdit} from './work';
import {borderOf, partsOf, type OnEdges} from './places';
import {quotedPattern, type Edit, type Triple} from './store';
import {colourOf, swatch, withJoints} from './surface';
import {sweepOver} from './sweep';

interface Card extends Omit<Question, 'text' | 'share'> {
  fine: boolean;
  thumb: ImageData | null;
}
const MOST = 10;
const REACH = 0.06;  // of √area, the default of a pin
const MOST_SHOWN = 12;  // vertices
const RAIL = 0.304;  // of the width of a border: how far from its middle a joint has a tenth

let cards: Card[] = [];
let here: Card | null = null;  // a place, or a part, that was clicked
let at: Card | null = null;  // the chosen one
let twin = true;
let asked: object | null = null;  // the weights that were asked about: a bind, or the open file

const jointOf = (name: string) => session.info!.joints.findIndex((j) => j.name === name);
const nameOf = (joint: number) => session.info!.joints[joint].name;
const ownerOf = (vertex: number) => session.rows!.joints[vertex * session.rows!.width];
const placeOf = (vertex: number) => session.opened!.positions.subarray(vertex * 3, vertex * 3 + 3);
const distance = (a: ArrayLike<number>, b: ArrayLike<number>) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
const size = () => distance(...session.info!.box);

// ---- parts of the mesh

let parts: {of: object; part: Uint32Array; sizes: Uint32Array} | null = null;
function partsNow() {
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
const isLoose = (vertex: number) => 2 * partsNow().sizes[partsNow().part[vertex]] < session.opened!.positions.length / 3;

// ---- cards

/** The edit of the document that answers it. */
function editOf({kind, vertex, joints}: Card): Edit | undefined {
  const {part} = partsNow();
  const names = joints.map(quotedPattern).join();
  return history.doc.edits.filter((e) =>
    kind === 'place' ? e.op === 'pin' && e.pins.some((p) => p.vertex === vertex)
    : kind === 'part' ? e.op === 'assign' && !!e.parts && part[e.select?.[0].vertices?.[0] ?? -1] === part[vertex]
    : e.op === 'border' && e.joints.join() === names).at(-1);
}
const isDone = (card: Card) => card.fine || !!editOf(card);

const titleOf = ({kind, joints}: Card) =>
  kind === 'part' ? 'Who owns this part?' : kind === 'border' ? `Where does ${joints[0]} end and ${joints[1]} begin?` : `Is this ${joints[0]}’s?`;

const onlyOf = (card: Card) => (card.kind === 'part' ? {vertices: maskOf(card.vertex)} : {joints: card.joints.slice(0, 2).map(jointOf)});

/** Vertices that a card shows: the camera looks at one from where most of them are seen. */
function shownOf(card: Card): number[] {
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
function radiusOf(card: Card): number {
  const centre = placeOf(card.vertex);
  let most = 0.08 * size();
  if (card.kind === 'border') for (const p of card.line ?? []) most = Math.max(most, distance(p, centre));
  if (card.kind === 'part') onlyOf(card).vertices!.forEach((yes, v) => yes && (most = Math.max(most, distance(placeOf(v), centre))));
  return Math.min(1.25 * most, 0.4 * size());
}

/** The joints that share the surroundings of a vertex, its owner first, then the strongest. */
function candidates(vertex: number): string[] {
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

async function ask() {
  if (!canEdit()) return;
  asked = startOf();
  choose(null);
  cards = [];
  await alone(async () => {
    busy('Looking for the places where an answer is worth most…');
    cards = (await client.questions(MOST)).map((q) => ({
      ...q, joints: q.kind === 'border' ? q.joints : [...new Set([...q.joints, ...candidates(q.vertex)])].slice(0, 6), fine: false, thumb: null,
    }));
  });
  draw();
  await picture();
}
const startOf = () => (history.doc.start === 'file' ? session.opened : session.bound);

/** Thumbnails, one a frame. */
async function picture() {
  for (const card of [...cards]) {
    if (!cards.includes(card)) return;
    card.thumb = withJoints(onlyOf(card), () => view.pictures.thumbnail(104, 70, {at: {among: shownOf(card), radius: radiusOf(card)}}));
    draw();
    await new Promise(requestAnimationFrame);
  }
}

function choose(card: Card | null) {
  at = card;
  showOnly(card && onlyOf(card));
  drawBorder();
  if (card) {
    const joint = jointOf(card.joints[card.kind === 'border' ? 1 : 0]);
    view.eye.lookAt(shownOf(card), radiusOf(card));
    selectJoint(joint);
    sweepCard(card);
    document.querySelector('main')!.scrollIntoView();  // on a phone, where the question is below the view
  }
  draw();
}

/** The joints that a card asks about swing; that below a border first. */
const sweepCard = ({kind, joints}: Card) => sweepOver((kind === 'border' ? [...joints].reverse() : joints).map(jointOf).filter((j) => j >= 0));

/** The next card without an answer. */
function next() {
  const order = [...cards.slice(cards.indexOf(at!) + 1), ...cards];
  const card = order.find((c) => !isDone(c));
  if (card) return choose(card);
  choose(null);
  sweepOver([]);
  view.eye.frame();
}

// ---- answers

/** The edits with this answer instead of the one that the card had. Pins of one reach are one edit, and so hold against each other. */
function withAnswer(card: Card, edit: Edit): Edit[] {
  const {edits} = history.doc;
  const before = editOf(card);
  if (edit.op !== 'pin') return before ? edits.map((e) => (e === before ? edit : e)) : [...edits, edit];
  const others = edits.flatMap((e) => (e !== before || e.op !== 'pin' ? [e] : e.pins.length > 1 ? [{...e, pins: e.pins.filter((p) => p.vertex !== card.vertex)}] : []));
  const alike = (e: Edit) => JSON.stringify({...e, pins: []}) === JSON.stringify({...edit, pins: []});
  return [...others.filter((e) => !alike(e)), {...edit, pins: [...others.filter(alike).flatMap((e) => (e.op === 'pin' ? e.pins : [])), ...edit.pins]}];
}
async function answer(card: Card, edit: Edit, merge = ''): Promise<void> {
  await tryEdit(withAnswer(card, edit), merge);
  if (card === at && card.kind === 'place') showOnly({joints: [ownerOf(card.vertex), jointOf(card.joints[0])]});
  draw();
}

const more = () => ({...(history.doc.held.length ? {locked: history.doc.held.map(quotedPattern)} : {}), ...(twin ? {symmetric: true as const} : {})});

function give(card: Card, joint: string) {
  const {vertex} = card;
  if (card.kind === 'part') return answer(card, {op: 'assign', joint, parts: true, select: [{vertices: [vertex]}], ...more()});
  return answer(card, {op: 'pin', pins: [{vertex, weights: {[joint]: 1}, strongest: true}], reach: reachOf(card) ?? REACH, ...more()});
}
const asInFile = (card: Card) => answer(card, {op: 'assign', as: 'file', parts: true, select: [{vertices: [card.vertex]}], ...more()});

/** Of a pin; undefined: the card has none. */
function reachOf(card: Card): number | undefined {
  const edit = editOf(card);
  return edit?.op === 'pin' ? edit.reach ?? REACH : undefined;
}
function setReach(card: Card, reach: number) {
  const edit = editOf(card);
  if (edit?.op !== 'pin') return;
  void answer(card, {...edit, pins: edit.pins.filter((p) => p.vertex === card.vertex), reach: Number(Math.min(Math.max(reach, 0.01), 0.5).toPrecision(3))}, `reach ${card.vertex}`);
}

function borderEdit(card: Card) {
  const edit = editOf(card);
  return edit?.op === 'border' ? edit : null;
}
/** The border's numbers: of the edit, and the width that it has by itself. */
function borderIn(card: Card): {shift: number; width: number} {
  const edit = borderEdit(card);
  return {shift: edit?.shift ?? 0, width: edit?.width ?? widthNow(card)};
}
function setBorder(card: Card, {shift, width}: {shift?: number; width?: number}) {
  const edit = borderEdit(card);
  const [a, b] = card.joints.map(quotedPattern);
  const short = (x: number) => Number(x.toPrecision(3));
  void answer(card, {op: 'border', joints: [a, b], shift: short(shift ?? edit?.shift ?? 0), ...((width ?? edit?.width) ? {width: short(width ?? edit!.width!)} : {}), ...more()},
              `border ${card.vertex}`);
}

// ---- the border on the skin

let lines: {middle: OnEdges; rails: OnEdges[]} | null = null;

function drawBorder() {
  const {rows, opened} = session;
  lines = null;
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
  if (session.step !== 'finish' || at?.kind !== 'border' || !lines) return false;
  const line = view.picker.borderAt(x, y);
  const hit = line >= 0 ? view.picker.surfaceAt(x, y) : null;
  if (!hit) return false;
  sweepOver([]);
  const middle = nearestOn(lines.middle, hit.bind);
  const [a, b] = lines.rails.map((rail) => nearestOn(rail, middle));
  const length = distance(a, b);
  if (!(length > 0)) return false;
  history.settle();
  dragged = {line, from: hit.bind, middle, across: a.map((x, k) => (b[k] - x) / length) as Triple, shift: borderIn(at).shift};
  return true;
}
export function dragBorder(x: number, y: number): void {
  const hit = dragged && view.picker.surfaceAt(x, y);
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
  if (was && at) sweepCard(at);
  return was;
}

// ---- a place or a part that was clicked

const placeCard = (vertex: number, joints = candidates(vertex)): Card => ({kind: 'place', vertex, point: [...placeOf(vertex)] as Triple, joints, fine: false, thumb: null});

/** A click on the skin selects its owner, and asks whose the place is. */
export function choosePlace(vertex: number | null): void {
  here = null;
  if (session.step === 'finish' && vertex !== null && canEdit() && session.rows) {
    here = placeCard(vertex);
    sweepOver([]);
    selectJoint(ownerOf(vertex));
  }
  draw();
}
/** Whether there is a loose part, which is then asked about. */
export function choosePart(vertex: number): boolean {
  if (session.step !== 'finish' || !canEdit() || !isLoose(vertex)) return false;
  here = {kind: 'part', vertex, point: [...placeOf(vertex)] as Triple, joints: candidates(vertex), fine: false, thumb: null};
  choose(here);
  return true;
}

// ---- pins over the view

let root = 0;  // √area
function rootOfArea(): number {
  const {positions, triangles} = session.opened!;
  let area = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => placeOf(triangles[t + k]));
    const u = [0, 1, 2].map((k) => b[k] - a[k]), v = [0, 1, 2].map((k) => c[k] - a[k]);
    area += Math.hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]) / 2;
  }
  return positions.length ? Math.sqrt(area) : 0;
}

/** Those of the document, and the place that is asked about. */
function pins(): {vertex: number; name: string}[] {
  if (session.step !== 'finish' || !session.rows) return [];
  const answered = history.doc.edits.flatMap((e) => (e.op === 'pin' ? e.pins.flatMap(({vertex}) => vertex ?? []) : []));
  const asked = [at, here].flatMap((card) => (card?.kind === 'place' ? [card.vertex] : []));
  const vertices = session.info!.counts.vertices;
  return [...new Set([...answered, ...asked])].filter((v) => v < vertices).map((vertex) => ({vertex, name: nameOf(ownerOf(vertex))}));
}
const cardAt = (vertex: number) => [...cards, ...(here ? [here] : [])].find((card) => card.kind === 'place' && card.vertex === vertex);
function drawPins() {
  refill(byId('pins'), ...pins().map(({vertex, name}, i) => {
    const card = cardAt(vertex) ?? placeCard(vertex, []);
    return el('button', {
      key: vertex, type: 'button', class: editOf(card) ? 'pin' : 'pin asked', 'data-pin': i, 'aria-pressed': card === at || card === here,
      title: `${name}: the wheel changes how far it reaches`, 'aria-label': `Pin: ${name}`,
      onClick: () => choose(cardAt(vertex) ?? (here = placeCard(vertex))), onPointerLeave: () => view.ring.hide(),
      onWheel: (event: WheelEvent) => {
        event.preventDefault();
        const reach = reachOf(card);
        if (reach === undefined) return;
        setReach(card, reach * 1.15 ** -Math.sign(event.deltaY));
        root ||= rootOfArea();
        view.ring.around(vertex, reachOf(card)! * root);
      },
    }, swatch(colourOf(ownerOf(vertex))));
  }));
  placePins();
}
function placePins() {
  const all = pins();
  for (const pin of byId('pins').children as HTMLCollectionOf<HTMLElement>) {
    const {vertex} = all[Number(pin.dataset.pin)] ?? {};
    if (vertex === undefined) continue;
    const {x, y} = view.figure.pixelOfVertex(vertex);
    pin.style.left = `${x}px`;
    pin.style.top = `${y}px`;
  }
}
view.stage.cameraListeners.push(placePins);

// ---- elements

const Thumb = ({data}: {data: ImageData | null}): VNode => el('canvas', {
  width: 104, height: 70, 'aria-hidden': 'true', ref: (canvas: HTMLCanvasElement | null) => data && canvas?.getContext('2d')!.putImageData(data, 0, 0),
});

const short = ({kind, joints}: Card) => (kind === 'part' ? `Part: ${joints[0]}?` : kind === 'border' ? `${joints[0]} | ${joints[1]}` : `${joints[0]}?`);

function drawCards() {
  const box = byId('cards');
  box.hidden = session.step !== 'finish';
  if (box.hidden) return;
  refill(box, cards.length > 0 && el('ol', {'aria-label': 'Questions'}, ...cards.map((card, i) => el('li', {key: i},
    el('button', {type: 'button', class: 'card', 'aria-pressed': card === at, title: titleOf(card), onClick: () => choose(card)},
       el(Thumb as never, {data: card.thumb}), el('span', {}, isDone(card) ? `✓ ${short(card)}` : short(card)))))));
}

/** A joint to choose: its colour and its name. */
const chip = (card: Card, name: string): VNode => el('button', {
  key: name, type: 'button', class: 'chip', 'aria-pressed': jointOf(name) === ownerOf(card.vertex), title: `${name} takes it`, onClick: () => void give(card, name).catch(showError),
}, swatch(colourOf(jointOf(name))), name);

function detail(card: Card): VNode[] {
  const reach = reachOf(card);
  const all = session.info!.joints.flatMap((j): [string, string][] => (j.deforms ? [[j.name, j.name]] : []));
  const both = check('The other side too', 'The same on the mirrored side, with the partners of the joints', twin, (on) => (twin = on));
  const fine = el('div', {class: 'row'}, button(isDone(card) && !card.fine ? 'Next' : 'Fine', 'On to the next question', () => {
    card.fine ||= !isDone(card);
    next();
  }, {key: 'fine', class: isDone(card) ? 'primary grow' : 'grow'}));
  const title = el('h2', {class: 'question'}, titleOf(card));
  if (card.kind === 'border') {
    const {shift, width} = borderIn(card);
    const most = 0.06 * size();
    const text = (x: number) => x.toPrecision(2);
    return [title, el('p', {class: 'dim'}, 'Drag the white line on the skin, or a dark rail to make it softer.'),
      slider('Shift', `Away from ${card.joints[0]}, in the units of the file`, {min: -most, max: most, step: most / 100}, shift, (v) => setBorder(card, {shift: v}), () => history.settle(), text),
      slider('Width', 'The length over which one goes into the other', {min: most / 50, max: 4 * most, step: most / 50}, width, (v) => setBorder(card, {width: v}), () => history.settle(), text),
      both, fine];
  }
  return [title, el('div', {class: 'chips'}, ...card.joints.map((name) => chip(card, name)),
      card.kind === 'part' && session.opened!.ownRows && history.doc.start !== 'file' && button('As in the file', 'Its weights of the file come back', () => void asInFile(card).catch(showError), {class: 'chip'})),
    choice('Another joint', 'Any joint that moves skin', [['', 'choose'], ...all], '', (name) => name && void give(card, name).catch(showError)),
    ...(reach === undefined ? [] : [slider('Reach', 'How far the answer spreads: a share of the square root of the surface', {min: 0.01, max: 0.3, step: 0.005}, reach,
                                           (v) => setReach(card, v), () => history.settle())]),
    both, ...(card === here ? [] : [fine])];
}

function draw() {
  if (!session.opened) return;
  if (!session.rows || !canEdit()) {
    refill(byId('finish-panel'), el('h2', {}, 'Finish'), el('p', {class: 'dim'}, session.stale ? 'Options changed: bind again first.' : 'Bind first: questions are about the weights.'),
      el('div', {class: 'row'}, button('To Bind', 'The panel with the options', () => setStep('bind'), {class: 'primary'})));
  } else {
    const done = cards.filter(isDone).length;
    const shown = at ?? here;
    refill(byId('finish-panel'),
      shown ? el('div', {key: `card ${cards.indexOf(shown)}`}, ...detail(shown)) : el('p', {class: 'dim'}, cards.length
        ? 'Choose a card, or click the skin; a double click takes a loose part.' : 'Click the skin to say whose it is.'),
      at && here && here !== at && el('div', {key: 'here'}, ...detail(here)),
      el('div', {class: 'row'}, el('small', {}, cards.length ? `${done} of ${cards.length} answered` : ''),
         button('Ask again', 'Questions about the weights as they are now', () => void ask(), {id: 'ask'})));
  }
  drawCards();
  drawPins();
}

on(['character'], () => {
  cards = [];
  here = at = asked = parts = null;
  root = 0;
});
on(['character', 'bound', 'weights', 'tool', 'options'], () => {
  view.figure.setThin(session.step === 'finish');
  if (session.step !== 'finish') {
    here = at = null;
    sweepOver([]);
  } else if (canEdit() && !session.refining && asked !== startOf()) {
    void ask();
  }
  if (!dragged || lines) drawBorder();
  draw();
});
on(['interrupt'], () => endBorder());
history.listen((doc, before) => {
  if (doc.edits !== before.edits) draw();
});

// Finish: questions about the places where the weights are likely wrong, and what an answer does.
import {asInFile, give, isDone, reachOf, setReach} from './answers';
import {borderIn, drawBorder, renewBorder, setBorder} from './border';
import {button, byId, check, choice, el, refill, slider, type VNode} from './dom';
import {busy, showError} from './messages';
import {drawPins} from './pins';
import {asking, candidates, isLoose, jointOf, onlyOf, ownerOf, placeCard, placeOf, radiusOf, shownOf, size, sweepCard, type Card} from './questions';
import {selectJoint, setStep, showOnly} from './showing';
import {client, history, on, session, view} from './state';
import type {Triple} from './store';
import {colourOf, swatch, withJoints} from './surface';
import {sweepOver} from './sweep';
import {alone, canEdit} from './work';

const MOST = 10;

let asked: object | null = null;  // the weights that were asked about: a bind, or the open file

// ---- cards

const titleOf = ({kind, joints}: Card) =>
  kind === 'part' ? 'Who owns this part?' : kind === 'border' ? `Where does ${joints[0]} end and ${joints[1]} begin?` : `Is this ${joints[0]}’s?`;

async function ask() {
  if (!canEdit()) return;
  asked = startOf();
  choose(null);
  asking.cards = [];
  await alone(async () => {
    busy('Looking for the places where an answer is worth most…');
    asking.cards = (await client.questions(MOST)).map((q) => ({
      ...q, joints: q.kind === 'border' ? q.joints : [...new Set([...q.joints, ...candidates(q.vertex)])].slice(0, 6), fine: false, thumb: null,
    }));
  });
  draw();
  await picture();
}
const startOf = () => (history.doc.start === 'file' ? session.opened : session.bound);

/** Thumbnails, one a frame. */
async function picture() {
  for (const card of [...asking.cards]) {
    if (!asking.cards.includes(card)) return;
    card.thumb = withJoints(onlyOf(card), () => view.pictures.thumbnail(104, 70, {at: {among: shownOf(card), radius: radiusOf(card)}}));
    draw();
    await new Promise(requestAnimationFrame);
  }
}

function choose(card: Card | null) {
  asking.at = card;
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

/** The next card without an answer. */
function next() {
  const order = [...asking.cards.slice(asking.cards.indexOf(asking.at!) + 1), ...asking.cards];
  const card = order.find((c) => !isDone(c));
  if (card) return choose(card);
  choose(null);
  sweepOver([]);
  view.eye.frame();
}

// ---- a place or a part that was clicked

/** A click on the skin selects its owner, and asks whose the place is. */
export function choosePlace(vertex: number | null): void {
  asking.here = null;
  if (session.step === 'finish' && vertex !== null && canEdit() && session.rows) {
    asking.here = placeCard(vertex);
    sweepOver([]);
    selectJoint(ownerOf(vertex));
  }
  draw();
}
/** Whether there is a loose part, which is then asked about. */
export function choosePart(vertex: number): boolean {
  if (session.step !== 'finish' || !canEdit() || !isLoose(vertex)) return false;
  asking.here = {kind: 'part', vertex, point: [...placeOf(vertex)] as Triple, joints: candidates(vertex), fine: false, thumb: null};
  choose(asking.here);
  return true;
}

// ---- elements

const Thumb = ({data}: {data: ImageData | null}): VNode => el('canvas', {
  width: 104, height: 70, 'aria-hidden': 'true', ref: (canvas: HTMLCanvasElement | null) => data && canvas?.getContext('2d')!.putImageData(data, 0, 0),
});

const short = ({kind, joints}: Card) => (kind === 'part' ? `Part: ${joints[0]}?` : kind === 'border' ? `${joints[0]} | ${joints[1]}` : `${joints[0]}?`);

function drawCards() {
  const box = byId('cards');
  box.hidden = session.step !== 'finish';
  if (box.hidden) return;
  refill(box, asking.cards.length > 0 && el('ol', {'aria-label': 'Questions'}, ...asking.cards.map((card, i) => el('li', {key: i},
    el('button', {type: 'button', class: 'card', 'aria-pressed': card === asking.at, title: titleOf(card), onClick: () => choose(card)},
       el(Thumb as never, {data: card.thumb}), el('span', {}, isDone(card) ? `✓ ${short(card)}` : short(card)))))));
}

/** A joint to choose: its colour and its name. */
const chip = (card: Card, name: string): VNode => el('button', {
  key: name, type: 'button', class: 'chip', 'aria-pressed': jointOf(name) === ownerOf(card.vertex), title: `${name} takes it`, onClick: () => void give(card, name).catch(showError),
}, swatch(colourOf(jointOf(name))), name);

function detail(card: Card): VNode[] {
  const reach = reachOf(card);
  const all = session.info!.joints.flatMap((j): [string, string][] => (j.deforms ? [[j.name, j.name]] : []));
  const both = check('The other side too', 'The same on the mirrored side, with the partners of the joints', asking.twin, (on) => (asking.twin = on));
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
    both, ...(card === asking.here ? [] : [fine])];
}

function draw() {
  if (!session.opened) return;
  if (!session.rows || !canEdit()) {
    refill(byId('finish-panel'), el('h2', {}, 'Finish'), el('p', {class: 'dim'}, session.stale ? 'Options changed: bind again first.' : 'Bind first: questions are about the weights.'),
      el('div', {class: 'row'}, button('To Bind', 'The panel with the options', () => setStep('bind'), {class: 'primary'})));
  } else {
    const done = asking.cards.filter(isDone).length;
    const shown = asking.at ?? asking.here;
    refill(byId('finish-panel'),
      shown ? el('div', {key: `card ${asking.cards.indexOf(shown)}`}, ...detail(shown)) : el('p', {class: 'dim'}, asking.cards.length
        ? 'Choose a card, or click the skin; a double click takes a loose part.' : 'Click the skin to say whose it is.'),
      asking.at && asking.here && asking.here !== asking.at && el('div', {key: 'here'}, ...detail(asking.here)),
      el('div', {class: 'row'}, el('small', {}, asking.cards.length ? `${done} of ${asking.cards.length} answered` : ''),
         button('Ask again', 'Questions about the weights as they are now', () => void ask(), {id: 'ask'})));
  }
  drawCards();
  drawPins(choose);
}

on(['character'], () => {
  asking.cards = [];
  asking.here = asking.at = null;
  asked = null;
});
on(['character', 'bound', 'weights', 'tool', 'options'], () => {
  view.figure.setThin(session.step === 'finish');
  if (session.step !== 'finish') {
    asking.here = asking.at = null;
    sweepOver([]);
  } else if (canEdit() && !session.refining && asked !== startOf()) {
    void ask();
  }
  renewBorder();
  draw();
});
history.listen((doc, before) => {
  if (doc.edits !== before.edits) draw();
});

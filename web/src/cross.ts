// A pointer for the keyboard: arrows move a cross over the view, Enter acts like a click there, or paints once.
import {beginStroke, endStroke, hoverBrush} from './brush';
import {byId} from './dom';
import {pick} from './pointer';
import {session, view} from './state';

const views = byId('view');
const cross = byId('cross');
const STEP = 6, HELD = 14;  // pixels; a held key moves faster
const TURN = Math.PI / 18;
let at: {x: number; y: number} | null = null;  // relative to the corner of the view

views.tabIndex = 0;

function place(x: number, y: number) {
  const {clientWidth: w, clientHeight: h} = views;
  at = {x: Math.min(Math.max(x, 0), w - 1), y: Math.min(Math.max(y, 0), h - 1)};
  cross.hidden = false;
  cross.style.left = `${at.x}px`;
  cross.style.top = `${at.y}px`;
  const {left, top} = views.getBoundingClientRect();
  hoverBrush(left + at.x, top + at.y);
}

function press() {
  if (!at) return;
  const {left, top} = views.getBoundingClientRect();
  const [x, y] = [left + at.x, top + at.y];
  if (session.tool === 'paint') {
    if (beginStroke({x, y, pressure: 1})) endStroke();
  } else {
    pick(x, y);
  }
}

const ARROWS: Record<string, [number, number]> = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};

views.addEventListener('keydown', (event) => {
  if (!session.opened || event.ctrlKey || event.metaKey || event.altKey) return;
  const arrow = ARROWS[event.key];
  if (arrow && event.shiftKey) view.eye.turn(-arrow[0] * TURN, -arrow[1] * TURN);
  else if (arrow) {
    const {clientWidth, clientHeight} = views;
    const step = event.repeat ? HELD : at ? STEP : 0;
    place((at?.x ?? clientWidth / 2) + arrow[0] * step, (at?.y ?? clientHeight / 2) + arrow[1] * step);
  } else if (event.key === 'Enter') press();
  else if (event.key === '+' || event.key === '-') view.eye.turn(0, 0, event.key === '+' ? 1 / 1.15 : 1.15);
  else return;
  event.preventDefault();
  event.stopPropagation();
});

function hide() {
  cross.hidden = true;
  at = null;
  view.ring.hide();
}
views.addEventListener('blur', hide);
views.addEventListener('pointerdown', hide);

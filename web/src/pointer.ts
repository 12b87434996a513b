// The pointer over the views: selects joints and vertices, paints, draws. cross.ts is the pointer for the keyboard.
import {beginStroke, continueStroke, endStroke, hoverBrush, type Pressed} from './brush';
import {byId} from './dom';
import {addAt, beginDrag, drag, endDrag} from './drawing';
import {beginBorder, dragBorder, endBorder} from './border';
import {choosePart, choosePlace} from './finish';
import {undo} from './session';
import {probe, selectJoint} from './showing';
import {session, view} from './state';

const views = byId('view');
const hover = byId('hover');
const FINGER = 24;  // maximum distance in pixels between a finger and a joint
const PINCH = 250;  // milliseconds within which a second finger makes a stroke a pinch; later, too, if the first has not moved
const CLICK = {mouse: 5, touch: 12};  // pixels: smaller movements count as clicks
let down: {x: number; y: number} | null = null;

const isClick = (event: PointerEvent) =>
  down !== null && Math.hypot(event.clientX - down.x, event.clientY - down.y) < (event.pointerType === 'touch' ? CLICK.touch : CLICK.mouse);

const pressedOf = (event: PointerEvent): Pressed =>
  ({x: event.clientX, y: event.clientY, pressure: event.pointerType === 'pen' ? event.pressure : 1});

/** The finger of the current stroke or drag; others rotate and zoom the view. */
let finger = -1, since = 0;

// Runs before the controls of the views. A second finger ends the stroke, and both rotate and zoom the view. A stroke that
// has just started is dropped: it was the first of two fingers.
views.addEventListener('pointerdown', (event) => {
  if (event.isPrimary || finger < 0) return;
  const dabs = endStroke();
  if (dabs) {
    if (dabs === 1 || event.timeStamp - since < PINCH) undo();
  } else {
    endDrag();
  }
  finger = -1;
  view.stage.setOrbit(true);
}, {capture: true});
views.addEventListener('pointerdown', (event) => {
  // Two fingers are not a click.
  down = event.isPrimary ? {x: event.clientX, y: event.clientY} : null;
  if (!event.isPrimary) return;
  if (event.button !== 0) return;
  const [x, y] = [event.clientX, event.clientY];
  // With Alt the view turns, also over the character.
  if (event.altKey) return;
  if (!beginStroke(pressedOf(event), {shift: event.shiftKey, control: event.ctrlKey || event.metaKey}) &&
      !beginDrag(x, y, event.pointerType === 'touch' ? FINGER : undefined) && !beginBorder(x, y)) return;
  finger = event.pointerId;
  since = event.timeStamp;
  view.stage.setOrbit(false);
  (event.target as Element).setPointerCapture(event.pointerId);
});
views.addEventListener('pointermove', (event) => {
  if (event.isPrimary) hoverBrush(event.clientX, event.clientY);
  // The name of the joint under a mouse that only moves.
  const over = event.pointerType === 'mouse' && !event.buttons && session.info ? view.picker.jointAt(event.clientX, event.clientY) : -1;
  hover.hidden = over < 0;
  if (over >= 0) {
    const {left, top} = views.getBoundingClientRect();
    hover.textContent = session.info!.joints[over].name;
    hover.style.left = `${event.clientX - left + 12}px`;
    hover.style.top = `${event.clientY - top + 12}px`;
  }
  if (finger >= 0 && event.pointerId !== finger) return;
  continueStroke(pressedOf(event));
  if (event.buttons) dragBorder(event.clientX, event.clientY);
  // Small movements during a click are ignored.
  if (down && !isClick(event)) drag(event.clientX, event.clientY);
});
function end(event: PointerEvent) {
  const click = isClick(event);
  const acted = finger >= 0;  // a stroke or a drag, also one that undo has ended
  down = null;
  finger = -1;
  if (event.pointerType === 'touch') view.ring.hide();
  endStroke();
  endDrag();
  endBorder();
  if (acted) view.stage.setOrbit(true);
  else if (click && event.button === 0 && !view.handle.turning && !view.handle.under)
    pick(event.clientX, event.clientY, event.pointerType === 'touch' ? FINGER : undefined, event.shiftKey);
}
/** A click selects the joint under the pointer, otherwise adds one (while drawing), otherwise selects the vertex. `also`: beside the
 * selected vertices. */
export function pick(x: number, y: number, within?: number, also = false): void {
  if (!session.info) return;
  const joint = also ? -1 : view.picker.jointAt(x, y, within);
  if (joint >= 0) selectJoint(joint);
  else if (session.tool === 'draw') addAt(x, y);
  else {
    const vertex = view.picker.surfaceAt(x, y)?.vertex ?? null;
    probe(vertex, also);
    if (!also) choosePlace(vertex);
  }
}
views.addEventListener('dblclick', (event) => {
  const hit = session.tool === 'look' && view.picker.surfaceAt(event.clientX, event.clientY);
  if (hit && !choosePart(hit.vertex)) view.eye.focus(hit.place);
});
views.addEventListener('pointerup', end);
views.addEventListener('pointercancel', end);
views.addEventListener('pointerleave', () => {
  view.ring.hide();
  hover.hidden = true;
});

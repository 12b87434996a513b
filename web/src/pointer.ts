// The pointer over the view: selects joints, asks vertices, paints, draws.
import {beginStroke, continueStroke, endStroke} from './brush';
import {addAt, beginDrag, drag, endDrag} from './drawing';
import {probe, selectJoint, session, undo, view} from './session';

const canvas = view.renderer.domElement;
const FINGER = 24;  // pixels that a finger may miss a joint by
const PINCH = 250;  // milliseconds within which a second finger makes a stroke a pinch
const CLICK = {mouse: 5, touch: 12};  // pixels: what moves less is no drag
let down: {x: number; y: number} | null = null;

const isClick = (event: PointerEvent) =>
  down !== null && Math.hypot(event.clientX - down.x, event.clientY - down.y) < (event.pointerType === 'touch' ? CLICK.touch : CLICK.mouse);

/** The finger whose stroke or drag it is; others turn and zoom the view. */
let finger = -1, since = 0;

// Before the view's own controls hear of it: a second finger ends the stroke, and both turn and zoom the view. One that has just
// begun was no stroke, but the first finger of two.
canvas.addEventListener('pointerdown', (event) => {
  if (event.isPrimary || finger < 0) return;
  if (endStroke()) {
    if (event.timeStamp - since < PINCH) undo();
  } else {
    endDrag();
  }
  finger = -1;
  view.orbit.enabled = true;
}, {capture: true});
canvas.addEventListener('pointerdown', (event) => {
  // Two fingers are no click.
  down = event.isPrimary ? {x: event.clientX, y: event.clientY} : null;
  if (!event.isPrimary) return;
  if (event.button !== 0) return;
  const [x, y] = [event.clientX, event.clientY];
  if (!beginStroke(x, y) && !beginDrag(x, y, event.pointerType === 'touch' ? FINGER : undefined)) return;
  finger = event.pointerId;
  since = event.timeStamp;
  view.orbit.enabled = false;
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener('pointermove', (event) => {
  if (session.tool === 'paint' && event.isPrimary) view.setBrush(event.clientX, event.clientY, session.brush.radius);
  if (finger >= 0 && event.pointerId !== finger) return;
  continueStroke(event.clientX, event.clientY);
  // A click that trembles moves nothing.
  if (down && !isClick(event)) drag(event.clientX, event.clientY);
});
function end(event: PointerEvent) {
  const click = isClick(event);
  down = null;
  finger = -1;
  if (event.pointerType === 'touch') view.setBrush(0, 0, null);
  if (endStroke() || endDrag()) {
    view.orbit.enabled = true;
    return;
  }
  if (!click || !session.info || view.turning || view.overGizmo) return;
  const joint = view.jointAt(event.clientX, event.clientY, event.pointerType === 'touch' ? FINGER : undefined);
  if (joint >= 0) selectJoint(joint);
  else if (session.tool === 'draw') addAt(event.clientX, event.clientY);
  else probe(view.surfaceAt(event.clientX, event.clientY)?.vertex ?? null);
}
canvas.addEventListener('pointerup', end);
canvas.addEventListener('pointercancel', end);
canvas.addEventListener('pointerleave', () => view.setBrush(0, 0, null));

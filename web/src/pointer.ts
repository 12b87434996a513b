// The pointer over the view: selects joints, asks vertices, paints, draws.
import {beginStroke, continueStroke, endStroke} from './brush';
import {addAt, beginDrag, drag, endDrag} from './drawing';
import {probe, selectJoint, session, view} from './session';

const canvas = view.renderer.domElement;
const FINGER = 24;  // pixels that a finger may miss a joint by
const CLICK = {mouse: 5, touch: 12};  // pixels: what moves less is no drag
let down: {x: number; y: number} | null = null;

const isClick = (event: PointerEvent) =>
  down !== null && Math.hypot(event.clientX - down.x, event.clientY - down.y) < (event.pointerType === 'touch' ? CLICK.touch : CLICK.mouse);

canvas.addEventListener('pointerdown', (event) => {
  // A second finger turns or zooms the view: no click any more.
  down = event.isPrimary ? {x: event.clientX, y: event.clientY} : null;
  if (!event.isPrimary) return;
  if (event.button !== 0) return;
  const [x, y] = [event.clientX, event.clientY];
  if (!beginStroke(x, y) && !beginDrag(x, y, event.pointerType === 'touch' ? FINGER : undefined)) return;
  view.orbit.enabled = false;
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener('pointermove', (event) => {
  if (session.tool === 'paint') view.setBrush(event.clientX, event.clientY, session.brush.radius);
  continueStroke(event.clientX, event.clientY);
  // A click that trembles moves nothing.
  if (down && !isClick(event)) drag(event.clientX, event.clientY);
});
function end(event: PointerEvent) {
  const click = isClick(event);
  down = null;
  if (endStroke() || endDrag()) {
    view.orbit.enabled = true;
    return;
  }
  if (!click || !session.info || view.turning || view.overGizmo) return;
  const joint = view.jointAt(event.clientX, event.clientY);
  if (joint >= 0) selectJoint(joint);
  else if (session.tool === 'draw') addAt(event.clientX, event.clientY);
  else probe(view.surfaceAt(event.clientX, event.clientY)?.vertex ?? null);
}
canvas.addEventListener('pointerup', end);
canvas.addEventListener('pointercancel', end);
canvas.addEventListener('pointerleave', () => view.setBrush(0, 0, null));

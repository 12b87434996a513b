// The bar over the view: the quantity on the surface, and what else is drawn.
import {byId, el, refill, type VNode} from './dom';
import {icon, type Icon} from './icons';
import {setBeside, setMode} from './showing';
import {history, on, session, view} from './state';
import {canCompare} from './work';
import {MODES} from './surface';
import {timelineShown, toggleTimeline} from './timeline';

const titleOf = ({help, needs, can}: {help: string; needs?: string; can: () => boolean}) => (needs && !can() ? `${help}: ${needs}` : help);
let skeleton = true, wire = false;

export function toggleSkeleton(): void {
  view.figure.setSkeleton((skeleton = !skeleton));
  draw();
}
export function toggleWire(): void {
  view.figure.setWireframe((wire = !wire));
  draw();
}

export function toggleBeside(): void {
  if (canCompare()) setBeside(!session.beside);
}

const tool = (image: Icon, name: string, help: string, click: () => void, more = {}): VNode =>
  el('button', {key: name, type: 'button', title: help, 'aria-label': name, onClick: click, ...more}, icon(image), el('span', {}, name));

function draw() {
  if (!session.opened) return;
  const group = (...buttons: VNode[]) => el('div', {class: 'group'}, ...buttons);
  byId('tools').hidden = false;
  // Buttons that a flat figure does not need are hidden.
  const shown = <T extends {can: () => boolean}>(list: T[]) => (session.flat ? list.filter((x) => x.can()) : list);
  refill(byId('tools'),
    group(
      tool('skeleton', 'Skeleton', 'Skeleton on or off (S)', toggleSkeleton, {'aria-pressed': skeleton}),
      ...(canCompare() ? [tool('beside', 'Side by side', 'The file’s own weights beside those made here (C)', toggleBeside,
                               {'aria-pressed': session.beside})] : []),
      tool('wire', 'Wire', 'Triangles as wires (W)', toggleWire, {'aria-pressed': wire}),
      tool('frame', 'Frame', 'See the whole character; F sees the selected joint', () => view.eye.frame()),
      ...(session.tool === 'draw' ? [] : [tool('time', 'Time line', 'Poses as keys of an animation (T)', toggleTimeline, {'aria-pressed': timelineShown()})]),
      ...sides().map((from) => tool('eye', from[0].toUpperCase() + from.slice(1), `Straight from the ${from}`, () => view.eye.frame(from))),
    ),
    group(...shown(MODES).map((m) => tool(m.mode, m.name, titleOf(m), () => void setMode(m.mode),
                                     {'aria-pressed': session.mode === m.mode, disabled: !m.can()}))),
  );
  view.stage.covered = byId('tools').offsetTop + byId('tools').offsetHeight;
}
/** From where the character can be seen by a button: joints are drawn from two sides, and a flat figure is seen from one. */
function sides(): ('front' | 'side' | 'top')[] {
  if (session.flat) return ['front'];
  if (view.figure.plane) return [view.figure.plane];
  return session.tool === 'draw' ? ['front', 'side'] : [];
}
on(['character', 'bound', 'options', 'mode', 'tool', 'selection', 'timeline'], draw);
history.listen((doc, before) => {
  if (!doc.edits.length !== !before.edits.length) draw();
});

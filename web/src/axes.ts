// The widget in the corner of the view: the axes of the world, each end a button that looks from there.
import {byId} from './dom';
import {on, session, view} from './state';

const SIZE = 78, REACH = 28, DOT = 9;
const NAMES = ['X', 'Y', 'Z'];
const COLOURS = ['#e0566b', '#6fbf4a', '#4f8fe0'];
const box = byId('axes');
const svgOf = (tag: string, attributes: Record<string, string | number>) => {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  return node;
};

const svg = svgOf('svg', {viewBox: `${-SIZE / 2} ${-SIZE / 2} ${SIZE} ${SIZE}`, width: SIZE, height: SIZE});
box.append(svg);
interface End {
  axis: number;
  positive: boolean;
  group: Element;
  line: Element | null;
}
const ends: End[] = NAMES.flatMap((name, axis) => [true, false].map((positive) => {
  const group = svgOf('g', {role: 'button', tabindex: 0, 'aria-label': `Look from ${positive ? '+' : '−'}${name}`});
  const line = positive ? svgOf('line', {x1: 0, y1: 0, stroke: COLOURS[axis], 'stroke-width': 2}) : null;
  if (line) group.append(line);
  group.append(svgOf('circle', {r: DOT, fill: positive ? COLOURS[axis] : 'var(--panel)', stroke: COLOURS[axis], 'stroke-width': 1.5}));
  if (positive) {
    const text = svgOf('text', {'text-anchor': 'middle', dy: 4, fill: '#10141a', 'font-size': 11, 'font-weight': 700});
    text.textContent = name;
    group.append(text);
  }
  const look = () => view.eye.lookFrom(axis, positive);
  group.addEventListener('click', look);
  group.addEventListener('keydown', (event) => {
    if (!['Enter', ' '].includes((event as KeyboardEvent).key)) return;
    event.preventDefault();
    event.stopPropagation();
    look();
  });
  svg.append(group);
  return {axis, positive, group, line};
}));

function place() {
  if (box.hidden) return;
  const axes = view.eye.axes();
  const at = ends.map(({axis, positive}) => axes[axis].map((x) => (positive ? x : -x)));
  ends.forEach(({group, line}, i) => {
    const [x, y] = [at[i][0] * REACH, -at[i][1] * REACH];
    for (const node of group.querySelectorAll('circle, text')) node.setAttribute('transform', `translate(${x} ${y})`);
    line?.setAttribute('x2', String(x));
    line?.setAttribute('y2', String(y));
  });
  // Ends towards the camera are drawn last; moving the focused one would take its focus.
  const order = ends.map((_, i) => i).sort((i, j) => at[i][2] - at[j][2]);
  if (order.some((i, k) => svg.children[k] !== ends[i].group) && !svg.contains(document.activeElement))
    svg.append(...order.map((i) => ends[i].group));
}

view.stage.cameraListeners.push(place);
on(['character', 'tool', 'mode', 'selection', 'options'], () => {
  box.hidden = !session.opened || session.flat;
  box.style.top = `${view.stage.covered + 10}px`;
  place();
});

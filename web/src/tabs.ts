// The steps of the work as tabs over the right panel. A tool opens the tab that it belongs to.
import {byId, el} from './dom';
import {on, session, type Tool} from './session';

const STEPS = [['bind', 'Bind'], ['pose', 'Pose'], ['paint', 'Paint'], ['compare', 'Compare'], ['export', 'Export']] as const;
export type Step = (typeof STEPS)[number][0];
const OF_TOOL: Partial<Record<Tool, Step>> = {turn: 'pose', paint: 'paint', draw: 'bind'};

const list = byId('tabs');
const tabs = STEPS.map(([step, name]) => {
  const tab = el('button', {type: 'button', role: 'tab', id: `tab-${step}`, 'aria-controls': `step-${step}`, on: {click: () => show(step)}}, name);
  byId(`step-${step}`).setAttribute('aria-label', `Step: ${name}`);
  return tab;
});
list.append(...tabs);

export function show(step: Step): void {
  STEPS.forEach(([other], i) => {
    const on = other === step;
    byId(`step-${other}`).hidden = !on;
    tabs[i].setAttribute('aria-selected', String(on));
    tabs[i].tabIndex = on ? 0 : -1;
  });
  byId('right').scrollTop = 0;
}

list.addEventListener('keydown', (event) => {
  const now = tabs.indexOf(document.activeElement as HTMLButtonElement);
  const to = {ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: tabs.length - 1}[event.key];
  if (to === undefined || now < 0) return;
  event.preventDefault();
  event.stopPropagation();
  const next = (to + tabs.length) % tabs.length;
  show(STEPS[next][0]);
  tabs[next].focus();
});

let tool: Tool = session.tool;
on(['character'], () => {
  list.hidden = !session.opened;
  byId('tab-compare').hidden = session.flat;
  tool = session.tool;
  show('bind');
});
on(['tool'], () => {
  const step = session.tool === tool ? undefined : OF_TOOL[session.tool];
  tool = session.tool;
  if (step) show(step);
});
show('bind');

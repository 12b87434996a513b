// The rooms of the work: each has its panel, and its tool for the pointer.
import {byId, el, refill} from './dom';
import {icon} from './icons';
import {setStep} from './showing';
import {on, session, type Step} from './state';

export const STEPS: {step: Step; name: string; help: string; flat: boolean}[] = [
  {step: 'bind', name: 'Bind', help: 'The skeleton, and the first weights', flat: true},
  {step: 'finish', name: 'Finish', help: 'Answer questions where the weights are likely wrong (V)', flat: false},
  {step: 'paint', name: 'Paint', help: 'Change weights by brush (P)', flat: false},
  {step: 'pose', name: 'Pose', help: 'Turn joints, and keep poses as an animation (R)', flat: true},
  {step: 'export', name: 'Export', help: 'Files, and the command that does the same', flat: true},
];
const list = byId('tabs');
const shown = () => STEPS.filter(({flat}) => flat || !session.flat);

function move(event: KeyboardEvent) {
  const steps = shown().map(({step}) => step);
  const now = steps.indexOf(session.step);
  const to = {ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: steps.length - 1}[event.key];
  if (to === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  setStep(steps[(to + steps.length) % steps.length]);
  byId(`tab-${session.step}`).focus();
}

let last: Step | null = null;
function draw() {
  list.hidden = !session.opened;
  refill(list, ...shown().map(({step, name, help}) => el('button', {
    type: 'button', role: 'tab', id: `tab-${step}`, title: help, 'aria-controls': `step-${step}`, 'aria-selected': step === session.step,
    tabIndex: step === session.step ? 0 : -1, onClick: () => setStep(step), onKeyDown: move,
  }, icon(step), name)));
  // The focus does not stay in a panel that is hidden.
  if (document.activeElement?.closest(`[role=tabpanel]:not(#step-${session.step})`)) byId(`tab-${session.step}`).focus();
  for (const {step} of STEPS) byId(`step-${step}`).hidden = step !== session.step;
  document.body.dataset.step = session.step;
  if (last !== session.step) byId('right').scrollTop = 0;
  last = session.step;
}
on(['character', 'tool'], draw);
draw();

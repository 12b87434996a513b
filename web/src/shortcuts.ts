// Keys, undo and redo, dark and light.
import {resize} from './brush';
import {byId, el, refill} from './dom';
import {removeSelected} from './drawing';
import {exportFile} from './exporting';
import {choose} from './opening';
import {togglePlay} from './posing';
import {bind, redo, undo} from './session';
import {selectJoint, setMode, setStep} from './showing';
import {history, session, view} from './state';
import {canEdit} from './work';
import {MODES} from './surface';
import {keepPose, toggleTimeline, toggleTrack} from './timeline';
import {toggleBeside, toggleSkeleton, toggleWire} from './toolbar';

const KEYS: [string, string, () => void][] = [
  ['b', 'Bind', () => void bind()],
  ['v', 'Finish; before a bind: look and select', () => setStep(canEdit() ? 'finish' : 'bind')],
  ['p', 'Paint', () => canEdit() && setStep('paint')],
  ['r', 'Pose: turn the selected joint', () => setStep('pose')],
  ['d', 'Draw a skeleton, if the file has none', () => setStep('bind', true)],
  ['Delete', 'Remove the selected joint, while drawing', removeSelected],
  ['s', 'Skeleton on or off', toggleSkeleton],
  ['c', 'The file’s own weights side by side', toggleBeside],
  ['w', 'Wires on or off', toggleWire],
  ['f', 'See the selected joint, otherwise the whole character', () => view.eye.frameSelection()],
  ['[', 'A smaller brush', () => resize(-1)],
  [']', 'A larger brush', () => resize(1)],
  ['k', 'Keep the pose as a key on the time line', keepPose],
  ['t', 'Time line on or off', toggleTimeline],
  [' ', 'Play the chosen animation, otherwise the time line', () => (session.clip >= 0 ? togglePlay() : toggleTrack())],
  ['Escape', 'Select nothing', () => selectJoint(-1)],
];

/** Handles keys with Ctrl; returns whether the key is known. */
function withControl(key: string, shift: boolean): boolean {
  if (key === 'z' || key === 'y') {
    if (key === 'y' || shift) redo();
    else undo();
  } else if (key === 'o') {
    choose();
  } else {
    return false;
  }
  return true;
}

window.addEventListener('keydown', (event) => {
  const target = event.target as HTMLElement;
  if (target.closest('dialog')) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.ctrlKey || event.metaKey) {
    if (key === 's' && !event.shiftKey) {
      event.preventDefault();
      return exportFile();
    }
    // Text fields have their own undo.
    if ((target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) && target.value !== target.defaultValue && target.type !== 'range')
      return;
    if (withControl(key, event.shiftKey)) event.preventDefault();
    return;
  }
  if (key === 'Enter' && target.matches('input:not([type=range], [type=checkbox])')) return target.blur();  // the next key is a shortcut again
  if (event.altKey || target.closest('input:not([type=range], [type=checkbox]), textarea, select')) return;
  if (key === '?') return byId<HTMLDialogElement>('keys').showModal();
  if (!session.opened) return;
  if (key === ' ' && target.closest('button, summary')) return;
  const number = Number(key);
  if (number >= 1 && number <= MODES.length && MODES[number - 1].can()) return void setMode(MODES[number - 1].mode);
  const found = KEYS.find(([k]) => k === (key === 'Backspace' ? 'Delete' : key));
  if (!found) return;
  event.preventDefault();
  found[2]();
});

refill(byId('keys').querySelector('dl')!, ...[
  ...KEYS.map(([key, what]) => [key === ' ' ? 'Space' : key.length === 1 ? key.toUpperCase() : key, what]),
  [`1 … ${MODES.length}`, 'Choose what the surface shows'],
  ['Arrows', 'In the view (Tab leads there): move a cross'],
  ['Enter', 'At the cross: select, place a joint, or paint once'],
  ['Shift arrows', 'In the view: rotate it'],
  ['+ −', 'In the view: nearer, farther'],
  ['Shift', 'While a stroke begins: it smooths'],
  ['Ctrl', 'While a stroke begins: it does the opposite'],
  ['Alt, or right', 'Drag: turn the view, also while painting'],
  ['Shift click', 'One more vertex, or one less, in the table of weights'],
  ['Ctrl Z', 'Undo'],
  ['Ctrl Shift Z', 'Redo'],
  ['Ctrl O', 'Open'],
  ['Ctrl S', 'Export'],
].flatMap(([key, what]) => [el('dt', {}, el('kbd', {}, key)), el('dd', {}, what)]));
byId('help').addEventListener('click', () => byId<HTMLDialogElement>('keys').showModal());

byId('undo').addEventListener('click', undo);
byId('redo').addEventListener('click', redo);
history.listen(() => {
  byId<HTMLButtonElement>('undo').disabled = !history.canUndo;
  byId<HTMLButtonElement>('redo').disabled = !history.canRedo;
});

/** The choice of the user, as far as the browser keeps it. */
function remembered(): 'dark' | 'light' | null {
  try {
    const word = localStorage.getItem('sinew theme');
    return word === 'dark' || word === 'light' ? word : null;
  } catch {
    return null;
  }
}
let theme: 'dark' | 'light' = remembered() ?? (matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark');
function setTheme() {
  document.documentElement.dataset.theme = theme;
  byId('theme').textContent = theme === 'dark' ? 'Light' : 'Dark';
  const style = getComputedStyle(document.documentElement);
  view.stage.setBackground(style.getPropertyValue('--view').trim(), style.getPropertyValue('--view-line').trim());
}
byId('theme').addEventListener('click', () => {
  theme = theme === 'dark' ? 'light' : 'dark';
  try {
    localStorage.setItem('sinew theme', theme);
  } catch {
    // It holds until the page is closed.
  }
  setTheme();
});
setTheme();

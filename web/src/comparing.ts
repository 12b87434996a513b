// The tab that compares the new weights with those of the file.
import {button, byId, check, el, refill} from './dom';
import {measureDifference, setBeside, setMode} from './showing';
import {on, session} from './state';
import {canCompare} from './work';
import {agreement, comparedLines} from './words';

function draw() {
  const {opened, rows, difference, compared} = session;
  if (!opened?.ownRows || !canCompare() || !rows) return refill(byId('compare-panel'));
  const title = el('h2', {}, 'Against the file');
  const lines: [string, string][] = [];
  if (difference) {
    const {mean, strongest} = agreement(difference, rows, opened.ownRows);
    lines.push(['Mean difference to the file', mean.toFixed(3)], ['Same strongest joint', `${(100 * strongest).toFixed(1)} %`]);
  }
  if (compared) lines.push(...comparedLines(compared));
  refill(byId('compare-panel'), title,
    check('Side by side', 'The file’s own weights beside those made here (C)', session.beside, setBeside),
    el('div', {class: 'row'}, button('Where they differ', 'The difference at each vertex (6)', () => void setMode('difference'), {'aria-pressed': session.mode === 'difference'})),
    el('dl', {class: 'numbers'}, ...lines.flatMap(([k, v]) => [el('dt', {}, k), el('dd', {}, v)])),
    ...(canCompare() && difference && !compared ? [el('div', {class: 'row'},
      button('More numbers', 'Distances, deformation in poses and defects, against the file’s own weights', () => void measureDifference(), {id: 'compare'}))] : []));
}
on(['character', 'bound', 'weights', 'mode'], draw);

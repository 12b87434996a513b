// The list of what was changed by hand: each entry can be removed.
import {button, byId, el, refill} from './dom';
import {history, on, session} from './state';
import type {Edit, Selection} from './store';
import {count} from './words';

function whereOf(select: Selection | undefined): string {
  const {mesh, material, sphere, brush, vertices} = select?.[0] ?? {};
  if (vertices) return vertices.length === 1 ? ` at vertex ${vertices[0]}` : ` at ${vertices.length} vertices`;
  return (mesh ?? material ? ` on ${mesh ?? material}` : '') + (select && !sphere && !brush ? ', all of it' : '');
}

function whatOf(e: Exclude<Edit, {op: 'other'}>): string {
  switch (e.op) {
    case 'mirror': return `mirror from ${e.from}`;
    case 'hardness': return `hardness ${e.value}`;
    case 'rigid': return `rigid with ${e.joint}`;
    case 'replace': return `${e.joints} to ${e.with}`;
    case 'scale': case 'multiply': return `${e.op} ${e.joints} by ${e.value}`;
    case 'pin': return !e.pins ? e.op : `${[...new Set(e.pins.map(({weights}) => Object.keys(weights)[0]))].join(', ')} at ${count(e.pins.length, 'pin')}`;
    case 'assign': return e.joint ? `part follows ${e.joint}` : 'part as in the file';
    case 'border': return `border of ${[e.joints].flat().join(' and ')}`;
    default: return [e.op, 'value' in e && e.value, 'joint' in e && e.joint].filter((word) => word !== false).join(' ');
  }
}
export const nameOf = (e: Edit): string => (e.op === 'other' ? `${e.entry.op ?? e.list} of the file`
  : whatOf(e) + (e.op === 'mirror' || e.op === 'assign' ? '' : whereOf(e.select)) + ('symmetric' in e && e.symmetric ? ', both sides' : ''));

/** "40 strokes", and what else is in the list. */
function summaryOf(edits: readonly Edit[]): string {
  const strokes = edits.filter((e) => e.op !== 'mirror' && e.op !== 'other' && (e.select?.[0].brush || e.select?.[0].sphere)).length;
  const others = edits.length - strokes;
  return [...(strokes ? [count(strokes, 'stroke')] : []), ...(others ? [count(others, strokes ? 'other edit' : 'edit')] : [])].join(', ');
}

function draw() {
  const {edits} = history.doc;
  refill(byId('changes'), !session.flat && edits.length > 0 && el('details', {},
    el('summary', {}, summaryOf(edits)),
    el('ul', {id: 'edit-list'}, ...edits.map((e, i) => el('li', {}, el('span', {}, nameOf(e)),
      button('Remove', 'Removes this change', () => history.change({edits: edits.filter((_, k) => k !== i)})))))));
}
on(['character', 'bound', 'tool'], () => {
  byId('changes').hidden = !['finish', 'paint'].includes(session.step);
  draw();
});
history.listen((doc, before) => {
  if (doc.edits !== before.edits) draw();
});

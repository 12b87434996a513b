// The right panel: options, the bind and its numbers, the falloff sliders. Other modules fill the parts below.
import {button, byId, check, choice, el, entry, refill, slider, type VNode} from './dom';
import type {Option} from 'sinew-skin';
import {falloffSliders, helpOf, optionOf, setOption, suits, valueOf} from './options';
import {bind, startFromFile} from './session';
import {history, on, session} from './state';
import {RESOLUTIONS} from './volume';
import {count, inPage, labelOf, wordsOf} from './words';

const ALWAYS = ['method', 'resolution', 'max-influences'];

function fieldOf(option: Option): VNode {
  const {name} = option;
  const label = labelOf(name), help = helpOf(name);
  const now = valueOf(name);
  if (option.kind === 'choice') return choice(label, help, named(option.choices), now, (v) => setOption(name, v));
  if (option.kind === 'flag') return check(label, help, now === 'on', (v) => setOption(name, v ? 'on' : 'off'));
  return entry(label, help, now, (v) => setOption(name, v));
}

/** Choices in words. */
const named = (choices: readonly string[]) => choices.map((c): [string, string] => [c, wordsOf(c)]);

function draw() {
  const {opened, bound, stale} = session;
  if (!opened) return;
  if (session.flat) return drawFlat();
  const file = history.doc.start === 'file';
  const method = optionOf('method')!;
  const tuned = falloffSliders();
  const more = session.options.filter((o) => !ALWAYS.includes(o.name) && !tuned.some((t) => t.option === o.name) && suits(o));
  refill(byId('bind-panel'),
    el('h2', {}, 'Bind'),
    el('div', {class: 'row'},
       button(bound && !stale ? 'Bind again' : 'Bind', 'Compute weights (B)', () => void bind(), {key: 'bind', class: file ? 'grow' : 'primary grow', id: 'bind'}),
       opened.ownRows && button('Start from the file’s weights', 'Finish, paint and export the weights that the file has, without a bind', startFromFile, {'aria-pressed': file})),
    stale && !file && el('p', {class: 'note'}, 'Options changed: bind again to apply them.'),
    choice('Method', helpOf('method'), named(method.choices), valueOf('method'), (v) => setOption('method', v)),
    el('p', {class: 'dim'}, el('small', {}, method.methods?.[valueOf('method')]?.summary ?? '')),
    choice('Resolution', helpOf('resolution'), RESOLUTIONS, valueOf('resolution'),
           (v) => setOption('resolution', v)),
    choice('Joints per vertex', helpOf('max-influences'), ['1', '2', '3', '4', '5', '6', '7', '8'],
           valueOf('max-influences'), (v) => setOption('max-influences', v)),
    el('details', {}, el('summary', {}, 'More options'), ...more.map(fieldOf)),
    el('div', {id: 'result'}, ...(file ? [] : result())),
    ...tuned.map((t) => slider(t.name, helpOf(t.option), t, Number(valueOf(t.option)),
                               (v) => setOption(t.option, String(v), t.option), () => history.settle())),
    !bound && el('p', {class: 'dim'}, 'Changes weights at once after a bind.'),
  );
}

/** A flat figure is bound when it is cut out; its only option is the smoothness. */
function drawFlat() {
  const {picture} = session.file!;
  const {layers} = picture!;
  const longest = Math.max(picture!.width, picture!.height);
  let chosen = history.doc.smoothness;
  refill(byId('bind-panel'),
    el('h2', {}, 'Flat figure'),
    el('p', {class: 'dim'}, `${picture!.width} × ${picture!.height} pixels${layers ? `, ${count(layers.length, 'picture')} in layers` : ''}. ` +
       'Weights follow from distances through them.'),
    slider('Smoothness', 'Distance in pixels at which a bone’s influence falls to 1/e; 0: 3 % of the longest side', {min: 0, max: Math.ceil(longest / 8), step: 1},
           chosen, (v) => (chosen = v), () => history.change({smoothness: chosen})),
  );
}

/** What the bind reported. */
function result(): VNode[] {
  const {bound, info, editReport} = session;
  if (!bound) return [];
  const {report, seconds, first, coarse} = bound;
  const lines: [string, string][] = [
    ['Reached by the method', `${(100 * report.coverage.share).toFixed(2)} %`],
    ['Seconds', `${seconds.toFixed(2)}${first !== null && !coarse ? ` (first result ${first.toFixed(2)})` : ''}`],
  ];
  const {resolution, resolution_reason: why} = report.options;
  if (why || coarse) lines.push(['Resolution', String(resolution)]);
  if (report.voxels.leaves) lines.push(['Leaves of the volume', report.voxels.leaves.toLocaleString('en')]);
  const remarks = [...(why ? [`Resolution: ${why}`] : []), ...report.warnings.filter((t: string) => !info!.warnings.includes(t)).map(inPage), ...editReport];
  return [
    ...(coarse ? [el('p', {class: 'note'}, `First result, at resolution ${resolution}. ` +
      (session.refining ? 'The final result is being computed.' : 'The bind was stopped before the final result: bind again to get it.'))] : []),
    el('dl', {class: 'numbers'}, ...lines.flatMap(([k, v]) => [el('dt', {}, k), el('dd', {}, v)])),
    ...(remarks.length ? [el('details', {id: 'log'}, el('summary', {}, `Log: ${count(remarks.length, 'remark')}`),
                             ...remarks.map((t: string) => el('p', {class: 'dim'}, t)))] : [])];
}

on(['character', 'bound', 'options', 'weights'], draw);

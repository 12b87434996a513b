// The right panel: options, the bind and its numbers, the falloff sliders. Other modules fill the parts below.
import {button, byId, check, choice, el, entry, refill, slider} from './dom';
import type {Option} from 'sinew-skin';
import {falloffSliders, helpOf, optionOf, setOption, suits, valueOf} from './options';
import {bind, history, on, session} from './session';
import {RESOLUTIONS} from './volume';
import {count, inPage} from './words';

const ALWAYS = ['method', 'resolution', 'max-influences'];

function fieldOf(option: Option): HTMLElement {
  const {name, help} = option;
  const label = name.replaceAll('-', ' ').replace(/^./, (c) => c.toUpperCase());
  const now = valueOf(name);
  if (option.kind === 'choice') return choice(label, help, option.choices, now, (v) => setOption(name, v));
  if (option.kind === 'flag') return check(label, help, now === 'on', (v) => setOption(name, v ? 'on' : 'off'));
  return entry(label, help, now, (v) => setOption(name, v));
}

function draw() {
  const {opened, bound, stale} = session;
  if (!opened) return;
  if (session.flat) return drawFlat();
  const method = optionOf('method')!;
  const tuned = falloffSliders();
  const more = session.options.filter((o) => !ALWAYS.includes(o.name) && !tuned.some((t) => t.option === o.name) && suits(o));
  refill(byId('bind-panel'),
    el('h2', {}, 'Bind'),
    choice('Method', method.help, method.choices, valueOf('method'), (v) => setOption('method', v)),
    el('p', {class: 'dim'}, el('small', {}, method.methods?.[valueOf('method')]?.summary ?? '')),
    choice('Resolution', helpOf('resolution'), RESOLUTIONS, valueOf('resolution'),
           (v) => setOption('resolution', v)),
    choice('Joints per vertex', helpOf('max-influences'), ['1', '2', '3', '4', '5', '6', '7', '8'],
           valueOf('max-influences'), (v) => setOption('max-influences', v)),
    el('details', {}, el('summary', {}, 'More options'), ...more.map(fieldOf)),
    el('div', {class: 'row'},
       button(bound && !stale ? 'Bind again' : 'Bind', 'Compute weights (B)', () => void bind(), {class: 'primary grow', id: 'bind'})),
    ...(stale ? [el('p', {class: 'note'}, 'Options changed: bind again to apply them.')] : []),
    el('div', {id: 'result'}),
    el('h2', {}, 'Tune'),
    ...tuned.map((t) => slider(t.name, helpOf(t.option), t, Number(valueOf(t.option)),
                               (v) => setOption(t.option, String(v), t.option), () => history.settle())),
    ...(bound ? [] : [el('p', {class: 'dim'}, 'Changes weights at once after a bind.')]),
  );
  drawResult();
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

function drawResult() {
  const box = document.getElementById('result');
  if (!box) return;
  const {bound, info, editReport} = session;
  if (!bound) return box.replaceChildren();
  const {report, seconds, first, coarse} = bound;
  const lines: [string, string][] = [
    ['Reached by the method', `${(100 * report.coverage.share).toFixed(2)} %`],
    ['Seconds', `${seconds.toFixed(2)}${first !== null && !coarse ? ` (first result ${first.toFixed(2)})` : ''}`],
  ];
  const {resolution, resolution_reason: why} = report.options;
  if (why || coarse) lines.push(['Resolution', String(resolution)]);
  if (report.voxels.leaves) lines.push(['Leaves of the volume', report.voxels.leaves.toLocaleString('en')]);
  const remarks = [...(why ? [`Resolution: ${why}`] : []), ...report.warnings.filter((t: string) => !info!.warnings.includes(t)).map(inPage), ...editReport];
  refill(box,
    ...(coarse ? [el('p', {class: 'note'}, `First result, at resolution ${resolution}. ` +
      (session.refining ? 'The final result is being computed.' : 'The bind was stopped before the final result: bind again to get it.'))] : []),
    el('dl', {class: 'numbers'}, ...lines.flatMap(([k, v]) => [el('dt', {}, k), el('dd', {}, v)])),
    ...(remarks.length ? [el('details', {id: 'log'}, el('summary', {}, `Log: ${count(remarks.length, 'remark')}`),
                             ...remarks.map((t: string) => el('p', {class: 'dim'}, t)))] : []));
}

on(['character', 'bound', 'options'], draw);
on(['weights'], drawResult);

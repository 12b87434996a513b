// The options of bind in the open document: reads and changes their values.
import {isReadBy, type Option} from 'sinew-skin';
import {history, session, notify} from './state';
import {presetIn, valueIn} from './values';
import {inPage} from './words';

export const optionOf = (name: string) => session.options.find((o) => o.name === name);
export const helpOf = (name: string) => inPage(optionOf(name)?.help ?? '').replace(/ \(docs\/[^)]*\)/g, '');

const presetOf = (name: string) => presetIn(session.options, history.doc.settings, name);
export const valueOf = (name: string) => valueIn(session.options, history.doc.settings, name);

// Options that every method reads keep their value when another method is chosen; the falloff does not.
const COMMON = ['resolution', 'max-influences', 'limit-rule', 'weight-format', 'deform-from'];

export function setOption(name: string, value: string, merge = ''): void {
  const settings = {...history.doc.settings};
  delete settings[name];
  if (name === 'method') {
    for (const key of Object.keys(settings)) if (!COMMON.includes(key)) delete settings[key];
    if (value !== optionOf('method')?.value) settings.method = value;
    history.change({settings});
    notify('options');
    return;
  }
  if (value !== presetOf(name)) settings[name] = value;
  if (value === 'on') for (const other of Object.keys(optionOf(name)?.sets ?? {})) delete settings[other];
  if (JSON.stringify(history.doc.settings) !== JSON.stringify(settings)) history.change({settings}, merge);
}

/** Whether the chosen method and falloff law read the option. */
export function suits(option: Option): boolean {
  if (option.name === 'voxelizer' || option.name === 'heat') return false;  // these need OpenGL, which only the command line has
  return isReadBy(option, valueOf('method'), valueOf('falloff-law'));
}

const RANGES: Record<string, {min: number; max: number; step: number; name: string}> = {
  falloff: {min: 0, max: 1, step: 0.01, name: 'Hardness α'},
  smoothness: {min: 0.002, max: 0.2, step: 0.002, name: 'Smoothness'},
  threshold: {min: 0.01, max: 1, step: 0.01, name: 'Threshold'},
};
/** The parameter that shapes the falloff law, and the range of its slider. */
export function shapeOfFalloff() {
  const law = valueOf('falloff-law');
  const option = ['smoothness', 'threshold'].find((name) => optionOf(name)?.read_by_laws?.includes(law)) ?? 'falloff';
  return {option, ...RANGES[option]};
}
/** The sliders of the falloff law: the hardness, and a length for laws that have one. */
export function falloffSliders() {
  const shape = shapeOfFalloff();
  return shape.option === 'falloff' ? [shape] : [{option: 'falloff', ...RANGES.falloff}, shape];
}

// Options of bind as they stand: what was set, else what comes with the method, else the default.
import {isReadBy, type Option} from './core';
import {history, session, tell} from './session';

export const optionOf = (name: string) => session.options.find((o) => o.name === name);
export const helpOf = (name: string) => optionOf(name)?.help ?? '';

/** Without what was set: what a flag that is on sets, else the method's preset, else the default. */
function presetOf(name: string): string {
  for (const flag of session.options)
    if (flag.sets?.[name] !== undefined && history.doc.settings[flag.name] === 'on') return flag.sets[name];
  const methods = optionOf('method');
  const chosen = history.doc.settings.method ?? methods?.value ?? '';
  return methods?.methods?.[chosen]?.presets[name] ?? optionOf(name)?.value ?? '';
}
export function valueOf(name: string): string {
  return history.doc.settings[name] ?? presetOf(name);
}

// What suits every method stays when another is chosen; its falloff does not.
const COMMON = ['resolution', 'max-influences', 'limit-rule', 'weight-format', 'deform-from'];

export function setOption(name: string, value: string, merge = ''): void {
  const settings = {...history.doc.settings};
  delete settings[name];
  if (name === 'method') {
    for (const key of Object.keys(settings)) if (!COMMON.includes(key)) delete settings[key];
    if (value !== optionOf('method')?.value) settings.method = value;
    history.change({settings});
    tell('options');
    return;
  }
  if (value !== presetOf(name)) settings[name] = value;
  if (value === 'on') for (const other of Object.keys(optionOf(name)?.sets ?? {})) delete settings[other];
  if (JSON.stringify(history.doc.settings) !== JSON.stringify(settings)) history.change({settings}, merge);
}

/** Whether the method and the falloff law that are chosen read the option. */
export function suits(option: Option): boolean {
  if (option.name === 'voxelizer') return false;  // needs OpenGL of the command line
  return isReadBy(option, valueOf('method'), valueOf('falloff-law'));
}

const SHAPES: Record<string, string> = {exponential: 'smoothness', 'cubic-hermite': 'threshold', linear: 'threshold'};
const RANGES: Record<string, {min: number; max: number; step: number; name: string}> = {
  falloff: {min: 0, max: 1, step: 0.01, name: 'Hardness α'},
  smoothness: {min: 0.002, max: 0.2, step: 0.002, name: 'Smoothness'},
  threshold: {min: 0.01, max: 1, step: 0.01, name: 'Threshold'},
};
/** The parameter that shapes the falloff law, and what a slider may make of it. */
export function shapeOfFalloff() {
  const option = SHAPES[valueOf('falloff-law')] ?? 'falloff';
  return {option, ...RANGES[option]};
}
/** The numbers of the falloff law that have sliders: the hardness, and a length where one shapes the law. */
export function falloffSliders() {
  const shape = shapeOfFalloff();
  return shape.option === 'falloff' ? [shape] : [{option: 'falloff', ...RANGES.falloff}, shape];
}

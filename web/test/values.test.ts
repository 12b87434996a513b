import {describe, expect, it} from 'vitest';
import type {Option} from 'sinew-skin';
import {presetIn, valueIn} from '../src/values';

const options = [
  {name: 'method', value: 'heat', methods: {heat: {presets: {}}, voxel: {presets: {falloff: '0.7'}}}},
  {name: 'falloff', value: '0.5'},
  {name: 'sharp', value: 'off', sets: {falloff: '1'}},
] as unknown as Option[];

describe('the value of an option', () => {
  it('is the default if nothing is set', () => expect(valueIn(options, {}, 'falloff')).toBe('0.5'));
  it("is the method's preset before the default", () => expect(valueIn(options, {method: 'voxel'}, 'falloff')).toBe('0.7'));
  it("is a flag's preset before the method's", () =>
    expect(valueIn(options, {method: 'voxel', sharp: 'on'}, 'falloff')).toBe('1'));
  it("is the user's setting before all presets", () => {
    expect(valueIn(options, {sharp: 'on', falloff: '0.2'}, 'falloff')).toBe('0.2');
    expect(presetIn(options, {sharp: 'on', falloff: '0.2'}, 'falloff')).toBe('1');
  });
  it('is empty for an unknown option', () => expect(valueIn(options, {}, 'unknown')).toBe(''));
});

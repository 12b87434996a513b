import {expect, it} from 'vitest';
import {marksOf} from '../src/marks';
import type {Edit} from '../src/store';

const primitive = (mesh: string, material_name: string, first_vertex: number, vertex_count: number) =>
  ({name: `${mesh}/0`, mesh, material: 0, material_name, first_triangle: 0, triangle_count: 0, first_vertex, vertex_count});
const primitives = [primitive('body', 'skin', 0, 2), primitive('hat', 'felt', 2, 2)];
const positions = new Float32Array([0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0]);
const mirror: Edit = {op: 'mirror', from: 'left'};
const changed = new Map<object, number[]>([[mirror, [0, 3]]]);
const marks = (...edits: Edit[]) => {
  const out = new Uint8Array(4).fill(9);
  marksOf(edits, changed, positions, primitives, out);
  return [...out];
};

it('marks what an edit of weights has changed, and the selections of others', () => {
  expect(marks()).toEqual([0, 0, 0, 0]);
  expect(marks(mirror)).toEqual([1, 0, 0, 1]);
  expect(marks({op: 'smooth', length: 1})).toEqual([0, 0, 0, 0]);  // it has changed nothing
  expect(marks({op: 'hardness', value: 1, select: [{material: 'felt'}]})).toEqual([0, 0, 2, 2]);
  expect(marks({op: 'hardness', value: 1, select: [{sphere: {center: [0, 1.5, 0], radius: 0.6}}]})).toEqual([0, 2, 2, 0]);
});

it('needs all keys of an entry, and one entry of a selection', () => {
  const sphere = {center: [0, 1.5, 0] as [number, number, number], radius: 0.6};
  expect(marks({op: 'rigid', joint: 'a', select: [{sphere, mesh: 'hat'}]})).toEqual([0, 0, 3, 0]);
  expect(marks({op: 'rigid', joint: 'a', select: [{sphere, mesh: 'hat'}, {mesh: 'body'}]})).toEqual([3, 3, 3, 0]);
});

it('shows the stronger of two edits', () => {
  expect(marks({op: 'rigid', joint: 'a', select: [{mesh: 'hat'}]}, mirror)).toEqual([1, 0, 3, 3]);
});

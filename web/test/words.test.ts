import {describe, expect, it} from 'vitest';
import type {ModelInfo} from '../src/core';
import {agreement, count, defectsOf, factsOf, reasonOf} from '../src/words';

const clean = {holes: 0, open_parts: 0, flipped_triangles: 0, nonmanifold_edges: 0, duplicate_triangles: 0,
               degenerate_triangles: 0, unused_vertices: 0};
const info = (counts: object, defects: object = {}): ModelInfo =>
  ({counts, defects: {...clean, ...defects}, clips: [], weights: false}) as unknown as ModelInfo;

describe('words', () => {
  it('counts', () => {
    expect(count(1, 'part')).toBe('1 part');
    expect(count(43210, 'vertex', 'vertices')).toBe('43,210 vertices');
  });
  it('says nothing of a clean mesh, and a sentence of each defect', () => {
    expect(defectsOf(info({}))).toEqual([]);
    expect(defectsOf(info({}, {holes: 2, open_parts: 1, unused_vertices: 1}))).toEqual([
      '2 holes in 1 open part',
      '1 vertex of no triangle',
    ]);
  });
  it('says how many joints are idle', () => {
    const counts = {vertices: 8, triangles: 12, parts: 1, joints: 5, deforming_joints: 4};
    expect(factsOf(info(counts))).toEqual(['8 vertices, 12 triangles in 1 part', '5 joints, 1 of them idle',
                                           'comes without weights']);
  });
  it('knows every reason', () => {
    expect(reasonOf('slot_name')).toContain('attachment');
    expect(reasonOf('something new')).toBe('something new');
  });
  it('measures agreement', () => {
    const a = {width: 1, joints: new Uint16Array([0, 1])};
    const b = {width: 2, joints: new Uint16Array([0, 1, 0, 1])};
    expect(agreement(new Float32Array([0, 1]), a, b)).toEqual({mean: 0.5, strongest: 0.5});
  });
});

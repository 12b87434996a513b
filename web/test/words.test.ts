import {describe, expect, it} from 'vitest';
import type {Compared, ModelInfo} from 'sinew-skin';
import {agreement, comparedLines, count, defectsOf, factsOf, fitOf, reasonOf, inPage} from '../src/words';

const clean = {holes: 0, open_parts: 0, flipped_triangles: 0, nonmanifold_edges: 0, duplicate_triangles: 0,
               degenerate_triangles: 0, unused_vertices: 0};
const info = (counts: object, defects: object = {}): ModelInfo =>
  ({counts, defects: {...clean, ...defects}, clips: [], weights: false}) as unknown as ModelInfo;

describe('words', () => {
  it('counts', () => {
    expect(count(1, 'part')).toBe('1 part');
    expect(count(43210, 'vertex', 'vertices')).toBe('43,210 vertices');
  });
  it('has no sentence for a clean mesh, and one for each defect', () => {
    expect(defectsOf(info({}))).toEqual([]);
    expect(defectsOf(info({}, {holes: 2, open_parts: 1, unused_vertices: 1}))).toEqual([
      '2 holes in 1 open part',
      '1 vertex in no triangle',
    ]);
  });
  it('counts idle joints', () => {
    const counts = {vertices: 8, triangles: 12, parts: 1, joints: 5, deforming_joints: 4};
    expect(factsOf(info(counts))).toEqual(['8 vertices, 12 triangles in 1 part', '5 joints, 1 of them idle',
                                           'comes without weights']);
  });
  it('says how well a template fits', () => {
    const rig = {confidence: 0.92, limbs_found: 5, limbs_expected: 5, symmetry: 1, notes: []};
    expect(fitOf(rig)).toEqual(['Fit: good (0.92). 5 of 5 limbs found, 100 % symmetric.']);
    const poor = fitOf({...rig, confidence: 0.3, limbs_found: 1, notes: ['the legs are hidden']});
    expect(poor[0]).toContain('poor (0.30). 1 of 5 limbs');
    expect(poor.slice(1)).toEqual(['the legs are hidden', 'Look at the joints before you bind, or choose another template.']);
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

  it('lists the numbers of compare, file first', () => {
    const side = {joints: 4, mean_influences: 1.5, torn: 1200, dirichlet: 2, bleed: {share: 0.0012}};
    const none = {poses: 0, mean: 0, mean_max: 0, max: 0};
    const lines = Object.fromEntries(comparedLines({
      l1: {mean: 0.1, median: 0.05, p95: 0.4, max: 1.25}, precision: 0.9, recall: 0.8, strongest_agreement: 0.7,
      deformation: {standard: {poses: 11, mean: 0.2, mean_max: 1.5, max: 3}, random: none}, a: side, b: {...side, joints: 3},
    } as Compared));
    expect(lines['L1, most']).toBe('1.250');
    expect(lines['Joints with weight']).toBe('4 / 3');
    expect(lines['Apart in 11 standard poses, %']).toBe('0.200, most 1.500');
    expect(Object.keys(lines).some((k) => k.includes('random'))).toBe(false);
    expect(lines['Bleed, % of weight']).toBe('0.120 / 0.120');
  });
});

it('errors of the core are said in the words of the page', () => {
  expect(inPage('a.obj: an OBJ file has no skeleton (`skeleton FILE` gives one; `sinew rig` places one)')).toBe('a.obj: an OBJ file has no skeleton (a skeleton file that is opened or dropped together with it gives one; a template places one)');
  expect(inPage('a.gltf: buffer 0 is in the file "a.bin", but bytes in memory have no folder (`folder` names one)')).toMatch(/no folder \(opening or dropping the whole folder, or a ZIP, names one\)/);
  expect(inPage('the skeleton is 100 times larger: `skeleton-scale 0.01`; if both are right: `fit-check off`')).toBe('the skeleton is 100 times larger: sinew studio --skeleton-scale 0.01; if both are right: Check the skeleton: off');
  expect(inPage('the core stopped: Aborted(OOM)')).toMatch(/^there is not enough memory for this/);
  expect(inPage('a plain sentence')).toBe('a plain sentence');
});

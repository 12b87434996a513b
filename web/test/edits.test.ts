import {describe, expect, it} from 'vitest';
import {isEditList, withEdits} from '../src/edits';
import {EMPTY, editsOf, withBones} from '../src/store';

const LIST = {
  sinew: 'edits',
  rigid: [{joints: ['Head'], select: [{material: 'Hair'}]}, {joints: ['A', 'B'], select: {mesh: 'Box'}}],
  falloff: [{hardness: 0.8, joints: ['Jaw']}, {value: 0.2, select: [{material: 'Belly'}]}, {paint: 'r', from: 0.1, to: 0.9},
            {angles: [[0, 0.1], [90, 0.5]], joints: 'Elbow'}],
  lock: {joints: ['Eye_*'], select: {mesh: 'Face'}},
  edits: [{op: 'set', joint: 'Spine', value: 0.5, select: [{sphere: {center: [0, 1, 0], radius: 0.1}}]},
          {op: 'smooth', length: 0.03, select: {joints: ['*Shoulder'], above: 0.2}}, {op: 'scale', joints: 'Arm', value: 0.5}, {op: 'multiply', joints: 'Arm', value: 2},
          {op: 'replace', joints: 'Weapon_*', with: 'Hand'}, {op: 'mirror', from: 'left'}, {op: 'of a later core', joint: 'Arm', amount: 3}],
};

describe('withEdits', () => {
  it('keeps every entry, in its order, also those that the page cannot make', () => {
    const doc = {...EMPTY, ...withEdits(EMPTY, JSON.stringify(LIST))};
    const written = JSON.parse(editsOf(doc));
    // Hardness of joints comes first: it does not depend on the order.
    expect(written).toEqual(LIST);
    expect(doc.falloff).toEqual({Jaw: 0.8});
    expect(doc.locked).toEqual(['Eye_*']);
    expect(doc.edits.filter((e) => e.op === 'other')).toHaveLength(5);
  });

  it('adds to what is there', () => {
    const before = {...EMPTY, falloff: {A: 0.1}, locked: ['B'], edits: [{op: 'mirror' as const, from: 'right' as const}]};
    const doc = {...before, ...withEdits(before, '{"sinew": "edits", "lock": {"joints": "B"}, "edits": [{"op": "smooth", "length": 1}]}')};
    expect(doc.edits).toEqual([{op: 'mirror', from: 'right'}, {op: 'smooth', length: 1}]);
    expect(doc.falloff).toEqual({A: 0.1});
    expect(doc.locked).toEqual(['B']);
    expect(doc.lockedWhere).toBe(null);
  });
});

it('a renamed joint is renamed in edits of every kind', () => {
  const edits = [{op: 'of a later core', joint: 'A', amount: 3}, {op: 'pin', pins: [{vertex: 1, weights: {A: 0.5, B: 0.5}}, {vertex: 2, weights: {B: 1}}]},
    {op: 'border', joints: ['A', 'B'], shift: 1}, {op: 'sharpen', locked: ['A', 'B']}, {op: 'scale', joints: 'B', value: 2}];
  const doc = {...EMPTY, ...withEdits(EMPTY, JSON.stringify({sinew: 'edits', edits}))};
  expect(withBones(doc, [], 'A', 'C').edits).toEqual(JSON.parse(JSON.stringify(edits).replaceAll('"A"', '"C"')));
  expect(withBones(doc, [], 'A').edits).toEqual([{op: 'pin', pins: [{vertex: 2, weights: {B: 1}}]}, {op: 'sharpen', locked: ['B']}, edits[4]]);
});

it('an edit list is known by its first key', () => {
  expect(isEditList('{"sinew": "edits"}')).toBe(true);
  expect(isEditList('{"bones": []}')).toBe(false);
  expect(isEditList('root 0 0 0\n#')).toBe(false);
});

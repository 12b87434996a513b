import {expect, it} from 'vitest';
import {DamageMeter, borderOf, partsOf, skinned} from '../src/places';

// A strip of four squares along x, of two triangles each: vertex 2 i is at (i, 0, 0), 2 i + 1 at (i, 1, 0).
const positions = new Float32Array(Array.from({length: 5}, (_, i) => [i, 0, 0, i, 1, 0]).flat());
const triangles = new Uint32Array(Array.from({length: 4}, (_, i) => [2 * i, 2 * i + 2, 2 * i + 1, 2 * i + 1, 2 * i + 2, 2 * i + 3]).flat());
/** Joint 0 fades to joint 1 along the strip. */
const rows = {
  width: 2, joints: new Uint16Array(Array.from({length: 10}, () => [0, 1]).flat()),
  shares: new Float32Array(Array.from({length: 10}, (_, v) => [1 - (v >> 1) / 4, (v >> 1) / 4]).flat()),
};

it('finds connected parts, also over vertices at one position', () => {
  expect(partsOf(positions, triangles).count).toBe(1);
  const apart = triangles.filter((_, i) => i < 6 || i >= 18);  // the first and the last square
  expect([...partsOf(positions, apart).part]).toEqual([0, 0, 0, 0, 1, 2, 3, 3, 3, 3]);
  const seam = new Float32Array([...positions, 4, 0, 0, 4, 1, 0, 5, 0, 0]);  // a triangle on copies of two vertices
  expect(partsOf(seam, new Uint32Array([...triangles, 10, 12, 11])).count).toBe(1);
});

it('finds where two joints are equal, and where one has a tenth', () => {
  const at = (level: number) => {
    const {ends, share} = borderOf(rows, triangles, 0, 1, level);
    return [...share].map((t, i) => positions[ends[2 * i] * 3] * (1 - t) + positions[ends[2 * i + 1] * 3] * t);
  };
  for (const [level, x] of [[0.5, 2], [0.9, 0.4], [0.1, 3.6]]) {
    const found = at(level);
    expect(found.length).toBeGreaterThan(1);
    for (const place of found) expect(place).toBeCloseTo(x, 5);
  }
  expect(borderOf(rows, triangles, 0, 2, 0.5).share.length).toBe(0);
});

it('skins a vertex by its row', () => {
  const matrices = new Float64Array(24);
  for (const j of [0, 12]) matrices.set([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0], j);
  matrices[12 + 7] = 2;  // joint 1 moves up by 2
  const out: [number, number, number] = [0, 0, 0];
  skinned(rows, matrices, positions, 4, out);
  expect(out).toEqual([2, 1, 0]);
  skinned(rows, null, positions, 4, out);
  expect(out).toEqual([2, 0, 0]);
});

it('measures stretched and folded area', () => {
  const meter = new DamageMeter(positions, triangles);
  expect(meter.of(positions)).toMatchObject({stretched: 0, folded: 0});
  const long = positions.map((x, i) => (i % 3 === 0 && x === 4 ? 6 : x));  // the last square is three times as long
  expect(meter.of(long)).toMatchObject({stretched: 0.25, folded: 0});
  expect(meter.of(long).vertex).toBeGreaterThanOrEqual(6);
  const turned = positions.map((x, i) => (i % 3 === 0 && x === 4 ? 2.4 : x));  // it lies on the third
  expect(meter.of(turned).folded).toBeGreaterThan(0.1);
});

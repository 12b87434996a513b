import {expect, it} from 'vitest';
import {withRows} from '../src/rows';

it('replaces rows, and widens them where it has to', () => {
  const rows = {width: 1, joints: Uint16Array.of(3, 4), shares: Float32Array.of(1, 1)};
  const same = withRows(rows, {vertices: Uint32Array.of(1), rows: {width: 1, joints: Uint16Array.of(5), shares: Float32Array.of(1)}});
  expect(same).toBe(rows);
  expect([...same.joints]).toEqual([3, 5]);
  const wide = withRows(rows, {vertices: Uint32Array.of(0), rows: {width: 2, joints: Uint16Array.of(7, 8), shares: Float32Array.of(0.75, 0.25)}});
  expect(wide.width).toBe(2);
  expect([...wide.joints]).toEqual([7, 8, 5, 0]);
  expect([...wide.shares]).toEqual([0.75, 0.25, 1, 0]);
  // A narrower row leaves nothing behind.
  withRows(wide, {vertices: Uint32Array.of(0), rows: {width: 1, joints: Uint16Array.of(2), shares: Float32Array.of(1)}});
  expect([...wide.joints.subarray(0, 2), ...wide.shares.subarray(0, 2)]).toEqual([2, 0, 1, 0]);
});

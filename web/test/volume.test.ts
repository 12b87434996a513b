import {describe, expect, it} from 'vitest';
import {resolutionOf, resolutionsToTry} from '../src/volume';

describe('resolutions of the volume', () => {
  it('halves the set value down to 32', () => {
    expect(resolutionsToTry('256')).toEqual(['256', '128', '64', '32']);
    expect(resolutionsToTry('32')).toEqual(['32']);
  });
  it('lets the core choose first, then tries smaller values', () => {
    expect(resolutionsToTry('auto')).toEqual(['auto', '256', '128', '64', '32']);
  });
  it('finds the resolution from the leaves, in any units', () => {
    for (const unit of [1, 0.004, 250]) {
      // 61.5 voxels along the longest side, as the grid of 64 has; the smallest leaf is one voxel, the others are larger.
      const leaves = new Float32Array([[0.5, 0.5, 0.5, 1, 1], [60, 0, 0, 4, 0], [2, 30, 2, 2, 0]].flatMap((leaf) =>
        leaf.map((x, k) => (k < 4 ? x * unit : x))));
      expect(resolutionOf(leaves)).toBe(64);
    }
    expect(resolutionOf(new Float32Array([0, 0, 0, 1, 1, 31, 0, 0, 1, 1]))).toBe(32);
    expect(resolutionOf(new Float32Array([0, 0, 0, 1, 1, 32, 0, 0, 1, 1]))).toBe(64);
  });
});

// The resolution at which the volume is shown. No DOM.

/** The list of resolutions, as values of --resolution. */
export const RESOLUTIONS = ['auto', '32', '64', '128', '256', '512'] as const;

/** The resolutions to try until the volume can be drawn: the one that is set, then each half of the last. With `auto` the core
 * chooses first, at most 512. */
export function resolutionsToTry(set: string): string[] {
  const out = [set];
  for (let r = set === 'auto' ? 256 : Number(set) / 2; r >= 32; r /= 2) out.push(String(r));
  return out;
}

/** The resolution of leaves (Core.volume): a power of two, slightly larger than their extent in voxels. The smallest leaf is a voxel. */
export function resolutionOf(leaves: Float32Array): number {
  let voxel = Infinity;
  const low = [Infinity, Infinity, Infinity], high = low.map((x) => -x);
  for (let i = 0; i < leaves.length; i += 5) {
    const edge = leaves[i + 3];
    voxel = Math.min(voxel, edge);
    for (let k = 0; k < 3; ++k) {
      low[k] = Math.min(low[k], leaves[i + k] - edge / 2);
      high[k] = Math.max(high[k], leaves[i + k] + edge / 2);
    }
  }
  const longest = Math.max(...low.map((x, k) => high[k] - x));
  return 2 ** Math.ceil(Math.log2(longest / voxel) - 1e-3);
}

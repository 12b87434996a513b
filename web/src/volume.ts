// At which resolution the volume is shown. No DOM.

/** What the list of resolutions offers, in the words of --resolution. */
export const RESOLUTIONS = ['auto', '32', '64', '128', '256', '512'] as const;

/** The resolutions to ask for until the volume can be drawn: the one that is set, then each half of the last. Where the core
 * is to choose, it is asked first; the most that it chooses is 512. */
export function resolutionsToTry(set: string): string[] {
  const out = [set];
  for (let r = set === 'auto' ? 256 : Number(set) / 2; r >= 32; r /= 2) out.push(String(r));
  return out;
}

/** The resolution that leaves (Core.volume) are of: a power of two, of which their longest side takes all but a few. The smallest leaf
 * is a voxel. */
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

// Colours of joints and scales. No DOM, no three.js.

/** Linear RGB of OKLCH. */
export function oklch(l: number, c: number, h: number): [number, number, number] {
  const [a, b] = [c * Math.cos(h), c * Math.sin(h)];
  const cube = (x: number) => x * x * x;
  const [x, y, z] = [
    cube(l + 0.3963377774 * a + 0.2158037573 * b),
    cube(l - 0.1055613458 * a - 0.0638541728 * b),
    cube(l - 0.0894841775 * a - 1.291485548 * b),
  ];
  const clamp = (v: number) => Math.min(Math.max(v, 0), 1);
  return [
    clamp(4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z),
    clamp(-1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z),
    clamp(-0.0041960863 * x - 0.7034186147 * y + 1.707614701 * z),
  ];
}

/** A colour for each joint: neighbours in the list are far apart in hue, and every third is darker. */
export function jointColours(count: number): Float32Array {
  const out = new Float32Array(count * 3);
  const golden = Math.PI * (3 - Math.sqrt(5));
  for (let j = 0; j < count; ++j) out.set(oklch(0.62 + 0.12 * ((j % 3) - 1), 0.15, 0.4 + j * golden), j * 3);
  return out;
}

/** A colour of the scale from dark blue over green to yellow, at 0..1. */
export function scaleColour(t: number): [number, number, number] {
  const x = Math.min(Math.max(t, 0), 1);
  return oklch(0.38 + 0.52 * x, 0.06 + 0.11 * Math.min(1, x * 3), 4.7 - 3.0 * x);
}

export const GREY: readonly [number, number, number] = [0.25, 0.25, 0.27];

/** The origin of a vertex's weights (Coverage) as colours: exceptions stand out. */
export const COVERAGE: readonly {name: string; meaning: string; colour: [number, number, number]}[] = [
  {name: 'weighted', meaning: 'by the method', colour: [0.3, 0.32, 0.36]},
  {name: 'bridged', meaning: 'over a gap, from the nearest part with a bone', colour: oklch(0.78, 0.15, 1.4)},
  {name: 'outside', meaning: 'outside the volume', colour: oklch(0.7, 0.15, 4.2)},
  {name: 'euclidean', meaning: 'by straight distance: nothing reaches it', colour: oklch(0.65, 0.2, 0.5)},
  {name: 'unused', meaning: 'in no triangle', colour: oklch(0.6, 0.15, 5.4)},
  {name: 'none', meaning: 'no weights', colour: oklch(0.6, 0.24, 0.4)},
];

const STEPS = 1000;
// scaleColour of i / STEPS: it takes too long for each vertex.
const SCALE = Float32Array.from(Array.from({length: STEPS + 1}, (_, i) => scaleColour(i / STEPS)).flat());
function putScale(t: number, out: Float32Array, v: number) {
  const at = 3 * Math.round(Math.min(Math.max(t, 0), 1) * STEPS);
  for (let c = 0; c < 3; ++c) out[v * 3 + c] = SCALE[at + c];
}

/** V × 3 from rows of weights: the joints' colours blended by weight. `only`: of these vertices. */
export function blendColours(rows: {width: number; joints: Uint16Array; shares: Float32Array}, palette: Float32Array,
                             out: Float32Array, only: ArrayLike<number> | null = null): void {
  const {width, joints, shares} = rows;
  for (let i = 0, end = only?.length ?? out.length / 3; i < end; ++i) {
    const v = only ? only[i] : i;
    let [r, g, b] = [0, 0, 0];
    for (let at = v * width; at < (v + 1) * width; ++at) {
      const w = shares[at];
      if (w === 0) continue;
      const c = joints[at] * 3;
      r += w * palette[c];
      g += w * palette[c + 1];
      b += w * palette[c + 2];
    }
    out[v * 3] = r;
    out[v * 3 + 1] = g;
    out[v * 3 + 2] = b;
  }
}

/** V × 3 of one joint's weight: grey where it has none, else the scale. `only`: of these vertices. */
export function weightColours(rows: {width: number; joints: Uint16Array; shares: Float32Array}, joint: number,
                              out: Float32Array, only: ArrayLike<number> | null = null): void {
  const {width, joints, shares} = rows;
  for (let i = 0, end = only?.length ?? out.length / 3; i < end; ++i) {
    const v = only ? only[i] : i;
    let w = 0;
    for (let at = v * width; at < (v + 1) * width; ++at) if (joints[at] === joint) w = Math.max(w, shares[at]);
    if (w > 0) putScale(0.08 + 0.92 * w, out, v);
    else out.set(GREY, v * 3);
  }
}

/** V × 3 colours of any values: `most` is the end of the scale; values that are not finite are grey. */
export function valueColours(values: Float32Array, most: number, out: Float32Array): void {
  for (let v = 0; v < values.length; ++v)
    out.set(Number.isFinite(values[v]) ? scaleColour(values[v] / (most || 1)) : GREY, v * 3);
}

import {describe, expect, it} from 'vitest';
import {COVERAGE, GREY, blendColours, jointColours, oklch, scaleColour, valueColours, weightColours} from '../src/colours';

const rows = {width: 2, joints: new Uint16Array([0, 1, 1, 0]), shares: new Float32Array([0.75, 0.25, 1, 0])};

describe('colours', () => {
  it('is grey without chroma', () => {
    const [r, g, b] = oklch(0.5, 0, 1);
    expect(g).toBeCloseTo(r, 5);
    expect(b).toBeCloseTo(r, 5);
    expect(oklch(1, 0, 0)[0]).toBeCloseTo(1, 5);
  });

  it('differ between neighbouring joints', () => {
    const palette = jointColours(60);
    for (let j = 1; j < 60; ++j) {
      const d = [0, 1, 2].map((k) => palette[j * 3 + k] - palette[j * 3 - 3 + k]);
      expect(Math.hypot(...d)).toBeGreaterThan(0.12);
    }
    expect([...palette].every((x) => x >= 0 && x <= 1)).toBe(true);
  });

  it('blends by weight', () => {
    const out = new Float32Array(6);
    blendColours(rows, new Float32Array([1, 0, 0, 0, 1, 0]), out);
    expect([...out]).toEqual([0.75, 0.25, 0, 0, 1, 0]);
  });

  it('shows one joint on a scale that rises, and none as grey', () => {
    const out = new Float32Array(6);
    weightColours(rows, 0, out);
    expect([...out.slice(3)]).toEqual([...new Float32Array(GREY)]);
    const light = (c: readonly number[]) => c[0] + c[1] + c[2];
    expect(light(scaleColour(0.2))).toBeLessThan(light(scaleColour(0.6)));
    expect(light(scaleColour(0.6))).toBeLessThan(light(scaleColour(1)));
    expect(light([...out.slice(0, 3)])).toBeGreaterThan(light(scaleColour(0.5)));
  });

  it('shows values that are not finite as grey', () => {
    const out = new Float32Array(6);
    valueColours(new Float32Array([Infinity, 2]), 2, out);
    expect([...out.slice(0, 3)]).toEqual([...new Float32Array(GREY)]);
    expect(out[3]).toBeCloseTo(scaleColour(1)[0], 5);
  });

  it('has a colour for each way in which a vertex is bound', () => {
    expect(COVERAGE.map((c) => c.name)).toEqual(['weighted', 'bridged', 'outside', 'euclidean', 'unused', 'none']);
  });
});

import {Euler, Quaternion} from 'three';
import {describe, expect, it} from 'vitest';
import {degreesOf, partOf, turnOf, type Degrees} from '../src/angles';

describe('degrees', () => {
  it('are a rotation about one axis', () => {
    const half = Math.SQRT1_2;
    expect(turnOf([0, 0, 0])).toEqual([0, 0, 0, 1]);
    for (const [degrees, wanted] of [[[90, 0, 0], [half, 0, 0, half]], [[0, 90, 0], [0, half, 0, half]], [[0, 0, -90], [0, 0, -half, half]]] as const)
      turnOf([...degrees]).forEach((x, k) => expect(x).toBeCloseTo(wanted[k], 12));
  });

  it('equal those of three.js, and round-trip', () => {
    for (const degrees of [[10, 20, 30], [-170, 80, 5], [120, -89, -120], [0.5, 0, 179]] as Degrees[]) {
      const [x, y, z] = degrees.map((d) => (d * Math.PI) / 180);
      const wanted = new Quaternion().setFromEuler(new Euler(x, y, z, 'XYZ'));
      const turn = turnOf(degrees);
      turn.forEach((q, k) => expect(q).toBeCloseTo(wanted.toArray()[k], 12));
      degreesOf(turn).forEach((d, k) => expect(d).toBeCloseTo(degrees[k], 3));
    }
  });

  it('give the same rotation at y = ±90, with other numbers', () => {
    for (const y of [90, -90]) {
      const turn = turnOf([30, y, 40]);
      const again = turnOf(degreesOf(turn));
      expect(Math.abs(turn.reduce((sum, q, k) => sum + q * again[k], 0))).toBeCloseTo(1, 9);
    }
  });

  it('interpolate along the shorter arc', () => {
    for (const turn of [turnOf([80, 0, 0]), turnOf([80, 0, 0]).map((q) => -q) as [number, number, number, number]]) {
      const quarter = degreesOf(partOf(turn, 0.25));
      [20, 0, 0].forEach((d, k) => expect(quarter[k]).toBeCloseTo(d, 3));
    }
    expect(partOf([0.1, 0.2, 0.3, 0.9], 1)).toEqual([0.1, 0.2, 0.3, 0.9]);
    expect(partOf(turnOf([50, 10, 0]), 0)).toEqual([0, 0, 0, 1]);
    expect(partOf([0, 0, 0, 1], 0.5)).toEqual([0, 0, 0, 1]);
  });
});

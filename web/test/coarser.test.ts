import * as THREE from 'three';
import {expect, test} from 'vitest';
import {coarserLike, coarserOf} from '../src/coarser';

/** A sheet of n × n squares in two groups. */
function sheet(n: number): THREE.BufferGeometry {
  const geometry = new THREE.PlaneGeometry(1, 1, n, n), corners = geometry.getIndex()!.count;
  geometry.clearGroups();
  const half = 3 * Math.floor(corners / 6);
  geometry.addGroup(0, half, 1);
  geometry.addGroup(half, corners - half, 2);
  return geometry;
}
const trianglesOf = (geometry: THREE.BufferGeometry) => geometry.getIndex()!.count / 3;

test('a large surface gets fewer triangles, between its own vertices, in its groups', async () => {
  const surface = sheet(400), coarser = (await coarserOf(surface))!;
  expect(trianglesOf(surface)).toBe(320_000);
  expect(trianglesOf(coarser)).toBeGreaterThan(20_000);
  expect(trianglesOf(coarser)).toBeLessThanOrEqual(120_002);
  expect(coarser.attributes).toBe(surface.attributes);
  const {array} = coarser.getIndex()!;
  expect(array.every((v) => v < surface.getAttribute('position').count)).toBe(true);
  expect(coarser.groups.map((g) => g.materialIndex)).toEqual([1, 2]);
  expect(coarser.groups.reduce((sum, g) => sum + g.count, 0)).toBe(array.length);
  // It covers the sheet: the area is that of all triangles.
  const at = surface.getAttribute('position');
  let area = 0;
  for (let i = 0; i < array.length; i += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => [at.getX(array[i + k]), at.getY(array[i + k])]);
    area += Math.abs((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])) / 2;
  }
  expect(area).toBeGreaterThan(0.97);
  expect(area).toBeLessThan(1.03);
  const other = surface.clone(), again = coarserLike(coarser, other)!;
  expect(again.getIndex()).toBe(coarser.getIndex());
  expect(again.attributes).toBe(other.attributes);
  expect(again.groups).toEqual(coarser.groups);
});

test('a small surface keeps its triangles', async () => {
  expect(await coarserOf(sheet(240))).toBe(null);
  expect(coarserLike(null, sheet(3))).toBe(null);
});

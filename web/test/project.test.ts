import {zipSync} from 'fflate';
import {describe, expect, it} from 'vitest';
import {isZip, packed, unzipped, workIn} from '../src/project';
import {EMPTY} from '../src/store';

const bytes = (...n: number[]) => Uint8Array.from(n);
const pixels = async () => bytes(9, 9, 9, 9);

describe('a project', () => {
  it('gives back what was packed', async () => {
    const doc = {...EMPTY, settings: {resolution: '64'}, edits: [{op: 'mirror' as const, from: 'left' as const}]};
    const work = {
      file: {name: 'a.gltf', bytes: bytes(1, 2), beside: [{path: 'bin/a.bin', bytes: bytes(3)}], skeleton: {name: 's.json', bytes: bytes(4)}, skeletonScale: 2},
      doc, binding: {bytes: bytes(5, 6), doc, seconds: 1.5, first: null},
    };
    const zip = packed(work);
    expect(isZip(zip)).toBe(true);
    const files = unzipped(zip, 'p.sinew');
    expect(files.has('edits.json')).toBe(true);
    expect(await workIn(files, 'p.sinew', pixels)).toEqual(work);
  });

  it('unpacks pictures again', async () => {
    const picture = {width: 1, height: 1, smoothness: 3, rgba: bytes(1, 1, 1, 1)};
    const files = unzipped(packed({file: {name: 'a.png', bytes: bytes(7), picture}, doc: EMPTY, binding: null}), 'p.sinew');
    expect((await workIn(files, 'p.sinew', pixels))!.file.picture).toEqual({...picture, rgba: bytes(9, 9, 9, 9)});
  });

  it('says what is wrong with one', async () => {
    const of = (text: string) => workIn(new Map([['project.json', new TextEncoder().encode(text)]]), 'p.sinew', pixels);
    expect(await workIn(new Map(), 'p.sinew', pixels)).toBe(null);
    expect(await of('{}')).toBe(null);
    await expect(of('{')).rejects.toThrow('p.sinew: project.json is no JSON');
    await expect(of('{"sinew": "project", "version": 9}')).rejects.toThrow('version 9');
    await expect(of('{"sinew": "project", "version": 1, "model": "model/a.glb"}')).rejects.toThrow('model/a.glb is missing');
    expect(() => unzipped(bytes(0x50, 0x4b, 3, 4, 0), 'p.zip')).toThrow('p.zip: the ZIP cannot be read');
    const large = zipSync({'a.bin': new Uint8Array(3 << 20), 'b.bin': new Uint8Array(3 << 20)});
    expect(large.length).toBeLessThan(100_000);
    expect(() => unzipped(large, 'p.zip', 5 << 20)).toThrow('p.zip: its files are larger than 5 MB');
    expect(unzipped(large, 'p.zip', 6 << 20).size).toBe(2);
  });

  it('drops fields of the wrong kind, and files that systems add', async () => {
    const zip = zipSync({'project.json': new TextEncoder().encode(JSON.stringify({
      sinew: 'project', version: 1, model: 'model/a.glb', beside: [], doc: {edits: 'none', settings: {falloff: '0.5'}, more: 1},
    })), 'model/a.glb': bytes(1), '__MACOSX/x': bytes(2), 'folder/.DS_Store': bytes(3)});
    const files = unzipped(zip, 'p.sinew');
    expect([...files.keys()].sort()).toEqual(['model/a.glb', 'project.json']);
    expect((await workIn(files, 'p.sinew', pixels))!.doc).toEqual({...EMPTY, settings: {falloff: '0.5'}});
  });
});

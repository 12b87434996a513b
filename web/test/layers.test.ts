import {describe, expect, it} from 'vitest';
import {figureOf, layersOf} from '../src/layers';
import {cutoutLine} from '../src/store';

const FIGURE = JSON.stringify({
  bones: [{name: 'a', head: [1, 2]}],
  layers: [{image: 'body.png'}, {name: 'arm', image: 'in/arm.png', offset: [60.5, -70]}, {name: 'other arm', image: 'in/arm.png'}],
});
const file = (name: string, path = name) => ({name, path, width: 10, height: 200});
const figure = (files: ReturnType<typeof file>[]) =>
  figureOf('doll.json', new TextEncoder().encode(FIGURE), files, (f) => f.path, async ({width, height}) =>
    ({rgba: new Uint8Array(4 * width * height), width, height, bytes: new Uint8Array([1])}));

describe('figures of layers', () => {
  it('are distinguished from other JSON', () => {
    expect(layersOf(FIGURE)!.map((l) => l.image)).toEqual(['body.png', 'in/arm.png', 'in/arm.png']);
    for (const text of ['', '{', 'null', '[]', '{"bones":[]}', '{"layers":{}}']) expect(layersOf(text)).toBe(null);
    expect(layersOf('{"layers":[null,{"image":3},{"image":"a","offset":["x"]}]}')).toEqual([{image: 'a', offset: [0, 0]}]);
  });
  it('have each picture once, under its path in the file, and the size of the canvas', async () => {
    const {picture} = await figure([file('arm.png', 'in/arm.png'), file('arm.png', 'elsewhere/arm.png'), file('body.png')]);
    expect(picture!.layers!.map((l) => l.path)).toEqual(['body.png', 'in/arm.png']);
    expect([picture!.width, picture!.height]).toEqual([71, 200]);
    // Files without folders.
    expect((await figure([file('arm.png'), file('body.png')])).picture!.layers!.length).toBe(2);
  });
  it('report missing pictures', async () => {
    await expect(figure([file('body.png')])).rejects.toThrow(/^doll\.json: .*in\/arm\.png together with it$/);
  });
  it('are cut out by a command without --bones', () => {
    expect(cutoutLine('doll.json', null, 12)).toBe('sinew cutout doll.json -o doll.glb --smoothness 12');
    expect(cutoutLine('doll.png', undefined, 0)).toBe('sinew cutout doll.png --bones BONES.json -o doll.glb');
  });
});

import {describe, expect, it} from 'vitest';
import {needsDraco} from '../../js/src/draco';

const bytes = (text: string) => new TextEncoder().encode(text);
const glb = (json: string, rest = '') => {
  const head = new Uint8Array(20);
  head.set(bytes('glTF'));
  new DataView(head.buffer).setUint32(12, json.length, true);
  return new Uint8Array([...head, ...bytes(json + rest)]);
};
const said = '{"extensionsUsed":["KHR_draco_mesh_compression"]}';

describe('files that need Draco', () => {
  it('name the extension in their JSON', () => {
    expect(needsDraco({name: 'a.gltf', bytes: bytes(said)})).toBe(true);
    expect(needsDraco({name: 'a.vrm', bytes: glb(said)})).toBe(true);
    expect(needsDraco({name: 'a.glb', bytes: glb('{}', said)})).toBe(false);
    expect(needsDraco({name: 'a.gltf', bytes: bytes('{}')})).toBe(false);
    expect(needsDraco({name: 'a.obj', bytes: bytes(`# ${said}`)})).toBe(false);
  });
  it('may be truncated', () => {
    for (let n = 0; n < 24; ++n) expect(needsDraco({name: 'a.glb', bytes: glb(said).subarray(0, n)})).toBe(false);
  });
});

import {describe, expect, it} from 'vitest';
import {needsFbx} from '../../js/src/fbx';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('files that need the reader of FBX', () => {
  it('begin like one, or are called so, and so may their skeletons', () => {
    expect(needsFbx({name: 'a', bytes: bytes('Kaydara FBX Binary  \0')})).toBe(true);
    expect(needsFbx({name: 'a.txt', bytes: bytes('; FBX 7.4.0 project file')})).toBe(true);
    expect(needsFbx({name: 'a.FBX', bytes: bytes('')})).toBe(true);
    expect(needsFbx({name: 'a.glb', bytes: bytes('glTF')})).toBe(false);
    expect(needsFbx({name: 'a.obj', bytes: bytes('v 0 0 0'), skeleton: {name: 'b.fbx', bytes: bytes('')}})).toBe(true);
    expect(needsFbx({name: 'a.obj', bytes: bytes('v 0 0 0'), skeleton: {name: 'b.json', bytes: bytes('{}')}})).toBe(false);
  });
});

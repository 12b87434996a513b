// FBX is read by a module of its own (web/core/fbx.cpp), which is loaded for the first such file.
import type {CoreModule, OpenFile} from './core';

/** The emscripten module. */
export interface FbxModule {
  HEAPU8: Uint8Array;
  FS: {mkdirTree(path: string): void; writeFile(path: string, data: Uint8Array): void};
  stringToUTF8(text: string, at: number, size: number): void;
  lengthBytesUTF8(text: string): number;
  _malloc(size: number): number;
  _free(at: number): void;
  _sinew_fbx_read(bytes: number, size: number, name: number, length: number): number;
}

const isFbx = ({name, bytes}: {name: string; bytes: Uint8Array}) =>
  /^(Kaydara FBX Binary|; ?FBX)/.test(String.fromCharCode(...bytes.subarray(0, 20))) || /\.fbx$/i.test(name);

/** By the content of the file or of that of its skeleton, as the core tells formats apart. */
export const needsFbx = (file: Pick<OpenFile, 'name' | 'bytes' | 'skeleton'>): boolean =>
  isFbx(file) || (file.skeleton !== undefined && isFbx(file.skeleton));

/** A reader that finds textures among the files beside. */
export function fbxReader(m: FbxModule, beside: OpenFile['beside'] = []): NonNullable<CoreModule['fbx']> {
  m.FS.mkdirTree('/model');
  for (const {path, bytes} of beside) {
    m.FS.mkdirTree(`/model/${path}`.replace(/\/[^/]*$/, ''));
    m.FS.writeFile(`/model/${path}`, bytes);
  }
  return (bytes, name) => {
    const size = m.lengthBytesUTF8(name) + 1;
    const [at, nameAt, length] = [m._malloc(bytes.length + 1), m._malloc(size), m._malloc(4)];
    if (!at) return new Uint8Array();
    m.HEAPU8.set(bytes, at);
    m.stringToUTF8(name, nameAt, size);
    const answer = m._sinew_fbx_read(at, bytes.length, nameAt, length);
    return m.HEAPU8.slice(answer, answer + new Uint32Array(m.HEAPU8.buffer, length, 1)[0]);
  };
}

// FBX is read and written by a module of its own (web/core/fbx.cpp), which is loaded when there is such a file.
import type {CoreModule, OpenFile} from './core';

/** The emscripten module. */
export interface FbxModule {
  HEAPU8: Uint8Array;
  FS: {mkdirTree(path: string): void; writeFile(path: string, data: Uint8Array): void};
  stringToUTF8(text: string, at: number, size: number): void;
  lengthBytesUTF8(text: string): number;
  _malloc(size: number): number;
  _free(at: number): void;
  _sinew_fbx(task: number, bytes: number, size: number, more: number, moreSize: number, name: number, length: number): number;
}

const isFbx = ({name, bytes}: {name: string; bytes: Uint8Array}) =>
  /^(Kaydara FBX Binary|; ?FBX)/.test(String.fromCharCode(...bytes.subarray(0, 20))) || /\.fbx$/i.test(name);

/** By the content of the file or of that of its skeleton, as the core tells formats apart. */
export const needsFbx = (file: Pick<OpenFile, 'name' | 'bytes' | 'skeleton'>): boolean =>
  isFbx(file) || (file.skeleton !== undefined && isFbx(file.skeleton));

/** Does the tasks of web/core/fbx.h; finds textures among the files beside. */
export function fbxWorker(m: FbxModule, beside: OpenFile['beside'] = []): NonNullable<CoreModule['fbx']> {
  m.FS.mkdirTree('/model');
  for (const {path, bytes} of beside) {
    m.FS.mkdirTree(`/model/${path}`.replace(/\/[^/]*$/, ''));
    m.FS.writeFile(`/model/${path}`, bytes);
  }
  const put = (bytes: Uint8Array) => {
    const at = m._malloc(bytes.length + 1);
    if (at) m.HEAPU8.set(bytes, at);
    return at;
  };
  return (task, bytes, more, name) => {
    const size = m.lengthBytesUTF8(name) + 1;
    const [at, moreAt, nameAt, length] = [put(bytes), put(more), m._malloc(size), m._malloc(4)];
    if (!at || !moreAt) return new Uint8Array();
    m.stringToUTF8(name, nameAt, size);
    const answer = m._sinew_fbx(task, at, bytes.length, moreAt, more.length, nameAt, length);
    return m.HEAPU8.slice(answer, answer + new Uint32Array(m.HEAPU8.buffer, length, 1)[0]);
  };
}

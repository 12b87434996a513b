// Detects files compressed with Draco, whose decoder is loaded for the first of them.
import type {OpenFile} from './core';

const WORD = 'KHR_draco_mesh_compression';

/** By the name of the extension in the JSON of a glTF or GLB; the core reports the errors of damaged files. */
export function needsDraco({name, bytes}: Pick<OpenFile, 'name' | 'bytes'>): boolean {
  const text = (from: number, to: number) => new TextDecoder().decode(bytes.subarray(from, to));
  if (text(0, 4) !== 'glTF') return /\.gltf$/i.test(name) && text(0, bytes.length).includes(WORD);
  if (bytes.length < 20) return false;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(12, true);
  return text(20, 20 + length).includes(WORD);
}

// Flat figures of several pictures: the files named by bones JSON with "layers" (docs/cutout.md). No DOM.
import {SinewError, type OpenFile, type Picture} from 'sinew-skin';

/** The entries of "layers" that name a picture; null: the text is not such a file. The core reports errors. */
export function layersOf(text: string): {image: string; offset: [number, number]}[] | null {
  let read: {layers?: unknown};
  try {
    read = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(read?.layers)) return null;
  return read.layers.flatMap((entry) => {
    const {image, offset} = (entry ?? {}) as {image?: unknown; offset?: unknown};
    const [x, y] = Array.isArray(offset) ? offset.map(Number) : [0, 0];
    return typeof image === 'string' && image ? [{image, offset: [x || 0, y || 0]}] : [];
  });
}

/** The figure, with each picture once, under the path in the file. Files are found by this path, otherwise by name, because a browser
 * does not report the folders of single files. */
export async function figureOf<File extends {name: string}>(name: string, bytes: Uint8Array, files: readonly File[], pathOf: (f: File) => string,
    unpacked: (f: File) => Promise<Picture & {bytes: Uint8Array}>): Promise<OpenFile> {
  const entries = layersOf(new TextDecoder().decode(bytes)) ?? [];
  const last = (path: string) => path.slice(path.lastIndexOf('/') + 1);
  const layers: (Picture & {path: string; bytes: Uint8Array})[] = [];
  const missing: string[] = [];
  for (const path of new Set(entries.map((e) => e.image))) {
    const file = files.find((f) => pathOf(f) === path) ?? files.find((f) => f.name === last(path));
    if (file) layers.push({path, ...(await unpacked(file))});
    else missing.push(path);
  }
  if (missing.length)
    throw new SinewError('input', `${name}: the pictures of its layers belong to it: open or drop ${missing.join(', ')} together with it`);
  let [width, height] = [1, 1];
  for (const {image, offset} of entries) {
    const of = layers.find((l) => l.path === image)!;
    width = Math.max(width, Math.ceil(offset[0] + of.width));
    height = Math.max(height, Math.ceil(offset[1] + of.height));
  }
  return {name, bytes, picture: {rgba: new Uint8Array(), width, height, smoothness: 0, layers}};
}

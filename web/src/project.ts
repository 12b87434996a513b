// A project: the opened files and what was done with them, as one ZIP. No DOM.
import {strFromU8, strToU8, unzipSync, zipSync, type Zippable} from 'fflate';
import {SinewError, type OpenFile} from 'sinew-skin';
import type {KeptBinding, Work} from './work';
import {EMPTY, editsOf, withSkeleton, type Doc} from './store';

export const EXTENSION = '.sinew';
const VERSION = 1;
const LARGE = 1 << 24;  // bytes; compressing more would take seconds

/** project.json. Paths are those of the ZIP. */
interface Description {
  sinew: 'project';
  version: number;
  model: string;
  beside: string[];
  skeleton?: string;
  skeletonScale?: number;
  prop?: boolean;
  settings?: OpenFile['settings'];
  picture?: {width: number; height: number; smoothness: number; layers?: {path: string; width: number; height: number}[]};
  doc: Doc;
  binding?: Omit<KeptBinding, 'bytes'>;
}

/** model/ has the files as they were opened. The edit list and the drawn skeleton lie beside it for the command line only. */
export function packed({file, doc, binding}: Work): Uint8Array {
  const entries: Zippable = {};
  const put = (path: string, bytes: Uint8Array) => {
    entries[path] = [bytes, {level: bytes.length > LARGE ? 0 : 1}];
    return path;
  };
  const {picture} = file;
  const description: Description = {
    sinew: 'project', version: VERSION, model: put(`model/${file.name}`, file.bytes), beside: (file.beside ?? []).map(({path}) => path),
    ...(file.skeleton ? {skeleton: put(`skeleton/${file.skeleton.name}`, file.skeleton.bytes)} : {}),
    ...(file.skeletonScale ? {skeletonScale: file.skeletonScale} : {}), ...(file.prop ? {prop: true} : {}), ...(file.settings ? {settings: file.settings} : {}),
    ...(picture ? {picture: {
      width: picture.width, height: picture.height, smoothness: picture.smoothness,
      ...(picture.layers ? {layers: picture.layers.map(({path, width, height}) => ({path, width, height}))} : {}),
    }} : {}),
    doc, ...(binding ? {binding: {doc: binding.doc, seconds: binding.seconds, first: binding.first}} : {}),
  };
  for (const {path, bytes} of [...(file.beside ?? []), ...(picture?.layers ?? [])]) put(`model/${path}`, bytes);
  if (binding) put('binding', binding.bytes);
  const edits = editsOf(doc), drawn = doc.bones ? withSkeleton(file, doc).skeleton : undefined;
  if (edits) put('edits.json', strToU8(edits));
  if (drawn) put(drawn.name, drawn.bytes);
  put('project.json', strToU8(JSON.stringify(description)));
  return zipSync(entries);
}

/** Whether the bytes begin like a ZIP. */
export const isZip = (bytes: Uint8Array): boolean => bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4;

const MOST = 1 << 30;  // bytes of a ZIP's files: a small one may state any number

/** The files of a ZIP by path; those of folders that programs add are left out. */
export function unzipped(bytes: Uint8Array, name: string, most = MOST): Map<string, Uint8Array> {
  let total = 0;
  const wanted = (file: {name: string; originalSize: number}) => {
    if (file.name.endsWith('/') || /(^|\/)(__MACOSX|\.)/.test(file.name)) return false;
    total += file.originalSize;
    if (total > most) throw new SinewError('too_large', `${name}: its files are larger than ${most >> 20} MB: open them without the ZIP`);
    return true;
  };
  try {
    return new Map(Object.entries(unzipSync(bytes, {filter: wanted})));
  } catch (error) {
    if (error instanceof SinewError) throw error;
    throw new SinewError('input', `${name}: the ZIP cannot be read (${error instanceof Error ? error.message : error})`);
  }
}

const sameKind = (a: unknown, b: unknown) => typeof a === typeof b && Array.isArray(a) === Array.isArray(b);

/** The fields of a document that have the right kind. */
function docOf(read: unknown): Doc {
  const out: Record<string, unknown> = {...EMPTY};
  for (const [key, value] of Object.entries((read ?? {}) as object))
    if (key in EMPTY && (key === 'lockedWhere' || (key === 'bones' ? value === null || Array.isArray(value) : value !== null && sameKind(value, out[key]))))
      out[key] = value;
  return out as unknown as Doc;
}

/** The work in the files of a project; null: it is none. Pictures of flat figures come without pixels, which `pixelsOf` gives. */
export async function workIn(files: ReadonlyMap<string, Uint8Array>, name: string,
                             pixelsOf: (name: string, bytes: Uint8Array) => Promise<Uint8Array>): Promise<Work | null> {
  const text = files.get('project.json');
  if (!text) return null;
  let read: Description;
  try {
    read = JSON.parse(strFromU8(text));
  } catch {
    throw new SinewError('input', `${name}: project.json is no JSON`);
  }
  if (read?.sinew !== 'project') return null;
  if (read.version !== VERSION)
    throw new SinewError('input', `${name}: the project has version ${read.version}; this page reads version ${VERSION}`);
  const of = (path: string) => {
    const bytes = files.get(path);
    if (!bytes) throw new SinewError('input', `${name}: ${path} is missing in the project`);
    return bytes;
  };
  const last = (path: string) => path.slice(path.indexOf('/') + 1);
  const bytes = of(read.model);
  const file: OpenFile = {
    name: last(read.model), bytes,
    ...(read.beside?.length ? {beside: read.beside.map((path) => ({path, bytes: of(`model/${path}`)}))} : {}),
    ...(read.skeleton ? {skeleton: {name: last(read.skeleton), bytes: of(read.skeleton)}} : {}),
    ...(read.skeletonScale ? {skeletonScale: read.skeletonScale} : {}), ...(read.prop ? {prop: true} : {}), ...(read.settings ? {settings: read.settings} : {}),
  };
  if (read.picture) {
    const {layers, ...size} = read.picture;
    file.picture = layers
      ? {...size, rgba: new Uint8Array(), layers: await Promise.all(layers.map(async (l) => {
        const png = of(`model/${l.path}`);
        return {...l, bytes: png, rgba: await pixelsOf(l.path, png)};
      }))}
      : {...size, rgba: await pixelsOf(file.name, bytes)};
  }
  const binding = files.get('binding');
  return {
    file, doc: docOf(read.doc),
    binding: binding && read.binding ? {bytes: binding, doc: docOf(read.binding.doc), seconds: Number(read.binding.seconds) || 0, first: read.binding.first ?? null} : null,
  };
}

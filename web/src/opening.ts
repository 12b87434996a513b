// Files from the picker, from a drop, from the samples, or from `sinew studio FILE`.
import type {OpenFile, Picture} from 'sinew-skin';
import {button, byId, refill} from './dom';
import {figureOf, layersOf} from './layers';
import {notice, showError} from './messages';
import {isEditList, withEdits} from './edits';
import {isZip, unzipped, workIn} from './project';
import {open} from './session';
import {history, notify, on, session} from './state';
import {EMPTY} from './store';

const PICTURES = /\.png$/i;
const MODELS = /\.(glb|gltf|vrm|fbx|obj)$/i;
/** Formats that only the command line reads (src/io/foreign_document.cpp). */
const FOREIGN = /\.(dae|x|b3d|ms3d|md5mesh|smd|3ds|lwo|ply|stl|off)$/i;
const SKELETONS = /\.(json|tgf)$/i;
const SAMPLES: [string, string][] = [
  ['biped', 'A person'],
  ['caped', 'With a cape'],
  ['quadruped', 'On four legs'],
  ['robot', 'A robot'],
];

const listed = (names: readonly string[]) => names.join(', ').replace(/, ([^,]*)$/, ' and $1');

const chosenPath = (f: File) => (f.webkitRelativePath || f.name).split('/').slice(f.webkitRelativePath ? 1 : 0).join('/');

const bytes = async (f: File) => new Uint8Array(await f.arrayBuffer());

async function openFiles(files: Iterable<File>, pathOf: (f: File) => string = chosenPath) {
  let all = [...files];
  let edits: string | null = null;  // an edit list among the files
  try {
    for (const file of all.filter((f) => /\.(zip|sinew)$/i.test(f.name))) {
      const content = await bytes(file);
      if (!isZip(content)) throw new Error(`${file.name}: this is no ZIP`);
      const found = unzipped(content, file.name);
      const work = await workIn(found, file.name, async (name, b) => (await unpacked(new File([b as BlobPart], name))).rgba);
      if (work) return await open(work.file, work);
      const paths = new Map([...found].map(([path, b]) => [new File([b as BlobPart], path.slice(path.lastIndexOf('/') + 1)), path]));
      return await openFiles(paths.keys(), (f) => paths.get(f)!);
    }
    for (const file of all.filter((f) => /\.json$/i.test(f.name))) {
      const text = await file.text();
      if (!isEditList(text)) continue;
      edits = text;
      all = all.filter((f) => f !== file);
    }
  } catch (error) {
    return showError(error);
  }
  if (edits !== null && !all.length) {
    if (!session.opened) return showError(new Error('an edit list needs a character: open or drop both together'));
    history.change(withEdits(history.doc, edits));
    return notify('options');
  }
  const more = edits === null ? {} : {doc: {...EMPTY, ...withEdits(EMPTY, edits)}};
  const models = all.filter((f) => MODELS.test(f.name));
  let model: File | undefined = models[0];
  const said = models.length > 1 ? `${models[0].name} is open. ${listed(models.slice(1).map((f) => f.name))} ${models.length > 2 ? 'were' : 'was'} left out: the page shows one character at a time.` : '';
  try {
    // Without a model, a JSON with layers is opened.
    for (const file of model ? [] : all.filter((f) => /\.json$/i.test(f.name)))
      if (layersOf(await file.text()))
        return await open(await figureOf(file.name, await bytes(file), all, pathOf, async (f) => ({...(await unpacked(f)), bytes: await bytes(f)})));
  } catch (error) {
    return showError(error);
  }
  model ??= all.find((f) => PICTURES.test(f.name));
  if (!model) {
    const foreign = all.find((f) => FOREIGN.test(f.name));
    const names = listed(all.map((f) => f.name));
    showError(new Error(foreign
      ? `${foreign.name}: the page cannot read this format. Export it as GLB or VRM from your program, or run “sinew studio ${foreign.name}”, which converts it and opens it here.`
      : `${names || 'nothing'}: there is no character among these. Give a .glb, .gltf, .vrm, .fbx or .obj file, or a .png.`));
    return;
  }
  const skeleton = all.find((f) => f !== model && SKELETONS.test(f.name));
  const rest = all.filter((f) => f !== model && f !== skeleton);
  try {
    if (PICTURES.test(model.name))
      return await open({
        name: model.name, bytes: await bytes(model), picture: {...(await unpacked(model)), smoothness: 0},
        ...(skeleton ? {skeleton: {name: skeleton.name, bytes: await bytes(skeleton)}} : {}),
      });
    // Paths from the folder of the model, which may be in a folder of the chosen one.
    const folder = pathOf(model).slice(0, pathOf(model).lastIndexOf('/') + 1);
    const beside = await Promise.all(rest.map(async (f) => ({
      path: pathOf(f).startsWith(folder) ? pathOf(f).slice(folder.length) : pathOf(f),
      bytes: await bytes(f),
    })));
    await open(character(model.name, await bytes(model), beside, skeleton && {name: skeleton.name, bytes: await bytes(skeleton)}), more);
    if (said) notice(said);
  } catch (error) {
    showError(error);
  }
}

const MOST_PIXELS = 4096;

/** The pixels of a flat figure. The browser decodes the picture; only its alpha is used. */
async function unpacked(file: File): Promise<Picture> {
  const picture = await createImageBitmap(file, {premultiplyAlpha: 'none', colorSpaceConversion: 'none'}).catch(() => {
    throw new Error(`${file.name}: the browser cannot read this picture (save it as PNG again)`);
  });
  const {width, height} = picture;
  if (Math.max(width, height) > MOST_PIXELS)
    throw new Error(`${file.name}: ${width} × ${height} pixels, at most ${MOST_PIXELS} along a side: make it smaller`);
  const canvas = new OffscreenCanvas(width, height).getContext('2d')!;
  canvas.drawImage(picture, 0, 0);
  const {data} = canvas.getImageData(0, 0, width, height);
  return {rgba: new Uint8Array(data.buffer), width, height};
}

function character(name: string, bytes: Uint8Array, beside: OpenFile['beside'] = [], skeleton?: OpenFile['skeleton']): OpenFile {
  return {name, bytes, ...(beside.length ? {beside} : {}), ...(skeleton ? {skeleton} : {})};
}

async function fetched(path: string, what: string): Promise<Uint8Array> {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`${what} could not be read (${answer.status})`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** `sinew studio FILE` serves the file beside the page and puts its name into the address. */
export async function openFromAddress(): Promise<void> {
  const query = new URLSearchParams(location.search);
  const name = query.get('open');
  if (!name) return;
  const bytes = (path: string) => fetched(`./open/${path.split('/').map(encodeURIComponent).join('/')}`, path);
  const beside = await Promise.all(query.getAll('with').map(async (path) => ({path, bytes: await bytes(path)})));
  const skeleton = query.get('skeleton');
  if (/\.(png|json)$/i.test(name)) {
    // Flat figures are unpacked like dropped files.
    const all = [{path: name, bytes: await bytes(name)}, ...beside, ...(skeleton ? [{path: skeleton, bytes: await bytes(skeleton)}] : [])];
    const paths = new Map(all.map(({path, bytes}) => [new File([bytes as BlobPart], path.slice(path.lastIndexOf('/') + 1)), path]));
    return openFiles(paths.keys(), (f) => paths.get(f)!);
  }
  const scale = Number(query.get('skeleton-scale')), fit = query.get('fit-check');
  await open({
    ...character(name, await bytes(name), beside, skeleton ? {name: skeleton, bytes: await bytes(skeleton)} : undefined),
    ...(skeleton && scale > 0 ? {skeletonScale: scale} : {}),
    ...(query.has('prop') ? {prop: true} : {}),
    ...(fit ? {settings: {'fit-check': fit}} : {}),
  });
}

refill(byId('samples'), ...SAMPLES.map(([name, shown]) =>
  button(shown, `Open the sample ${name}`, () =>
    void fetched(`./samples/${name}.glb`, `the sample ${name}`).then((bytes) => open({name: `${name}.glb`, bytes})).catch(showError),
    {'data-sample': name})));

const picker = byId<HTMLInputElement>('files');
export const choose = () => picker.click();
picker.addEventListener('change', () => {
  if (picker.files) void openFiles([...picker.files]);
  picker.value = '';
});
const folders = byId<HTMLInputElement>('folder');
folders.addEventListener('change', () => {
  if (folders.files) void openFiles([...folders.files]);
  folders.value = '';
});
byId('open-folder').addEventListener('click', () => folders.click());

/** All files below an entry of a drop, with their paths. */
async function filesBelow(entry: FileSystemEntry, into: Map<File, string>): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    into.set(file, entry.fullPath.replace(/^\//, ''));
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // It gives a hundred at a time, and none at the end.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return;
    for (const below of some) if (!below.name.startsWith('.')) await filesBelow(below, into);
  }
}

async function openDropped(data: DataTransfer) {
  // Entries must be taken before anything is awaited.
  const entries = [...data.items].flatMap((item) => item.webkitGetAsEntry?.() ?? []);
  if (!entries.some((e) => e.isDirectory)) return openFiles(data.files);
  const found = new Map<File, string>();
  for (const entry of entries) await filesBelow(entry, found);
  return openFiles(found.keys(), (f) => found.get(f)!);
}

for (const id of ['open', 'open-big']) byId(id).addEventListener('click', choose);
// The page begins again: the memory of a WebAssembly module never shrinks.
byId('close').addEventListener('click', () => location.assign(location.pathname));
on(['character'], () => (byId('close').hidden = !session.opened));
window.addEventListener('dragover', (event) => {
  event.preventDefault();
  document.body.classList.add('dragging');
});
window.addEventListener('dragleave', (event) => {
  if (!event.relatedTarget) document.body.classList.remove('dragging');
});
window.addEventListener('drop', (event) => {
  event.preventDefault();
  document.body.classList.remove('dragging');
  if (event.dataTransfer) void openDropped(event.dataTransfer).catch(showError);
});

on(['character'], () => {
  const {name, skeleton} = session.file!;
  byId('empty').hidden = true;
  byId<HTMLOutputElement>('file-name').value = name + (skeleton ? ` + ${skeleton.name}` : '');
});

// Runs the core beside the program: in a worker of a browser, or in a thread of node. Each message gets one answer;
// progress and first results come in between.
//
// Every file is named by a URL of its own, so that a bundler copies it and does not look into it. A worker has no
// other chunks: bundlers would need options for them.
import {hasThreads} from './built.js';
import {Core, SinewError, type CoreModule, type Early, type OpenFile} from './core.js';
import {needsDraco} from './draco.js';
import {fbxWorker, needsFbx, type FbxModule} from './fbx.js';

export interface Request {
  id: number;
  call: keyof Core;
  args: unknown[];
}
export interface Setup {
  /** Shared memory, if there is any: 1 requests the running bind to stop. */
  flag: Int32Array | null;
  lenient: boolean;
  threads: boolean;
}
export type Answer =
  | {id: number; value: unknown}
  | {id: number; error: {status: SinewError['status']; message: string}}
  | {id: number; progress: {stage: string; fraction: number}}
  | {id: number; early: Early};

type Create<Module = CoreModule> = (options: object) => Promise<Module>;
/** What a browser and node have in common. */
interface Port {
  post(value: unknown, transfer: Transferable[]): void;
}

const FILES = {
  core: new URL('../wasm/core.js', import.meta.url),
  wasm: new URL('../wasm/core.wasm', import.meta.url),
  threads: new URL('../wasm/threads/core.js', import.meta.url),
  threadsWasm: new URL('../wasm/threads/core.wasm', import.meta.url),
  threadsWorker: new URL('../wasm/threads/core.worker.js', import.meta.url),
  draco: new URL('../wasm/draco.js', import.meta.url),
  dracoWasm: new URL('../wasm/draco.wasm', import.meta.url),
  fbx: new URL('../wasm/fbx.js', import.meta.url),
  fbxWasm: new URL('../wasm/fbx.wasm', import.meta.url),
  inflate: new URL('../wasm/inflate.js', import.meta.url),
  meshopt: new URL('../wasm/meshopt.js', import.meta.url),
};

const inNode = typeof self === 'undefined';
/** A module of node; its name is computed, so that bundlers for browsers do not look for it. */
const ofNode = (name: string) => import(/* @vite-ignore */ /* webpackIgnore: true */ `node:${name}`);
const script = async (url: URL) => (await import(/* @vite-ignore */ /* webpackIgnore: true */ url.href)).default;

/** What is loaded from an address; an error names it. */
async function from<T>(url: URL, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SinewError) throw error;
    throw new SinewError('io', `${what} could not be loaded from ${url.href} (${error instanceof Error ? error.message : error})`);
  }
}

const bytesOf = (url: URL, what: string): Promise<ArrayBuffer> => from(url, what, async () => {
  if (inNode) {
    const bytes: Uint8Array = await (await ofNode('fs/promises')).readFile(url);
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  }
  const answer = await fetch(url);
  if (answer.ok) return answer.arrayBuffer();
  throw new Error(String(answer.status));
});

/** Uses threads if memory may be shared and the machine has several cores. Both modules give the same bits. */
async function start(threads: boolean): Promise<CoreModule> {
  if (inNode) {
    // Emscripten's files expect what CommonJS has. This thread runs nothing else.
    const {createRequire} = await ofNode('module');
    Object.assign(globalThis, {require: createRequire(import.meta.url), __dirname: ''});
  }
  const meshopt = (await from(FILES.meshopt, 'the decoder', () => import(/* @vite-ignore */ /* webpackIgnore: true */ FILES.meshopt.href))).MeshoptDecoder;
  await meshopt.ready;
  if (threads && hasThreads && !inNode && self.crossOriginIsolated && navigator.hardwareConcurrency > 1) {
    try {
      const create: Create = await script(FILES.threads);
      return await create({
        locateFile: (file: string) => (file.endsWith('.wasm') ? FILES.threadsWasm : FILES.threadsWorker).href,
        mainScriptUrlOrBlob: FILES.threads.href,
        meshopt,
      });
    } catch (error) {
      console.warn('sinew: no threads here', error);  // the other module gives the same results, more slowly
    }
  }
  const create: Create = await from(FILES.core, 'the core', () => script(FILES.core));
  return from(FILES.wasm, 'the core', async () =>
    create(inNode ? {wasmBinary: await bytesOf(FILES.wasm, 'the core'), meshopt} : {locateFile: () => FILES.wasm.href, meshopt}));
}

async function fbx(what: string, beside?: OpenFile['beside']) {
  const create: Create<FbxModule> = await from(FILES.fbx, what, () => script(FILES.fbx));
  const {unzlibSync} = await from(FILES.inflate, what, () => import(/* @vite-ignore */ /* webpackIgnore: true */ FILES.inflate.href));
  return fbxWorker(await create({wasmBinary: await bytesOf(FILES.fbxWasm, what), inflate: unzlibSync}), beside);
}

/** What a call needs beside the core. The decoder is kept; the module of FBX is not, because its memory never shrinks. */
async function prepare(m: CoreModule, {call, args}: Request) {
  m.fbx = undefined;
  if (call === 'save' && args[0] === 'fbx') m.fbx = await fbx('the writer of FBX');
  if (call !== 'open' && call !== 'load') return;
  const file = args[0] as OpenFile;
  if (needsFbx(file)) m.fbx = await fbx(`${file.name}: the reader of FBX`, file.beside);
  if (m.draco || !needsDraco(file)) return;
  const wasmBinary = await bytesOf(FILES.dracoWasm, `${file.name}: the decoder for Draco`);
  m.draco = await (await script(FILES.draco))({wasmBinary});
}

/** The buffers of an answer, which are transferred and not copied. */
function buffersOf(value: unknown, out: Transferable[] = []): Transferable[] {
  if (ArrayBuffer.isView(value)) out.push(value.buffer as ArrayBuffer);
  else if (value && typeof value === 'object') for (const part of Object.values(value)) buffersOf(part, out);
  return out;
}

/** The other side: the page, or the thread that started this one. In a browser it is listened to at once. */
async function connect(): Promise<Port> {
  if (!inNode) {
    self.onmessage = ({data}) => receive(data);
    return {post: (value, transfer) => self.postMessage(value, {transfer})};
  }
  const {parentPort} = await ofNode('worker_threads');
  parentPort.on('message', receive);
  return {post: (value, transfer) => parentPort.postMessage(value, transfer)};
}

let ready: Promise<{module: CoreModule; core: Core}> | null = null;
let flag: Int32Array | null = null;
let last = Promise.resolve();  // calls are answered one after the other

async function begin(setup: Setup) {
  flag = setup.flag;
  const module = await start(setup.threads);
  return {module, core: new Core(module, () => flag !== null && Atomics.load(flag, 0) === 1, setup.lenient)};
}

async function answer(request: Request) {
  const {id, call, args} = request;
  // Progress is posted from inside the core, where no promise is resolved until it returns.
  const {post: send} = await port;
  const post = (value: object, transfer: Transferable[] = []) => send({id, ...value}, transfer);
  try {
    const {module, core} = await ready!;
    await prepare(module, request);
    const progress = (stage: string, fraction: number) => post({progress: {stage, fraction}});
    const early = (result: Early) => post({early: result}, buffersOf(result));
    const all = call === 'bind' ? [args[0], progress, args[1], early] : args;
    const value = (core[call] as (...a: unknown[]) => unknown).apply(core, all);
    post({value}, buffersOf(value));
  } catch (error) {
    const known = error instanceof SinewError;
    post({error: {
      status: known ? error.status : 'internal',
      message: known ? error.text : `the core stopped: ${error instanceof Error ? error.message : error}`,
    }});
  }
}

function receive(data: Request | {setup: Setup}) {
  if ('setup' in data) ready = begin(data.setup);
  else last = last.then(() => answer(data));
}

const port = connect();

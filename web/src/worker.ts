// Runs the core outside of the page's thread. Each message gets one answer; progress and first results come in between.
import dracoWasm from 'three/examples/jsm/libs/draco/gltf/draco_decoder.wasm?url';
import {MeshoptDecoder as meshopt} from 'three/examples/jsm/libs/meshopt_decoder.module.js';
// vite.config.ts sets where the modules were built.
import createCore from 'sinew-one/core.mjs';
import wasm from 'sinew-one/core.wasm?url';
import threads from 'sinew-threads/core.mjs?url';
import threadsWasm from 'sinew-threads/core.wasm?url';
import threadsWorker from 'sinew-threads/core.worker.js?url';
import {Core, CoreError, type CoreModule, type Early, type OpenFile} from './core';
import {needsDraco} from './draco';

export interface Request {
  id: number;
  call: keyof Core;
  args: unknown[];
}
export type Answer =
  | {id: number; value: unknown}
  | {id: number; error: {status: string; message: string}}
  | {id: number; progress: {stage: string; fraction: number}}
  | {id: number; early: Early};

// Shared with the page if it is cross-origin isolated: 1 requests the running task to stop.
let flag: Int32Array | null = null;
const stopped = () => flag !== null && Atomics.load(flag, 0) === 1;
const module = start();
const core = module.then((m) => new Core(m, stopped));

/** Uses threads if the page may share memory and the machine has several cores. Both modules give the same bits. */
async function start(): Promise<CoreModule> {
  await meshopt.ready;
  if (threads && self.crossOriginIsolated && navigator.hardwareConcurrency > 1) {
    try {
      const at = new URL(threads, self.location.href).href;
      const {default: create} = await import(/* @vite-ignore */ at);
      return await create({
        locateFile: (file: string) => (file.endsWith('.wasm') ? threadsWasm : threadsWorker),
        mainScriptUrlOrBlob: at,
        meshopt,
      });
    } catch (error) {
      console.warn('sinew: no threads here', error);  // the other module gives the same results, more slowly
    }
  }
  return createCore({locateFile: () => wasm, meshopt});
}

/** Each decoder is loaded once, for the first file that needs it. */
async function prepare(file: OpenFile) {
  const m = await module;
  if (m.draco || !needsDraco(file)) return;
  const [{default: create}, answer] = await Promise.all([
    import('three/examples/jsm/libs/draco/gltf/draco_wasm_wrapper.js'), fetch(dracoWasm)]);
  if (!answer.ok) throw new CoreError('io', `${file.name}: the decoder for Draco could not be read (${answer.status})`);
  m.draco = await create({wasmBinary: await answer.arrayBuffer()});
}

/** The buffers of an answer, which are transferred and not copied. */
function buffersOf(value: unknown, out: Transferable[] = []): Transferable[] {
  if (ArrayBuffer.isView(value)) out.push(value.buffer as ArrayBuffer);
  else if (value && typeof value === 'object') for (const part of Object.values(value)) buffersOf(part, out);
  return out;
}

self.onmessage = async ({data}: MessageEvent<Request | {flag: Int32Array}>) => {
  if ('flag' in data) {
    flag = data.flag;
    return;
  }
  const {id, call, args} = data;
  try {
    const target = await core;
    if (call === 'open') await prepare(args[0] as OpenFile);
    const progress = (stage: string, fraction: number) => postMessage({id, progress: {stage, fraction}});
    const early = (result: Early) => postMessage({id, early: result}, {transfer: buffersOf(result)});
    const all = call === 'bind' ? [args[0], progress, args[1], early] : args;
    const value = (target[call] as (...a: unknown[]) => unknown).apply(target, all);
    postMessage({id, value}, {transfer: buffersOf(value)});
  } catch (error) {
    const status = error instanceof CoreError ? error.status : 'internal';
    const message =
      error instanceof CoreError ? error.message : `the core stopped: ${error instanceof Error ? error.message : error}`;
    postMessage({id, error: {status, message}});
  }
};

// The core, away from the page's thread. One message in, one answer out; progress in between.
import createCore from '../../build/web/web/core/core.mjs';
import wasm from '../../build/web/web/core/core.wasm?url';
import {Core, CoreError, type CoreModule} from './core';

export interface Request {
  id: number;
  call: keyof Core;
  args: unknown[];
}
export type Answer =
  | {id: number; value: unknown}
  | {id: number; error: {status: string; message: string}}
  | {id: number; progress: {stage: string; fraction: number}};

// Shared with the page where it is cross-origin isolated: 1 asks what runs to stop.
let flag: Int32Array | null = null;
const stopped = () => flag !== null && Atomics.load(flag, 0) === 1;
const core = createCore({locateFile: () => wasm}).then((module: CoreModule) => new Core(module, stopped));

/** The buffers of an answer, which are handed over and not copied. */
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
    const progress = (stage: string, fraction: number) => postMessage({id, progress: {stage, fraction}});
    const all = call === 'bind' ? [...args, progress] : args;
    const value = (target[call] as (...a: unknown[]) => unknown).apply(target, all);
    postMessage({id, value}, {transfer: buffersOf(value)});
  } catch (error) {
    const status = error instanceof CoreError ? error.status : 'internal';
    const message =
      error instanceof CoreError ? error.message : `the core stopped: ${error instanceof Error ? error.message : error}`;
    postMessage({id, error: {status, message}});
  }
};

// The core as promises. A binding is stopped by a flag in memory shared by page and worker. Without shared memory (a
// page that is not cross-origin isolated), or if the core does not react, the worker is terminated.
import {CoreError, type Animation, type Core, type Early, type OpenFile, type Settings, type Shown} from './core';
import type {Answer, Request} from './worker';

type Opened = ReturnType<Core['open']>;

export class Client {
  private worker!: Worker;
  private next = 1;
  private waiting = new Map<number, {resolve: (v: unknown) => void; reject: (e: Error) => void}>();
  private onProgress: (stage: string, fraction: number) => void = () => {};
  private onEarly: (result: Early) => void = () => {};
  private opened: OpenFile | null = null;
  private readonly flag = globalThis.crossOriginIsolated ? new Int32Array(new SharedArrayBuffer(4)) : null;

  constructor() {
    this.start();
  }

  options = () => this.call<ReturnType<Core['options']>>('options');
  size = () => this.call<ReturnType<Core['size']>>('size');
  version = () => this.call<string>('version');
  describe = (settings: Settings) => this.call<ReturnType<Core['describe']>>('describe', settings);
  weigh = (settings: Settings, edits: string) => this.call<ReturnType<Core['weigh']>>('weigh', settings, edits);
  useOwn = () => this.call<void>('useOwn');
  matricesOf = (pose: Parameters<Core['matricesOf']>[0]) => this.call<Float64Array>('matricesOf', pose);
  deform = (matrices: Float64Array, dual: boolean, normals: boolean, own = false) =>
    this.call<ReturnType<Core['deform']>>('deform', matrices, dual, normals, own);
  compare = () => this.call<ReturnType<Core['compare']>>('compare');
  distances = (settings: Settings, joint: number) => this.call<Float32Array>('distances', settings, joint);
  defects = () => this.call<ReturnType<Core['defects']>>('defects');
  volume = (settings: Settings, most: number) => this.call<Float32Array | null>('volume', settings, most);
  saveGlb = (settings: Settings, animation: Animation | null = null) =>
    this.call<ReturnType<Core['saveGlb']>>('saveGlb', settings, animation);
  saveWeights = () => this.call<Uint8Array>('saveWeights');
  command = (settings: Settings) => this.call<string>('command', settings);

  async open(file: OpenFile): Promise<Opened> {
    const opened = await this.call<Opened>('open', file);
    this.opened = file;
    return opened;
  }

  /** `early` gets a first, coarser result, which replaces the previous binding. */
  bind(settings: Settings, progress: (stage: string, fraction: number) => void, shown: Shown | null = null,
       early: (result: Early) => void = () => {}) {
    this.onProgress = progress;
    this.onEarly = early;
    if (this.flag) Atomics.store(this.flag, 0, 0);
    return this.call<ReturnType<Core['bind']>>('bind', settings, shown);
  }

  /** Requests the bind to stop. Its first result stays if there is one, otherwise the previous binding. False: the worker cannot receive
   * the request, or already has one. */
  requestStop(): boolean {
    return !!this.flag && Atomics.exchange(this.flag, 0, 1) === 0;
  }

  /** Stops the running task and opens the character again. The binding is lost. */
  async cancel(): Promise<void> {
    this.worker.terminate();
    this.onEarly = () => {};  // a result may still arrive
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    this.start();
    const opened = this.opened ? this.call<Opened>('open', this.opened) : null;
    for (const {reject} of waiting) reject(new CoreError('cancelled', 'stopped'));
    await opened;
  }

  private start() {
    this.worker = new Worker(new URL('./worker.ts', import.meta.url), {type: 'module'});
    if (this.flag) this.worker.postMessage({flag: this.flag});
    this.worker.onmessage = ({data}: MessageEvent<Answer>) => {
      if ('progress' in data) return this.onProgress(data.progress.stage, data.progress.fraction);
      if ('early' in data) return this.onEarly(data.early);
      const waiting = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if (!waiting) return;
      if ('error' in data) waiting.reject(new CoreError(data.error.status, data.error.message));
      else waiting.resolve(data.value);
    };
    this.worker.onerror = (event) => {
      const error = new CoreError('internal', `the core could not start: ${event.message || 'its file did not load'}`);
      for (const {reject} of this.waiting.values()) reject(error);
      this.waiting.clear();
    };
  }

  private call<T>(name: keyof Core, ...args: unknown[]): Promise<T> {
    const id = this.next++;
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, {resolve: resolve as (v: unknown) => void, reject});
      this.worker.postMessage({id, call: name, args} satisfies Request);
    });
  }
}

// The core as promises: one open character, in a worker of its own. A bind is stopped by a flag in memory that both
// share. Without shared memory (a page that is not cross-origin isolated), or if the core does not react, the worker is
// terminated.
import {SinewError, type Animation, type Arrays, type Core, type Early, type Format, type ModelInfo, type OpenFile, type Option, type Rig, type Settings, type Shown, type Template} from './core.js';
import type {Answer, Request, Setup} from './worker.js';

type Result<Name extends keyof Core> = Core[Name] extends (...args: never[]) => infer T ? T : never;

/** A worker of a browser or of node. */
interface Side {
  post(data: object): void;
  /** Ends when a page or program ends, unless it is busy. */
  busy(yes: boolean): void;
  terminate(): void;
}

async function startSide(receive: (data: Answer) => void, fail: (message: string) => void): Promise<Side> {
  if (typeof Worker !== 'undefined') {
    const worker = new Worker(new URL('./worker.js', import.meta.url), {type: 'module'});
    worker.onmessage = ({data}: MessageEvent<Answer>) => receive(data);
    worker.onerror = (event) => fail(event.message || 'its file did not load');
    return {post: (data) => worker.postMessage(data), busy: () => {}, terminate: () => worker.terminate()};
  }
  const [name, file] = ['node:worker_threads', './worker.js'];  // bundlers for browsers must not look for them
  const threads = await import(/* @vite-ignore */ /* webpackIgnore: true */ name);
  const worker = new threads.Worker(new URL(file, import.meta.url));
  worker.unref();
  worker.on('message', receive);
  worker.on('error', (error: Error) => fail(error.message));
  return {
    post: (data) => worker.postMessage(data),
    busy: (yes) => (yes ? worker.ref() : worker.unref()),
    terminate: () => void worker.terminate(),
  };
}

export interface CharacterOptions {
  /** Settings that the chosen method or law does not read are left out, and are no error. */
  lenient?: boolean;
  /** False: one thread, also where memory may be shared. */
  threads?: boolean;
}

const LARGE = 128 * 2 ** 20;  // bytes of the core's memory; it begins with half of it

/** Memory that can be shared with a worker. */
const shared = () =>
  typeof SharedArrayBuffer !== 'undefined' && (typeof Worker === 'undefined' || globalThis.crossOriginIsolated);

export class Character {
  private side!: Promise<Side>;
  private next = 1;
  private waiting = new Map<number, {resolve: (v: unknown) => void; reject: (e: Error) => void}>();
  private onProgress: (stage: string, fraction: number) => void = () => {};
  private onEarly: (result: Early) => void = () => {};
  private again: (() => Promise<unknown>) | null = null;  // opens the character
  private readonly flag = shared() ? new Int32Array(new SharedArrayBuffer(4)) : null;

  constructor(private readonly setup: CharacterOptions = {}) {
    this.start();
  }

  options = () => this.call<Option[]>('options');
  size = () => this.call<Result<'size'>>('size');
  version = () => this.call<string>('version');
  templates = () => this.call<Template[]>('templates');
  rig = (template: string, resolution?: number) => this.call<Rig>('rig', template, resolution);
  describe = (settings: Settings) => this.call<ModelInfo>('describe', settings);
  weigh = (settings: Settings, edits: string, most?: number, matrices?: Float64Array) =>
    this.call<Result<'weigh'>>('weigh', settings, edits, most, matrices);
  stroke = (settings: Settings, edits: string, edit: string, again: boolean) => this.call<Result<'stroke'>>('stroke', settings, edits, edit, again);
  rebase = (settings: Settings, edits: string, strokes: number, matrices?: Float64Array) =>
    this.call<Result<'rebase'>>('rebase', settings, edits, strokes, matrices);
  unstroke = () => this.call<Result<'unstroke'>>('unstroke');
  difference = () => this.call<Float32Array | null>('difference');
  saveBinding = () => this.call<Uint8Array>('saveBinding');
  openBinding = (bytes: Uint8Array, settings: Settings) => this.call<Result<'openBinding'>>('openBinding', bytes, settings);
  useOwn = () => this.call<void>('useOwn');
  matricesOf = (pose: Parameters<Core['matricesOf']>[0]) => this.call<Float64Array>('matricesOf', pose);
  deform = (matrices: Float64Array, dual: boolean, normals: boolean, own = false) =>
    this.call<Result<'deform'>>('deform', matrices, dual, normals, own);
  clean = (strength: number, settings: Settings, most?: number) => this.call<Result<'clean'>>('clean', strength, settings, most);
  questions = (top = 10) => this.call<Result<'questions'>>('questions', top);
  compare = () => this.call<Result<'compare'>>('compare');
  distances = (settings: Settings, joint: number) => this.call<Float32Array>('distances', settings, joint);
  defects = () => this.call<Result<'defects'>>('defects');
  volume = (settings: Settings, most: number) => this.call<Float32Array | null>('volume', settings, most);
  save = (format: Format, settings: Settings, animation: Animation | null = null) =>
    this.call<Result<'save'>>('save', format, settings, animation);
  saveWeights = () => this.call<Uint8Array>('saveWeights');
  command = (settings: Settings) => this.call<string>('command', settings);

  /** With everything that a page shows. A mesh without a skeleton opens with a placeholder. */
  open = (file: OpenFile) => this.opening(() => this.call<Result<'open'>>('open', file));
  load = (file: OpenFile) => this.opening(() => this.call<ModelInfo>('load', file));
  loadArrays = (arrays: Arrays) => this.opening(() => this.call<ModelInfo>('loadArrays', arrays));

  private async opening<T>(open: () => Promise<T>): Promise<T> {
    const opened = await this.inSmallCore(open);
    this.again = open;
    return opened;
  }

  /** The memory of a WebAssembly module never shrinks. After a large character the next one is opened by another worker, and the first
   * one ends with its memory. If the file cannot be opened, the first one stays with its character. */
  private async inSmallCore<T>(open: () => Promise<T>): Promise<T> {
    if (!this.again || this.waiting.size || (await this.size()).bytes <= LARGE) return open();
    const before = this.side;
    this.start();
    const fresh = this.side;
    try {
      const opened = await open();
      void before.then((side) => side.terminate());
      return opened;
    } catch (error) {
      // While it was opened, `cancel` may have replaced both.
      const ended = this.side === fresh ? fresh : before;
      if (this.side === fresh) this.side = before;
      void ended.then((side) => side.terminate(), () => {});
      throw error;
    }
  }

  /** `early` gets a first, coarser result, which replaces the previous binding; null in `shown`: there is none. */
  bind(settings: Settings, progress: (stage: string, fraction: number) => void, shown: Shown | null = null,
       early: (result: Early) => void = () => {}) {
    this.onProgress = progress;
    this.onEarly = early;
    if (this.flag) Atomics.store(this.flag, 0, 0);
    return this.call<Result<'bind'>>('bind', settings, shown);
  }

  /** Requests the bind to stop. Its first result stays if there is one, otherwise the previous binding. False: the worker cannot
   * receive the request, or already has one. */
  requestStop(): boolean {
    return !!this.flag && Atomics.exchange(this.flag, 0, 1) === 0;
  }

  /** Stops the running task and opens the character again. The binding is lost. */
  async cancel(): Promise<void> {
    this.stop(new SinewError('cancelled', 'stopped'));
    this.start();
    await this.again?.();
  }

  /** Ends the worker, and with it all memory of the character. */
  free(): void {
    this.again = null;
    this.freed = true;
    this.stop(new SinewError('cancelled', 'the character was freed'));
  }

  private stop(why: SinewError) {
    void this.side.then((side) => side.terminate(), () => {});
    this.onEarly = () => {};  // a result may still arrive
    this.fail(why);
  }

  private fail(error: SinewError) {
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const {reject} of waiting) reject(error);
  }

  private start() {
    const side: Promise<Side> = startSide((data) => this.receive(side, data), (message) => {
      if (this.side === side) this.fail(new SinewError('internal', `the core could not start: ${message}`));
    });
    this.side = side;
    const {lenient = false, threads = true} = this.setup;
    side.then((s) => s.post({setup: {flag: this.flag, lenient, threads} satisfies Setup}),
              (error) => this.fail(new SinewError('internal', `the core could not start: ${error}`)));
  }

  private receive(from: Promise<Side>, data: Answer) {
    if (from !== this.side) return;  // of a worker that was terminated
    if ('progress' in data) return this.onProgress(data.progress.stage, data.progress.fraction);
    if ('early' in data) return this.onEarly(data.early);
    const waiting = this.waiting.get(data.id);
    this.waiting.delete(data.id);
    if (!this.waiting.size) void from.then((side) => side.busy(false));
    if (!waiting) return;
    if ('error' in data) waiting.reject(new SinewError(data.error.status, data.error.message));
    else waiting.resolve(data.value);
  }

  private freed = false;
  private call<T>(name: keyof Core, ...args: unknown[]): Promise<T> {
    if (this.freed) return Promise.reject(new SinewError('usage', 'the character was freed: bind it again'));
    const id = this.next++;
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, {resolve: resolve as (v: unknown) => void, reject});
      void this.side.then((side) => {
        side.busy(true);
        side.post({id, call: name, args} satisfies Request);
      }, () => {});
    });
  }
}

// sinew for JavaScript: skin weights of a mesh for a skeleton, in browsers, workers and node. docs/javascript.md.
import {Character} from './character.js';
import {
  SinewError, inWords, type Arrays, type Cleaning, type Format, type Joint, type JointArrays, type MeshArrays, type ModelInfo,
  type OpenFile, type Option, type Question, type Rig, type Rows, type Settings, type Template,
} from './core.js';

export {Character, type CharacterOptions} from './character.js';
export * from './core.js';

export type Method = 'surface-heat' | 'geodesic-voxel' | 'closest-distance' | 'closest-hierarchy' | 'pixel-geodesic' | 'connectivity' |
  'mesh-geodesic' | 'voxel-heat' | 'bone-heat' | 'bounded-biharmonic';
export type FalloffLaw = 'inverse-power' | 'inverse-quadratic' | 'exponential' | 'cubic-hermite' | 'linear' | 'power';
type Flag = boolean | 'on' | 'off';

/** The options of `sinew bind` for the weights alone, which need no other bind: in camel case; options() has their help. */
export interface WeightOptions {
  /** Hardness of the joints, 0 to 1. */
  falloff?: number;
  falloffLaw?: FalloffLaw;
  lambdaMin?: number;
  lambdaMax?: number;
  smoothness?: number;
  threshold?: number;
  power?: number;
  /** 1 to 8, or 'all'. */
  maxInfluences?: number | 'all';
  limitRule?: 'fade' | 'cut';
  /** An edit list (docs/edits.md), as an object or as its text. */
  edits?: object | string;
  /** The pose in which falloffs by angle have their values, ten numbers a joint as in snw_pose_matrices; without it, the bind
   * pose. A GLB has the weights of one pose. */
  pose?: Float64Array;
}

/** How a file is written. */
export interface OutputOptions {
  /** How a GLB stores weights. */
  weightFormat?: 'f32' | 'u16' | 'u8';
  repairMatrices?: Flag;
  /** Of a new FBX. */
  fbxUnit?: 'cm' | 'm';
}

/** The options of `sinew bind` in camel case, and how a bind reports. */
export interface BindOptions extends Omit<WeightOptions, 'edits' | 'pose'>, OutputOptions {
  method?: Method;
  asPublished?: Flag;
  /** 32, 64, … 1024, or 'auto'. */
  resolution?: number | 'auto';
  localResolution?: Flag;
  penalty?: number;
  overshoot?: number;
  domain?: 'sparse' | 'uniform' | 'sparse-boundary';
  neighbours?: 4 | 8 | '4' | '8';
  onePixel?: Flag;
  windingNumbers?: Flag;
  viewPairs?: 'both' | 'either';
  voxelizer?: 'cpu' | 'hardware';
  hardRange?: [number, number];
  rings?: 'joint' | 'bone' | 'axes';
  ringStart?: 'late' | 'zero';
  allPairs?: Flag;
  cooling?: number;
  iterations?: number;
  heat?: 'cpu' | 'hardware';
  heatTransfer?: number;
  learned?: number;
  fitCheck?: Flag;
  /** Joints that get no weight, or get it in any case: names with * and ?. */
  exclude?: string | string[];
  include?: string | string[];
  /** A name of exclude or include that matches no joint is an error. */
  strict?: Flag;
  /** Which joints deform. */
  deformFrom?: 'auto' | 'skin' | 'names' | 'all';
  /** The stage, and the fraction of the whole bind that is done, 0 to 1: it never falls. */
  onProgress?: (stage: string, fraction: number) => void;
  signal?: AbortSignal;
  /** False: one thread. */
  threads?: boolean;
}

/** A file of a character. The name decides the format where the content does not: 'hero.obj'. OpenFile explains what it
 * takes from there. */
export interface ModelFile extends Pick<OpenFile, 'skeletonScale' | 'prop' | 'bindParts' | 'together' | 'withClips' | 'onlyMissing'> {
  name?: string;
  bytes: Uint8Array | ArrayBuffer;
  /** For a mesh without a skeleton: skeleton JSON, TGF or a GLB. */
  skeleton?: {name?: string; bytes: Uint8Array | ArrayBuffer};
  /** Files that a .gltf or .obj refers to, by path from its folder. */
  beside?: {path: string; bytes: Uint8Array | ArrayBuffer}[];
}

/** The weights of V vertices: `width` entries each, the strongest first; unused ones have the weight 0. */
export interface Weights {
  vertexCount: number;
  width: number;
  /** V × width: places in Binding.joints. */
  joints: Uint16Array;
  /** V × width; they sum to 1. */
  weights: Float32Array;
}

const weightsOf = ({width, joints, shares}: Rows): Weights => ({vertexCount: shares.length / width, width, joints, weights: shares});

const OWN = new Set(['onProgress', 'signal', 'threads', 'edits', 'pose']);

/** Options as the command line names them; a method's preset comes first. */
function settingsOf(options: object): Settings {
  const out: Settings = [];
  for (const [key, value] of Object.entries(options)) {
    if (OWN.has(key) || value === undefined) continue;
    const name = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    if (name === 'exclude' || name === 'include') for (const glob of [value].flat()) out.push([name, String(glob)]);
    else if (Array.isArray(value)) out.push([name, value.join(' ')]);
    else out.push([name, value === true ? 'on' : value === false ? 'off' : String(value)]);
  }
  const rank = ([name]: Settings[number]) => (name === 'method' ? 0 : name === 'as-published' ? 1 : 2);
  return out.sort((a, b) => rank(a) - rank(b));
}

/** A bind that is done. It keeps the distances, so other weights take milliseconds, until it is freed. */
export class Binding {
  /** Made by bind and bindArrays. `character` gives poses, distances and more. @internal */
  constructor(
    readonly character: Character,
    private readonly settings: Settings,
    private readonly bindOptions: ReadonlySet<string>,
    /** The joints, and which of them deform. */
    readonly joints: Joint[],
    /** The report of docs/report.md. */
    readonly report: Record<string, any>,
    /** Per vertex how it was bound: 0 weighted, 1 bridged, 2 outside, 3 by straight distance, 4 unused, 5 none. */
    readonly coverage: Uint8Array,
  ) {}

  get warnings(): string[] {
    return this.report.warnings.map((warning: string) => inWords(warning));
  }

  private changed(options: WeightOptions): Settings {
    const more = settingsOf(options);
    const fixed = more.find(([name]) => this.bindOptions.has(name));
    if (fixed) throw new SinewError('usage', `${fixed[0]} needs another bind: give it to bind`);
    const names = new Set(more.map(([name]) => name));
    return [...this.settings.filter(([name]) => !names.has(name)), ...more];
  }

  private async weigh(options: WeightOptions) {
    const settings = this.changed(options);
    const edits = typeof options.edits === 'object' ? JSON.stringify(options.edits) : options.edits ?? '';
    const matrices = options.pose && (await this.character.matricesOf({joints: options.pose}));
    return {settings, ...(await this.character.weigh(settings, edits, 0xffff, matrices))};
  }

  /** The weights, under these options instead of those of the bind. */
  async weights(options: WeightOptions = {}): Promise<Weights> {
    return weightsOf((await this.weigh(options)).rows);
  }

  /** The character as GLB: the bytes that `sinew bind` writes with these options. */
  async glb(options: WeightOptions & OutputOptions = {}): Promise<Uint8Array> {
    return this.save('glb', options);
  }

  /** The character as FBX: an FBX with only its weights changed, or a new one: the bytes that `sinew bind` writes. */
  async fbx(options: WeightOptions & OutputOptions = {}): Promise<Uint8Array> {
    return this.save('fbx', options);
  }

  private last: Promise<unknown> = Promise.resolve();
  /** Computes weights and does something with them before others are computed. */
  private weighed<T>(options: WeightOptions, use: (settings: Settings) => Promise<T>): Promise<T> {
    const done = this.last.then(async () => use((await this.weigh(options)).settings));
    this.last = done.catch(() => {});
    return done;
  }

  private save(format: Format, options: WeightOptions & OutputOptions) {
    return this.weighed(options, async (settings) => (await this.character.save(format, settings)).bytes);
  }

  /** Weights JSON (docs/formats.md). */
  async weightsJson(options: WeightOptions = {}): Promise<string> {
    return this.weighed(options, async () => new TextDecoder().decode(await this.character.saveWeights()));
  }

  /** The places where an answer about these weights is likely worth most. An edit answers each (docs/edits.md). */
  async questions(top = 10, options: WeightOptions = {}): Promise<Question[]> {
    return this.weighed(options, () => this.character.questions(top));
  }

  /** Ends the worker of this binding and gives its memory back. */
  free(): void {
    this.character.free();
  }
}

async function bindIn(character: Character, load: () => Promise<ModelInfo>, options: BindOptions): Promise<Binding> {
  const {signal, onProgress = () => {}} = options;
  const cancelled = () => new SinewError('cancelled', 'cancelled');
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => {
      // The core gives up soon after; its worker does not survive in any case.
      character.requestStop();
      character.free();
      reject(cancelled());
    };
  });
  aborted.catch(() => {});
  if (signal?.aborted) throw (character.free(), cancelled());
  signal?.addEventListener('abort', stop);
  try {
    const work = async () => {
      if ('edits' in options || 'pose' in options)
        throw new SinewError('usage', 'edits and pose change weights: give them to weights, glb or fbx');
      const settings = settingsOf(options);
      const rows: Option[] = await character.options();
      await load();
      const {report, coverage} = await character.bind(settings, onProgress);
      const {joints} = await character.describe(settings);
      const fixed = rows.filter((row) => row.group !== 'Weights' && row.group !== 'Output').map((row) => row.name);
      return new Binding(character, settings, new Set([...fixed, 'exclude', 'include', 'strict']), joints, report, coverage);
    };
    return await Promise.race([work(), aborted]);
  } catch (error) {
    character.free();
    throw error;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

const bytesOf = (bytes: Uint8Array | ArrayBuffer) => (bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes));
const isBytes = (model: unknown): model is Uint8Array | ArrayBuffer => model instanceof Uint8Array || model instanceof ArrayBuffer;

/** The file as Core.open takes it. */
async function fileOf(model: Uint8Array | ArrayBuffer | Blob | ModelFile, what: string): Promise<OpenFile> {
  const given: ModelFile = isBytes(model) ? {bytes: model}
    : typeof Blob !== 'undefined' && model instanceof Blob ? {name: (model as File).name, bytes: await model.arrayBuffer()}
    : model as ModelFile;
  if (!isBytes(given?.bytes)) throw new SinewError('usage', `${what} takes the bytes of a file, a Blob, or {name, bytes}`);
  const {skeleton, skeletonScale, prop, bindParts, together, withClips, onlyMissing} = given;
  return {
    skeletonScale, prop, bindParts, together, withClips, onlyMissing,
    name: given.name ?? 'model.glb',
    bytes: bytesOf(given.bytes),
    beside: given.beside?.map(({path, bytes}) => ({path, bytes: bytesOf(bytes)})),
    skeleton: skeleton && {name: skeleton.name ?? 'skeleton', bytes: bytesOf(skeleton.bytes)},
  };
}

/** Binds a character of a file: a GLB, glTF, VRM, FBX or OBJ as bytes, as a Blob or File, or with the files that belong to it. */
export async function bind(model: Uint8Array | ArrayBuffer | Blob | ModelFile, options: BindOptions = {}): Promise<Binding> {
  const file = await fileOf(model, 'bind');
  const character = new Character({threads: options.threads});
  return bindIn(character, () => character.load(file), options);
}

/** Places a template skeleton into the mesh of a file that has none (docs/rig.md); `bind` takes the result with the file:
 * {name, bytes, skeleton: {bytes: placed.skeleton}}. resolution: voxels along the longest side: 32, 64, 128 or 256. */
export async function rig(model: Uint8Array | ArrayBuffer | Blob | ModelFile, template = 'biped', resolution = 128): Promise<Rig> {
  const character = new Character({threads: false});
  try {
    const file = await fileOf(model, 'rig');
    await character.open(file);
    return await character.rig(template, resolution);
  } finally {
    character.free();
  }
}

export interface CleanOptions extends OutputOptions {
  /** How much is doubted, 0 to 4; 1 without. */
  strength?: number;
  /** Of vertices whose weights change: 1 to 8, or 'all'; 4 without. */
  maxInfluences?: number | 'all';
}

/** Cleans the weights that another program left in a file (docs/clean.md). glb: the bytes that `sinew clean` writes. */
export async function clean(model: Uint8Array | ArrayBuffer | Blob | ModelFile, {strength = 1, ...options}: CleanOptions = {}):
    Promise<{glb: Uint8Array; weights: Weights; joints: Joint[]; cleaned: Cleaning}> {
  const character = new Character({threads: false});
  try {
    const file = await fileOf(model, 'clean');
    const settings = settingsOf(options);
    const {info: {joints}} = await character.open(file);
    const {cleaned, rows} = await character.clean(strength, settings, 0xffff);
    return {glb: (await character.save('glb', settings)).bytes, weights: weightsOf(rows), joints, cleaned};
  } finally {
    character.free();
  }
}

/** The template skeletons. */
export async function templates(): Promise<Template[]> {
  const character = new Character({threads: false});
  try {
    return await character.templates();
  } finally {
    character.free();
  }
}

/** Binds arrays: several meshes with `meshes`, or one by its positions and faces. */
export async function bindArrays(arrays: Arrays | (MeshArrays & {joints: JointArrays[]; weights?: Arrays['weights']; up?: Arrays['up']}),
                                 options: BindOptions = {}): Promise<Binding> {
  const whole: Arrays = 'meshes' in arrays ? arrays : {meshes: [arrays], joints: arrays.joints, weights: arrays.weights, up: arrays.up};
  const character = new Character({threads: options.threads});
  return bindIn(character, () => character.loadArrays(whole), options);
}

/** All options of bind, with their defaults, help and the methods that read them. */
export async function options(): Promise<Option[]> {
  const character = new Character({threads: false});
  try {
    return await character.options();
  } finally {
    character.free();
  }
}

/** The version of sinew. */
export async function version(): Promise<string> {
  const character = new Character({threads: false});
  try {
    return await character.version();
  } finally {
    character.free();
  }
}

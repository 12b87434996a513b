// sinew.h in TypeScript: handles as numbers, text and arrays copied in and out. Synchronous, and independent of page and
// worker. The only file that knows the module's memory.

/** The emscripten module of web/core. */
export interface CoreModule {
  HEAPU8: Uint8Array;
  /** The decoder used by web/core/draco, once it is loaded. */
  draco?: object;
  /** What web/core/fbx.cpp does; only while a file that needs it is opened or saved. */
  fbx?: (task: number, bytes: Uint8Array, more: Uint8Array, name: string) => Uint8Array;
  /** Only in a module with threads. */
  wasmMemory?: {buffer: ArrayBufferLike};
  FS: {
    mkdirTree(path: string): void;
    writeFile(path: string, data: Uint8Array): void;
    unlink(path: string): void;
    rmdir(path: string): void;
    readdir(path: string): string[];
    isDir(mode: number): boolean;
    stat(path: string): {mode: number};
  };
  addFunction(f: (...args: number[]) => number | void, signature: string): number;
  UTF8ToString(at: number): string;
  stringToUTF8(text: string, at: number, size: number): void;
  lengthBytesUTF8(text: string): number;
  _malloc(size: number): number;
  _free(at: number): void;
  [name: `_snw_${string}`]: (...args: number[]) => number;
}

/** Options by their names on the command line, in the order in which they are set. */
export type Settings = [name: string, value: string][];

export interface Joint {
  name: string;
  parent: number;
  position: [number, number, number];
  axes: [number, number, number][];
  deforms: boolean;
  reason: string;
  tail?: [number, number, number];
}

export interface Material {
  colour: [number, number, number, number];
  image: number;
  repeats: boolean;
  offset: [number, number];
  scale: [number, number];
  rotation: number;
  cutoff: number;
  blends: boolean;
  double_sided: boolean;
}

export interface Primitive {
  name: string;
  mesh: string;
  material: number;
  material_name: string;
  first_triangle: number;
  triangle_count: number;
  first_vertex: number;
  vertex_count: number;
}

/** The content of snw_model_json. */
export interface ModelInfo {
  counts: Record<string, number>;
  defects: Record<string, number>;
  box: [[number, number, number], [number, number, number]];
  joints: Joint[];
  bones: number[][];
  primitives: Primitive[];
  materials: Material[];
  images: {mime: string; bytes: number}[];
  clips: {name: string; start: number; end: number}[];
  weights: boolean;
  warnings: string[];
  props: {name: string; joint: number; material: number}[];
  /** Version of VRM, or "". */
  vrm: string;
}

/** A mesh of the file without a skin, in bind space: the matrix of its joint (props) leads to where it is shown. */
export interface Prop {
  positions: Float32Array;
  normals: Float32Array | null;
  uvs: Float32Array | null;
  triangles: Uint32Array;
}

/** A template skeleton. */
export interface Template {
  name: string;
  summary: string;
}

/** A template skeleton, placed into a mesh (docs/rig.md). */
export interface Rig {
  /** Skeleton JSON. */
  skeleton: Uint8Array;
  template: string;
  joints: number;
  /** 0 to 1: how much the mesh is like the template. */
  confidence: number;
  /** The fraction of the volume that is its own mirror image. */
  symmetry: number;
  limbs_found: number;
  limbs_expected: number;
  /** Sentences: what was not found, what was done instead. */
  notes: string[];
}

/** One row of snw_settings_json. */
export interface Option {
  name: string;
  kind: 'number' | 'whole' | 'choice' | 'flag' | 'range';
  group: string;
  choices: string[];
  help: string;
  value: string;
  /** The methods and the falloff laws that read it; absent: all. */
  read_by_methods?: string[];
  read_by_laws?: string[];
  methods?: Record<string, {summary: string; presets: Record<string, string>}>;
  /** For a flag: other options that it sets when turned on. */
  sets?: Record<string, string>;
}

export function isReadBy(option: Option, method: string, law: string): boolean {
  return (option.read_by_methods?.includes(method) ?? true) && (option.read_by_laws?.includes(law) ?? true);
}

/** Settings that the chosen method and law do not read are kept in the page for other methods and laws. */
export function settingsThatAreRead(options: Option[], settings: Settings): Settings {
  const chosen = (name: string) => settings.find(([n]) => n === name)?.[1];
  const row = options.find((o) => o.name === 'method');
  const method = chosen('method') ?? row?.value ?? '';
  const law = chosen('falloff-law') ?? row?.methods?.[method]?.presets['falloff-law'] ??
      options.find((o) => o.name === 'falloff-law')?.value ?? '';
  return settings.filter(([name]) => {
    const option = options.find((o) => o.name === name);
    return !option || isReadBy(option, method, law);
  });
}

/** V × width, strongest first. */
export interface Rows {
  width: number;
  joints: Uint16Array;
  shares: Float32Array;
}

/** What a stroke or its undoing changed. */
export interface Painted {
  /** The vertices whose rows changed, ascending. */
  vertices: Uint32Array;
  /** Their rows. */
  rows: Rows;
  /** Vertices that kept their rows because no other joint can take the weight. */
  stuck: number;
}

/** What `sinew clean` found and did (docs/clean.md): "cleaned" of its report. */
export interface Cleaning {
  pulled: number;
  filled: number;
  welded: number;
  noise: number;
  change: number;
}

/** One of snw_questions_json (docs/edits.md). */
export interface Question {
  kind: 'part' | 'border' | 'place';
  text: string;
  vertex: number;
  point: [number, number, number];
  joints: string[];
  share: number;
  line?: [number, number, number][];
}

/** The content of snw_compare_json; a: the file, b: the new weights. */
export interface Compared {
  l1: {mean: number; median: number; p95: number; max: number};
  precision: number;
  recall: number;
  strongest_agreement: number;
  deformation: Record<'standard' | 'random', {poses: number; mean: number; mean_max: number; max: number}>;
  a: ComparedSide;
  b: ComparedSide;
}
interface ComparedSide {
  joints: number;
  mean_influences: number;
  torn: number;
  dirichlet: number;
  bleed: {share: number};
}

/** Poses at times, ten numbers a joint, to be saved with the file. */
export interface Animation {
  name: string;
  step: boolean;
  times: Float64Array;
  poses: Float64Array;
}

/** How the page shows the character during a bind: a first result comes with weights and positions for it. */
export interface Shown {
  edits: string;
  matrices: Float64Array;
  dual: boolean;
  normals: boolean;
  /** The file's own weights are shown beside. */
  beside: boolean;
}

/** Defects of the mesh with their positions (snw_defects): 1 for each triangle that intersects another, 2 if undecided;
 * rows of two vertices and 1 for a boundary edge, 3 for a non-manifold one. */
export interface Defects {
  triangles: Uint8Array;
  edges: Uint32Array;
}

/** Of a saved character. */
export type Format = 'glb' | 'fbx';

export interface NamedPose {
  name: string;
  pose: number[];
}

export interface OpenFile {
  name: string;
  bytes: Uint8Array;
  /** Files beside it, by path from its folder. */
  beside?: {path: string; bytes: Uint8Array}[];
  skeleton?: {name: string; bytes: Uint8Array};
  /** Factor on the lengths of the skeleton file. */
  skeletonScale?: number;
  /** Accepts a file whose nodes are those of a prop. */
  prop?: boolean;
  /** In a file without a skin, meshes below joints do not follow their joint whole. */
  bindParts?: boolean;
  /** Levels of detail, meshes that no scene shows and several characters are one mesh. */
  together?: boolean;
  /** Saving also writes the animations of the skeleton, a GLB. */
  withClips?: boolean;
  /** Vertices that have weights in the file keep them, and meshes without a skin that hang on no joint are bound, too. */
  onlyMissing?: boolean;
  /** Options of bind to begin with. */
  settings?: Readonly<Record<string, string>>;
  /** The file is a flat figure: a PNG, unpacked, with bones JSON as its skeleton; or bones JSON with layers, with the size of the
   * canvas. */
  picture?: Picture & {smoothness: number; layers?: (Picture & {path: string; bytes: Uint8Array})[]};
}

/** Width × height × 4, rows from the top. */
export interface Picture {
  rgba: Uint8Array;
  width: number;
  height: number;
}

export type Status = 'usage' | 'input' | 'too_large' | 'io' | 'cancelled' | 'internal';

/** An option or a command of the program in a message: `option`, `option value`, `sinew command` … (docs/conventions.md). */
export interface Named {
  command?: string;
  option?: string;
  value?: string;
}

const NAMED = /`(?:sinew ([a-z]+)(?: |(?=`)))?(?:([a-z][a-z0-9-]*)(?: ([^`]*))?)?(?<!`)`/g;
const FLAGS = ['prop', 'bind-parts', 'together', 'repair-matrices'];
const INSTEAD: Record<string, string> = {fix: 'sinew check --fix', folder: 'beside', 'only-missing': 'sinew bind --only-missing'};

function inJavaScript({command, option, value}: Named): string {
  if (!option) return `sinew ${command}`;
  if (INSTEAD[option]) return INSTEAD[option];
  const name = option.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  if (FLAGS.includes(option)) return `${name}: true`;
  if (value === undefined || /^[A-Z]+$/.test(value)) return name;
  return `${name}: ${/^[-+.0-9e]+$|^"/.test(value) ? value : `'${value}'`}`;
}

/** A message of the library in the words of JavaScript, or in others. */
export const inWords = (text: string, say: (named: Named) => string = inJavaScript): string =>
  text.replace(NAMED, (_, command?: string, option?: string, value?: string) => say({command, option, value}));

/** A failed call: the kind of error, and a sentence with the broken rule, the place, and what to do. */
export class SinewError extends Error {
  constructor(
    readonly status: Status,
    /** The message with options in backticks, by the words of `sinew bind`. */
    readonly text: string,
  ) {
    super(inWords(text));
    this.name = 'SinewError';
  }

  /** The options and commands that the message names. */
  get options(): Named[] {
    return [...this.text.matchAll(NAMED)].map(([, command, option, value]) => ({command, option, value}));
  }
}

type Numbers = ArrayLike<number>;

/** One mesh of a character from arrays. Faces are triangles, or polygons with `faceSizes`. */
export interface MeshArrays {
  name?: string;
  /** x, y, z of each vertex, in the mesh's own space. */
  positions: Numbers;
  /** The vertices of each face, counter-clockwise seen from outside, from 0 in each mesh. Without: every three vertices. */
  faces?: Numbers | null;
  faceSizes?: Numbers | null;
  /** From the mesh's space to the character's: the three upper rows of a matrix, row by row; 12 numbers. */
  transform?: Numbers | null;
}

export interface JointArrays {
  name?: string;
  /** A place in the list of joints; -1 or absent: a root. */
  parent?: number;
  head?: Numbers;
  /** Where its bone ends; absent: at its children. */
  tail?: Numbers | null;
  /** The matrix at rest, as MeshArrays.transform; its axes are the joint's. */
  rest?: Numbers | null;
  /** Absent: by the name, as the option deformFrom says. */
  deforms?: boolean;
}

/** A character as arrays. */
export interface Arrays {
  name?: string;
  meshes: MeshArrays[];
  joints: JointArrays[];
  /** Its present weights: vertex v has the entries offsets[v] to offsets[v + 1] - 1. */
  weights?: {offsets: Numbers; joints: Numbers; shares: Numbers} | null;
  /** The way up; y where it is absent. */
  up?: Numbers | null;
}

type Posed = ReturnType<Core['deform']>;
/** A first, coarser result of a bind. */
export interface Early {
  report: Record<string, any>;
  coverage: Uint8Array;
  rows: Rows;
  difference: Float32Array | null;
  editReport: string[];
  posed: Posed;
  posedBeside: Posed;
}

const STATUS = ['ok', 'usage', 'input', 'too_large', 'io', 'cancelled', 'internal'] as const;
const FOLDER = '/model';
const MOST_SHOWN = 8;

export class Core {
  private readonly out: number;
  private model = 0;
  private binding = 0;
  private weights = 0;
  private own = 0;
  private vertices = 0;
  private triangles = 0;
  private jointCount = 0;
  private painting = 0;  // begins with `weights`
  private painted = false;  // `weights` is behind it
  private made: Uint8Array | null = null;  // the GLB of the open flat figure

  /** `stopped`: whether the current binding should stop; called whenever it reports progress. `lenient`: settings that the
   * chosen method or law does not read are left out, and no error. */
  constructor(private readonly m: CoreModule, private readonly stopped: () => boolean = () => false,
              private readonly lenient = false) {
    this.out = m._malloc(16);
  }

  /** The current memory: another thread may have enlarged it. */
  private get heap(): Uint8Array {
    const {buffer} = this.m.wasmMemory ?? this.m.HEAPU8;
    if (this.seen.buffer !== buffer) this.seen = new Uint8Array(buffer);
    return this.seen;
  }
  private seen = new Uint8Array();

  version(): string {
    return this.m.UTF8ToString(this.m._snw_version());
  }

  /** The core's memory in bytes, and its threads: 1 in a module without threads. */
  size(): {bytes: number; threads: number} {
    return {bytes: this.heap.length, threads: this.m.wasmMemory ? Math.min(navigator.hardwareConcurrency, 8) : 1};
  }

  options(): Option[] {
    if (!this.known) {
      this.check(this.m._snw_settings_json(this.out));
      this.known = JSON.parse(this.takeText()) as Option[];
    }
    return this.known;
  }
  private known?: Option[];

  /** Replaces the open character; on failure, the previous one stays open. A mesh without a skeleton is `bare`: it opens with one placeholder joint. */
  open(file: OpenFile) {
    try {
      return {...this.read(file), bare: false};
    } catch (error) {
      if (file.skeleton || file.picture?.layers) throw error;
      // Opening it with a placeholder skeleton shows whether only the skeleton is missing.
      const head = file.picture ? [file.picture.width / 2, file.picture.height / 2] : [0, 0, 0];
      const skeleton = {name: 'nothing', bytes: new TextEncoder().encode(JSON.stringify({bones: [{name: 'root', head}]}))};
      try {
        return {...this.read({...file, skeleton}), bare: true};
      } catch {
        throw error;
      }
    }
  }

  templates(): Template[] {
    this.check(this.m._snw_rig_templates(this.out));
    return JSON.parse(this.takeText());
  }

  /** A template skeleton for the open mesh, whose own joints do not matter. */
  rig(template: string, resolution = 0): Rig {
    this.need(this.model, 'open a mesh first');
    const name = this.putText(template);
    try {
      this.check(this.m._snw_rig(this.model, name, resolution, 0, this.out + 4, this.out));
    } finally {
      this.m._free(name);
    }
    const [skeleton, report] = new Uint32Array(this.heap.buffer, this.out, 2);
    return {...JSON.parse(this.textOf(report)), skeleton: this.bytesOf(skeleton)};
  }

  /** A flat figure as the GLB that `sinew cutout` writes. */
  private cutOut(file: OpenFile): Uint8Array {
    const {rgba, width, height, smoothness, layers} = file.picture!;
    if (layers) return this.cutOutLayers(file, layers, smoothness);
    if (!file.skeleton) throw new SinewError('usage', `${file.name}: a picture needs bones`);
    const bones = file.skeleton.bytes;
    const at = [this.putBytes(rgba), this.putBytes(file.bytes), this.putText(file.name), this.putBytes(bones)];
    try {
      this.check(this.m._snw_cutout_glb(at[0], width, height, at[1], file.bytes.length, at[2], at[3], bones.length,
                                        smoothness, 0, this.out));
      return this.takeBytes();
    } finally {
      for (const a of at) this.m._free(a);
    }
  }

  private cutOutLayers(file: OpenFile, layers: NonNullable<NonNullable<OpenFile['picture']>['layers']>, smoothness: number): Uint8Array {
    // snw_picture: path, rgba, width, height, png, its size.
    const rows = layers.map(({path, rgba, width, height, bytes}) =>
      [this.putText(path), this.putBytes(rgba), width, height, this.putBytes(bytes), bytes.length]);
    const table = this.putBytes(new Uint8Array(new Uint32Array(rows.flat()).buffer));
    const name = this.putText(file.name);
    const bones = this.putBytes(file.bytes);
    try {
      this.check(this.m._snw_cutout_layers_glb(table, rows.length, name, bones, file.bytes.length, smoothness, 0, this.out));
      return this.takeBytes();
    } finally {
      for (const a of [table, name, bones, ...rows.flatMap(([path, rgba, , , png]) => [path, rgba, png])]) this.m._free(a);
    }
  }

  /** Replaces the open character; on failure, the previous one stays open. */
  load(chosen: OpenFile): ModelInfo {
    const made = chosen.picture ? this.cutOut(chosen) : null;
    const file: OpenFile = made ? {name: chosen.name.replace(/\.[^.]*$/, '.glb'), bytes: made} : chosen;
    this.clearFolder();
    const beside = file.beside ?? [];
    for (const {path, bytes} of beside) {
      const full = `${FOLDER}/${path}`;
      this.m.FS.mkdirTree(full.slice(0, full.lastIndexOf('/')));
      this.m.FS.writeFile(full, bytes);
    }
    const bytes = this.putBytes(file.bytes);
    const name = this.putText(file.name);
    const folder = beside.length ? this.putText(FOLDER) : 0;
    const skeleton = file.skeleton ? this.putBytes(file.skeleton.bytes) : 0;
    const skeletonName = file.skeleton ? this.putText(file.skeleton.name) : 0;
    // snw_open_options: five numbers of 32 bits, the first of them its size, one of 64, five of 32.
    const options = new ArrayBuffer(56);
    new Uint32Array(options).set([options.byteLength, folder, skeleton, file.skeleton?.bytes.length ?? 0, skeletonName]);
    new Float64Array(options)[3] = (file.skeleton && file.skeletonScale) || 0;
    new Uint32Array(options).set([file.prop, file.bindParts, file.together, file.withClips, file.onlyMissing].map((flag) => Number(!!flag)), 8);
    const optionsAt = this.putBytes(new Uint8Array(options));
    try {
      this.check(this.m._snw_model_open_with(bytes, file.bytes.length, name, optionsAt, 0, this.out));
    } finally {
      for (const at of [bytes, name, folder, skeleton, skeletonName, optionsAt]) this.m._free(at);
    }
    this.adopt(this.result(), made);
    return this.describe([]);
  }

  /** The same for a character as arrays. */
  loadArrays(arrays: Arrays): ModelInfo {
    const at: number[] = [];
    const put = (bytes: Uint8Array) => at[at.push(this.putBytes(bytes)) - 1];
    const text = (word?: string) => (word === undefined ? 0 : at[at.push(this.putText(word)) - 1]);
    const of = <T extends ArrayBufferView>(type: {from(values: Numbers): T}, values?: Numbers | null) => {
      if (!values) return 0;
      const made = type.from(values);
      return put(new Uint8Array(made.buffer, made.byteOffset, made.byteLength));
    };
    const words = (list: number[]) => of(Uint32Array, list);
    // Typed arrays take what is no whole number for 0.
    const whole = <T extends Numbers | null | undefined>(what: string, values: T, least = 0): T => {
      for (let i = 0; i < (values?.length ?? 0); ++i)
        if (!Number.isInteger(values![i]) || values![i] < least || values![i] > 0xffffffff)
          throw new SinewError('usage', `${what} ${i} is ${JSON.stringify(values![i])}: it must be a whole number from ${least}`);
      return values;
    };
    const all = (length: number, what: string, values: Numbers) => {
      if (values.length !== length) throw new SinewError('usage', `${what} has ${values.length} numbers: it must have ${length}`);
      return [...(values as number[])];
    };
    const {joints, weights} = arrays;
    const some = (key: 'head' | 'tail' | 'rest') => joints.some((joint) => joint[key]);
    const each = (key: 'head' | 'tail' | 'rest', length: number) => joints.flatMap((joint, j) =>
      joint[key] ? all(length, `joint ${j}: its ${key}`, joint[key]!) : Array<number>(length).fill(NaN));
    for (const key of ['head', 'rest'] as const)
      if (some(key) && !joints.every((joint) => joint[key]))
        throw new SinewError('usage', `joint ${joints.findIndex((joint) => !joint[key])} has no ${key}, but others have: give it for all or for none`);
    try {
      // snw_mesh: name, vertices, positions, faces, their sizes, corners, transform.
      const meshes = arrays.meshes.flatMap(({name, positions, faces, faceSizes, transform}, i) => {
        const place = `mesh ${name ?? i}`;
        if (positions.length % 3) throw new SinewError('usage', `${place}: positions has ${positions.length} numbers: it must have three for each vertex`);
        const corners = faces ?? Uint32Array.from({length: positions.length / 3}, (_, v) => v);
        whole(`${place}: corner`, corners);
        whole(`${place}: the size of face`, faceSizes, 3);
        if (!faceSizes && corners.length % 3) throw new SinewError('usage', `${place}: faces has ${corners.length} numbers: it must have three for each triangle (or give faceSizes)`);
        if (faceSizes && Array.from(faceSizes).reduce((a, b) => a + b, 0) !== corners.length)
          throw new SinewError('usage', `${place}: the sum of faceSizes is not the length of faces, ${corners.length}`);
        return [text(name), positions.length / 3, of(Float32Array, positions), faceSizes ? faceSizes.length : corners.length / 3,
                of(Uint32Array, faceSizes), of(Uint32Array, corners),
                transform ? of(Float64Array, all(12, `${place}: transform`, transform)) : 0];
      });
      const vertices = arrays.meshes.reduce((n, mesh) => n + mesh.positions.length / 3, 0);
      if (weights && (weights.offsets.length !== vertices + 1 || weights.joints.length !== weights.shares.length ||
                      weights.offsets[vertices] !== weights.joints.length))
        throw new SinewError('usage', `weights: offsets must have ${vertices + 1} numbers, the last of them the length of joints and shares`);
      // snw_arrays.
      const table = words([
        text(arrays.name), words(meshes), arrays.meshes.length, joints.length,
        joints.some((joint) => joint.name !== undefined) ? words(joints.map((joint, j) => text(joint.name ?? `joint ${j}`))) : 0,
        of(Int32Array, whole('the parent of joint', joints.map((joint) => joint.parent ?? -1), -1)),
        some('rest') ? of(Float64Array, each('rest', 12)) : 0,
        some('head') ? of(Float32Array, each('head', 3)) : 0,
        some('tail') ? of(Float32Array, each('tail', 3)) : 0,
        of(Uint8Array, joints.map(({deforms = 2}, j) => {
          if (typeof deforms === 'string') throw new SinewError('usage', `joint ${j}: deforms is ${JSON.stringify(deforms)}: it must be true or false`);
          return Number(deforms);
        })),
        weights ? put(new Uint8Array(BigUint64Array.from(Array.from(whole('weights: offset', weights.offsets), BigInt)).buffer)) : 0,
        of(Uint32Array, whole('weights: joint', weights?.joints)), of(Float32Array, weights?.shares),
        arrays.up ? of(Float32Array, all(3, 'up', arrays.up)) : 0,
      ]);
      this.check(this.m._snw_model_from_arrays(table, this.out));
    } finally {
      for (const a of at) this.m._free(a);
    }
    this.adopt(this.result(), null);
    return this.describe([]);
  }

  /** Takes the place of the open character. */
  private adopt(opened: number, made: Uint8Array | null) {
    this.close();
    this.model = opened;
    this.made = made;
    this.m._snw_model_size(opened, this.out, this.out + 4, this.out + 8);
    [this.vertices, this.triangles, this.jointCount] = new Uint32Array(this.heap.buffer, this.out, 3);
  }

  /** load, with everything that a page shows. */
  private read(file: OpenFile) {
    const info = this.load(file);
    const floats = (at: number, length: number) =>
      at ? new Float32Array(this.heap.buffer, at, length).slice() : null;
    return {
      info,
      positions: floats(this.m._snw_model_positions(this.model), this.vertices * 3)!,
      normals: floats(this.m._snw_model_normals(this.model), this.vertices * 3),
      uvs: floats(this.m._snw_model_uvs(this.model), this.vertices * 2),
      triangles: new Uint32Array(this.heap.buffer, this.m._snw_model_triangles(this.model), this.triangles * 3).slice(),
      images: info.images.map((_, i) => {
        this.check(this.m._snw_model_image(this.model, i, this.out));
        return this.takeBytes();
      }),
      poses: this.standardPoses(),
      rest: this.restPose(),
      props: info.props.map((_, i) => this.prop(i)),
      ownRows: info.weights ? this.ownRows() : null,
    };
  }

  /** The model, with the joints that deform under these settings. */
  describe(settings: Settings): ModelInfo {
    return this.withSettings(settings, (s) => {
      this.check(this.m._snw_model_json(this.model, s, 0, this.out));
      return JSON.parse(this.takeText());
    });
  }

  /** Binds. progress: the stage, and the fraction of the whole bind that is done. A first, coarser result is given to `early`, with weights and positions for `shown`. It replaces the previous
   * binding, and stays if the bind is stopped after it. */
  bind(settings: Settings, progress: (stage: string, fraction: number) => void, shown: Shown | null = null,
       early: (result: Early) => void = () => {}) {
    this.need(this.model, 'open a character first');
    const context = this.newContext(progress);
    try {
      return this.withSettings(settings, (s) => {
        if (!shown) {
          this.check(this.m._snw_bind(this.model, s, context, this.out));
          this.useOwn();
          return this.take(this.result(), s);
        }
        this.onResult = (binding, final) => {
          if (final) return;
          this.check(this.m._snw_binding_copy(binding, this.out));
          early({...this.take(this.result(), s), ...this.showEarly(settings, shown)});
        };
        this.resultCall ||= this.m.addFunction((binding, final) => {
          // An error must not pass through the core, which continues with the final result.
          try {
            this.onResult(binding, final === 1);
          } catch (error) {
            console.warn('sinew: no first result', error);
          }
          return 1;
        }, 'iiii');
        this.check(this.m._snw_bind_progressive(this.model, s, this.resultCall, 0, context, this.out));
        this.useOwn();  // weights of a first result are obsolete
        return this.take(this.result(), s);
      });
    } finally {
      this.m._snw_context_free(context);
    }
  }
  private resultCall = 0;
  private onResult: (binding: number, final: boolean) => void = () => {};

  /** Replaces the binding. */
  private take(bound: number, settings: number) {
    this.m._snw_binding_free(this.binding);
    this.binding = bound;
    this.check(this.m._snw_binding_report(bound, this.model, settings, this.out));
    const report = JSON.parse(this.takeText());
    const at = this.m._snw_binding_coverage(bound);
    return {report, coverage: this.heap.slice(at, at + this.vertices)};
  }

  /** The binding as a file (docs/binding.md). */
  saveBinding(): Uint8Array {
    this.need(this.binding, 'bind first');
    this.check(this.m._snw_binding_save(this.binding, this.out));
    return this.takeBytes();
  }

  /** A binding of this character that saveBinding gave; it replaces the present one. */
  openBinding(bytes: Uint8Array, settings: Settings) {
    this.need(this.model, 'open a character first');
    return this.withSettings(settings, (s) => {
      // Which joints deform is a part of the description.
      this.check(this.m._snw_model_json(this.model, s, 0, this.out));
      this.takeBytes();
      const at = this.putBytes(bytes);
      try {
        this.check(this.m._snw_binding_open(at, bytes.length, this.out));
      } finally {
        this.m._free(at);
      }
      return this.take(this.result(), s);
    });
  }

  private showEarly(settings: Settings, {edits, matrices, dual, normals, beside}: Shown) {
    const {rows, report: editReport, difference} = this.weigh(settings, edits, MOST_SHOWN, matrices);
    return {
      rows, editReport, difference, posed: this.deform(matrices, dual, normals),
      posedBeside: beside ? this.deform(matrices, dual, normals, true) : null,
    };
  }

  /** Weights under these settings and edits, from the kept binding. pose, save and rows use them. `matrices`: falloffs by angle
   * have their values in this pose (snw_weights_in_pose); otherwise in the bind pose. */
  weigh(settings: Settings, edits: string, most = MOST_SHOWN, matrices?: Float64Array) {
    const {made, report} = this.weightsOf(settings, edits, matrices);
    this.endPainting();
    this.m._snw_weights_free(this.weights);
    this.weights = made;
    return {rows: this.rows(made, most), report, difference: this.difference()};
  }

  private weightsOf(settings: Settings, edits: string, matrices?: Float64Array): {made: number; report: string[]} {
    this.need(this.binding, 'bind first');
    return this.withSettings(settings, (s) => {
      const text = edits ? this.putText(edits) : 0;
      const pose = matrices ? this.putBytes(new Uint8Array(matrices.buffer, matrices.byteOffset, matrices.byteLength)) : 0;
      try {
        this.check(
          this.m._snw_weights_in_pose(this.binding, this.model, s, text, edits ? this.m.lengthBytesUTF8(edits) : 0, pose, 0,
                                      this.out + 4, this.out),
        );
      } finally {
        for (const at of [text, pose]) this.m._free(at);
      }
      const [made, reportBytes] = new Uint32Array(this.heap.buffer, this.out, 2);
      const report = this.textOf(reportBytes);
      return {made, report: report ? report.split('\n') : []};
    });
  }

  /** Applies one entry of "edits" to the new weights, or to the file's own ones where there are no new ones (snw_painting_apply). The first one after `weigh` or `useOwn` begins
   * painting; `edits` then has the locks. `again`: it replaces the last one, as a stroke that goes on. */
  stroke(settings: Settings, edits: string, edit: string, again: boolean): Painted {
    this.need(this.weights || this.own, 'bind first');
    if (!this.painting) this.beginPainting(settings, edits);
    const text = this.putText(edit);
    try {
      this.check(this.m._snw_painting_apply(this.painting, text, this.m.lengthBytesUTF8(edit), again ? 1 : 0, 0, this.out, this.out + 4));
    } finally {
      this.m._free(text);
    }
    this.painted = true;
    const [count, stuck] = new Uint32Array(this.heap.buffer, this.out, 2);
    return {...this.paintedRows(count), stuck};
  }

  /** Takes the last stroke back; null if there is none since painting began. */
  unstroke(): Painted | null {
    if (!this.painting || !this.m._snw_painting_edits(this.painting)) return null;
    this.check(this.m._snw_painting_undo(this.painting, this.out));
    this.painted = true;
    return {...this.paintedRows(this.result()), stuck: 0};
  }

  /** Replaces the weights below the strokes by those under these settings and edits, without entries of "edits". Strokes are
   * computed again only where these differ. null if other than `strokes` strokes have been painted. */
  rebase(settings: Settings, edits: string, strokes: number, matrices?: Float64Array): Painted | null {
    if (!this.painting || this.m._snw_painting_edits(this.painting) !== strokes) return null;
    const {made} = this.weightsOf(settings, edits, matrices);
    try {
      this.check(this.m._snw_painting_rebase(this.painting, made, 0, this.out));
    } finally {
      this.m._snw_weights_free(made);
    }
    this.painted = true;
    return {...this.paintedRows(this.result()), stuck: 0};
  }

  /** Replaces the new weights by the file's own ones, cleaned (snw_weights_clean). */
  clean(strength: number, settings: Settings, most = MOST_SHOWN) {
    this.need(this.own, 'the file has no weights to clean: bind computes them');
    return this.withSettings(settings, (s) => {
      this.check(this.m._snw_weights_clean(this.model, this.own, strength, s, 0, this.out + 4, this.out));
      this.useOwn();
      const [made, report] = new Uint32Array(this.heap.buffer, this.out, 2);
      this.weights = made;
      return {cleaned: JSON.parse(this.textOf(report)) as Cleaning, rows: this.rows(made, most)};
    });
  }

  private beginPainting(settings: Settings, edits: string) {
    this.withSettings(settings, (s) => {
      const text = edits ? this.putText(edits) : 0;
      try {
        this.check(this.m._snw_painting_new(this.model, this.weights || this.own, s, text, edits ? this.m.lengthBytesUTF8(edits) : 0, this.out));
      } finally {
        this.m._free(text);
      }
      this.painting = this.result();
    });
  }
  private endPainting() {
    this.m._snw_painting_free(this.painting);
    this.painting = 0;
    this.painted = false;
  }

  private paintedRows(count: number): {vertices: Uint32Array; rows: Rows} {
    const width = Math.min(Math.max(this.m._snw_painting_width(this.painting), 1), MOST_SHOWN);
    const at = this.m._snw_painting_vertices(this.painting);
    return {
      vertices: count ? new Uint32Array(this.heap.buffer, at, count).slice() : new Uint32Array(),
      rows: this.filled(count, width, (joints, shares) => this.m._snw_painting_rows(this.painting, width, joints, shares)),
    };
  }

  /** The new weights, with all strokes; the file's own ones without. */
  private current(): number {
    if (this.painted) {
      this.check(this.m._snw_painting_weights(this.painting, this.out));
      this.m._snw_weights_free(this.weights);
      this.weights = this.result();
      this.painted = false;
    }
    return this.weights || this.own;
  }

  /** Discards the new weights: the file's own weights are shown and posed. */
  useOwn() {
    this.endPainting();
    this.m._snw_weights_free(this.weights);
    this.weights = 0;
  }

  matricesOf(pose: {joints: Float64Array} | {clip: number; time: number}): Float64Array {
    const size = this.jointCount * 12 * 8;
    const at = this.m._malloc(size);
    try {
      if ('joints' in pose) {
        const from = this.putBytes(new Uint8Array(pose.joints.buffer, pose.joints.byteOffset, pose.joints.byteLength));
        try {
          this.check(this.m._snw_pose_matrices(this.model, from, at));
        } finally {
          this.m._free(from);
        }
      } else {
        this.check(this.m._snw_clip_matrices(this.model, pose.clip, pose.time as number, at));
      }
      return new Float64Array(this.heap.slice(at, at + size).buffer);
    } finally {
      this.m._free(at);
    }
  }

  /** The surface in a pose; null without weights. `own`: by the weights of the file. */
  deform(matrices: Float64Array, dual: boolean, normals: boolean, own = false) {
    const weights = own ? this.own : this.current();
    if (!weights) return null;
    const from = this.putBytes(new Uint8Array(matrices.buffer, matrices.byteOffset, matrices.byteLength));
    const size = this.vertices * 12;
    const positions = this.m._malloc(size);
    const turned = normals ? this.m._malloc(size) : 0;
    try {
      this.check(this.m._snw_deform(this.model, weights, from, dual ? 1 : 0, 0, positions, turned));
      const take = (at: number) => new Float32Array(this.heap.slice(at, at + size).buffer);
      return {positions: take(positions), normals: turned ? take(turned) : null};
    } finally {
      for (const at of [from, positions, turned]) this.m._free(at);
    }
  }

  /** The places where an answer about the new weights is likely worth most (`sinew questions`). */
  questions(top: number): Question[] {
    this.need(this.current(), 'bind first');
    this.check(this.m._snw_questions_json(this.model, this.current(), top, 0, this.out));
    return (JSON.parse(this.takeText()) as {questions: Question[]}).questions;
  }

  /** The numbers of `sinew compare`: the new weights against those of the file. Takes as long as a binding. */
  compare(): Compared {
    this.need(this.own && this.weights, 'bind a file that comes with weights first');
    this.check(this.m._snw_compare_json(this.model, this.own, this.current(), 0, this.out));
    return JSON.parse(this.takeText());
  }

  /** How far each vertex is from the bones of a joint, through the volume. */
  distances(settings: Settings, joint: number): Float32Array {
    const at = this.m._malloc(this.vertices * 4);
    try {
      return this.withSettings(settings, (s) => {
        this.check(this.m._snw_distances(this.model, s, joint, 0, at));
        return new Float32Array(this.heap.slice(at, at + this.vertices * 4).buffer);
      });
    } finally {
      this.m._free(at);
    }
  }

  defects(): Defects {
    const at = this.m._malloc(this.triangles);
    try {
      this.check(this.m._snw_defects(this.model, 0, at, this.out));
      const edges = this.takeBytes();
      return {triangles: this.heap.slice(at, at + this.triangles), edges: new Uint32Array(edges.buffer)};
    } finally {
      this.m._free(at);
    }
  }

  /** The leaves of the volume, five numbers each (snw_volume); null if there are more than `most`. */
  volume(settings: Settings, most: number): Float32Array | null {
    return this.withSettings(settings, (s) => {
      const status = this.m._snw_volume(this.model, s, most, 0, this.out);
      if (STATUS[status] === 'too_large') return null;
      this.check(status);
      return new Float32Array(this.takeBytes().buffer);
    });
  }

  /** The file with its new weights: the same bytes as `sinew bind` writes, unless an animation is added. */
  /** An opened FBX is saved as FBX with only its weights changed, unless there is an animation. */
  save(format: Format, settings: Settings, animation: Animation | null = null): {bytes: Uint8Array; notes: string[]} {
    if (this.made && !animation && format === 'glb') return {bytes: this.made.slice(), notes: []};
    this.need(this.weights || this.own, 'bind first');
    const bytesOf = (values: Float64Array) => new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    const at: number[] = [];
    try {
      if (animation) {
        const {name, step, times, poses} = animation;
        at.push(this.putText(name), this.putBytes(bytesOf(times)), this.putBytes(bytesOf(poses)));
        // snw_animation: name, step, keys, times, poses.
        at.push(this.putBytes(new Uint8Array(new Uint32Array([at[0], Number(step), times.length, at[1], at[2]]).buffer)));
      }
      return this.withSettings(settings, (s) => {
        const save = format === 'fbx' ? this.m._snw_save_fbx : this.m._snw_save_glb_animated;
        this.check(save(this.model, this.current(), s, at[3] ?? 0, at.length ? 1 : 0, this.out + 4, this.out));
        const [bytes, notes] = new Uint32Array(this.heap.buffer, this.out, 2);
        const text = this.textOf(notes);
        return {bytes: this.bytesOf(bytes), notes: text ? text.split('\n') : []};
      });
    } finally {
      for (const a of at) this.m._free(a);
    }
  }

  saveWeights(): Uint8Array {
    this.need(this.weights || this.own, 'bind first');
    this.check(this.m._snw_save_json(this.model, this.current(), this.out));
    return this.takeBytes();
  }

  /** The settings as words for a shell. */
  command(settings: Settings): string {
    return this.withSettings(settings, (s) => {
      this.check(this.m._snw_settings_command(s, this.out));
      return this.takeText();
    });
  }

  /** Where the file's nodes stand at rest: matrices as matricesOf gives, the pose that leads there, ten numbers a joint, and the
   * matrix from bind space to the file's world. */
  restPose(): {matrices: Float64Array; pose: Float64Array; toWorld: Float64Array} {
    const [size, numbers] = [this.jointCount * 12 * 8, this.jointCount * 10 * 8];
    const at = this.m._malloc(size + numbers + 96);
    try {
      this.check(this.m._snw_rest_matrices(this.model, at, at + size + numbers));
      this.check(this.m._snw_rest_pose(this.model, at + size));
      const take = (from: number, length: number) => new Float64Array(this.heap.slice(from, from + length).buffer);
      return {matrices: take(at, size), pose: take(at + size, numbers), toWorld: take(at + size + numbers, 96)};
    } finally {
      this.m._free(at);
    }
  }

  private prop(number: number): Prop {
    // snw_prop: name, joint, material, vertices, positions, normals, uvs, triangles, corners.
    const to = this.m._malloc(36);
    try {
      this.check(this.m._snw_model_prop(this.model, number, to));
      const [, , , vertices, positions, normals, uvs, triangles, corners] = new Uint32Array(this.heap.slice(to, to + 36).buffer);
      const floats = (at: number, length: number) => (at ? new Float32Array(this.heap.slice(at, at + 4 * length).buffer) : null);
      return {
        positions: floats(positions, vertices * 3)!, normals: floats(normals, vertices * 3), uvs: floats(uvs, vertices * 2),
        triangles: new Uint32Array(this.heap.slice(corners, corners + triangles * 12).buffer),
      };
    } finally {
      this.m._free(to);
    }
  }

  private standardPoses(): NamedPose[] {
    this.check(this.m._snw_standard_poses(this.model, this.out));
    return JSON.parse(this.takeText());
  }

  private ownRows(): Rows {
    this.check(this.m._snw_model_weights(this.model, this.out));
    this.own = this.result();
    return this.rows(this.own);
  }

  private rows(weights: number, most = MOST_SHOWN): Rows {
    const width = Math.min(Math.max(this.m._snw_weights_width(weights), 1), most);
    return this.filled(this.vertices, width, (joints, shares) => this.m._snw_weights_rows(weights, width, joints, shares));
  }

  /** Rows that a function of the core fills. */
  private filled(vertices: number, width: number, fill: (joints: number, shares: number) => number): Rows {
    const count = vertices * width;
    const joints = this.m._malloc(Math.max(count * 2, 1));
    const shares = this.m._malloc(Math.max(count * 4, 1));
    try {
      this.check(fill(joints, shares));
      return {
        width,
        joints: new Uint16Array(this.heap.slice(joints, joints + count * 2).buffer),
        shares: new Float32Array(this.heap.slice(shares, shares + count * 4).buffer),
      };
    } finally {
      this.m._free(joints);
      this.m._free(shares);
    }
  }

  /** The L1 distance of the weights to the file's own, per vertex, 0 to 2; null if the file has none. */
  difference(): Float32Array | null {
    if (!this.own || !(this.weights || this.painted)) return null;
    const at = this.m._malloc(this.vertices * 4);
    try {
      this.check(this.m._snw_weights_difference(this.current(), this.own, at));
      return new Float32Array(this.heap.slice(at, at + this.vertices * 4).buffer);
    } finally {
      this.m._free(at);
    }
  }

  /** Frees the character and its binding. */
  close() {
    this.endPainting();
    this.m._snw_weights_free(this.weights);
    this.m._snw_weights_free(this.own);
    this.m._snw_binding_free(this.binding);
    this.m._snw_model_free(this.model);
    this.weights = this.own = this.binding = this.model = 0;
  }

  private need(handle: number, message: string) {
    if (!handle) throw new SinewError('usage', message);
  }

  private check(status: number) {
    if (status) throw new SinewError((STATUS[status] ?? 'internal') as Status, this.m.UTF8ToString(this.m._snw_error()));
  }

  private withSettings<T>(settings: Settings, work: (handle: number) => T): T {
    this.check(this.m._snw_settings_new(this.out));
    const handle = this.result();
    try {
      for (const [name, value] of this.lenient ? settingsThatAreRead(this.options(), settings) : settings) {
        const [n, v] = [this.putText(name), this.putText(value)];
        try {
          this.check(this.m._snw_settings_set(handle, n, v));
        } finally {
          this.m._free(n);
          this.m._free(v);
        }
      }
      return work(handle);
    } finally {
      this.m._snw_settings_free(handle);
    }
  }

  private progressCall = 0;
  private onProgress: (stage: string, fraction: number) => void = () => {};
  private newContext(progress: (stage: string, fraction: number) => void): number {
    this.onProgress = progress;
    this.progressCall ||= this.m.addFunction(
      (stage, _fraction, context) => {
        if (this.stopped()) this.m._snw_cancel(context);
        this.onProgress(this.m.UTF8ToString(stage), this.m._snw_context_fraction(context));
      },
      'vidi',
    );
    this.check(this.m._snw_context_new(this.out));
    const context = this.result();
    this.m._snw_context_progress(context, this.progressCall, context);
    return context;
  }

  private result(): number {
    return new Uint32Array(this.heap.buffer, this.out, 1)[0];
  }

  private takeBytes(): Uint8Array {
    return this.bytesOf(this.result());
  }

  private takeText(): string {
    return new TextDecoder().decode(this.takeBytes());
  }

  private bytesOf(handle: number): Uint8Array {
    const at = this.m._snw_bytes_data(handle);
    const bytes = this.heap.slice(at, at + this.m._snw_bytes_size(handle));
    this.m._snw_bytes_free(handle);
    return bytes;
  }

  private textOf(handle: number): string {
    return handle ? new TextDecoder().decode(this.bytesOf(handle)) : '';
  }

  private putBytes(bytes: Uint8Array): number {
    const at = this.m._malloc(Math.max(bytes.length, 1));
    if (!at) throw new SinewError('too_large', 'there is not enough memory for this character: WebAssembly has 4 GB');
    this.heap.set(bytes, at);
    return at;
  }

  private putText(text: string): number {
    const size = this.m.lengthBytesUTF8(text) + 1;
    const at = this.m._malloc(size);
    this.m.stringToUTF8(text, at, size);
    return at;
  }

  private clearFolder() {
    const remove = (path: string) => {
      for (const name of this.m.FS.readdir(path)) {
        if (name === '.' || name === '..') continue;
        const full = `${path}/${name}`;
        if (this.m.FS.isDir(this.m.FS.stat(full).mode)) {
          remove(full);
          this.m.FS.rmdir(full);
        } else {
          this.m.FS.unlink(full);
        }
      }
    };
    this.m.FS.mkdirTree(FOLDER);
    remove(FOLDER);
  }
}

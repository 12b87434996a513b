// The page: what a person does becomes a change of the document, and a change of the document becomes work.
import {Client} from './client';
import {COVERAGE, blendColours, scaleColour, valueColours, weightColours} from './colours';
import {CoreError, type Core, type ModelInfo, type OpenFile, type Option, type Rows} from './core';
import {byId, button, check, choice, download, el, entry, slider} from './dom';
import {History, commandLine, editsOf, outputName, poseNumbers, settingsOf, workOf, type Edit,
        type Sphere} from './store';
import {View} from './view';
import {agreement, defectsOf, factsOf, reasonOf} from './words';

type Mode = 'look' | 'joints' | 'weight' | 'coverage' | 'difference' | 'distance';
type Tool = 'look' | 'turn' | 'paint';

const client = new Client();
const history = new History();
const view = new View(byId('view'));

let options: Option[] = [];
let groups = new Map<string, string>();
let file: OpenFile | null = null;
let opened: Awaited<ReturnType<Client['open']>> | null = null;
let info: ModelInfo | null = null;
let rows: Rows | null = null;  // what is shown: those that were made, else the file's
let bound: {report: Record<string, any>; coverage: Uint8Array; seconds: number} | null = null;
let stale = false;  // what was bound is not what the options say
let difference: Float32Array | null = null;
let distance: {joint: number; values: Float32Array} | null = null;
let editReport: string[] = [];
let mode: Mode = 'look';
let tool: Tool = 'look';
let joint = -1;
let skeletonShown = true, wire = false, dual = false;
let clip = -1, clipTime = 0, playing = false;
let brush = {op: 'add' as 'add' | 'set' | 'smooth', value: 0.3, radius: 0.05};
let probed: number | null = null;

// ---- messages

function showError(error: unknown) {
  if (error instanceof CoreError && error.status === 'cancelled') return;
  const message = error instanceof Error ? error.message : String(error);
  const box = byId('error');
  box.querySelector('p')!.textContent = message;
  box.hidden = false;
}
byId('error').querySelector('button')!.addEventListener('click', () => (byId('error').hidden = true));

function busy(text: string, fraction: number | null = null, stop = false) {
  byId('busy').hidden = !text;
  byId('busy-text').textContent = text;
  const bar = byId<HTMLProgressElement>('busy-bar');
  if (fraction === null) bar.removeAttribute('value');
  else bar.value = fraction;
  byId('cancel').hidden = !stop;
}

// ---- work: one thing at a time; what is asked for meanwhile is done once, after it

let working = false, wanted: 'none' | 'pose' | 'weigh' = 'none';

function ask(what: 'pose' | 'weigh') {
  if (what === 'weigh' || wanted === 'none') wanted = what;
  if (!working) void work();
}

async function work() {
  working = true;
  try {
    while (wanted !== 'none') {
      const now = wanted;
      wanted = 'none';
      if (now === 'weigh' && bound && !stale) {
        const doc = history.doc;
        const made = await client.weigh(settingsOf(doc), editsOf(doc));
        rows = made.rows;
        difference = made.difference;
        editReport = made.report;
        recolour();
        drawResult();
      }
      await pose();
    }
  } catch (error) {
    showError(error);
  } finally {
    working = false;
  }
}

async function pose() {
  if (!opened || !info) return;
  const asked = clip >= 0 ? {clip, time: clipTime} : {joints: poseNumbers(history.doc.pose, info.joints.length)};
  const matrices = await client.matricesOf(asked);
  const posed = await client.deform(matrices.slice(), dual, !!opened.normals);
  view.setPose(matrices, posed);
}

/** Until nothing runs: what is asked for meanwhile takes milliseconds. */
async function idle() {
  while (working) await new Promise((resolve) => setTimeout(resolve, 10));
}

let binding = false;
async function bind() {
  if (!opened || binding) return;
  binding = true;
  await idle();
  working = true;
  const doc = history.doc;
  const start = performance.now();
  try {
    busy('Binding…', null, true);
    const made = await client.bind(settingsOf(doc), (stage, f) => busy(`Binding: ${stage}`, f || null, true));
    bound = {...made, seconds: (performance.now() - start) / 1000};
    stale = false;
    distance = null;
    if (mode === 'look') mode = 'joints';
    wanted = 'weigh';
  } catch (error) {
    showError(error);
  } finally {
    busy('');
    working = binding = false;
  }
  if (bound) await work();
  drawTools();
  drawPanels();
}

byId('cancel').addEventListener('click', async () => {
  busy('Stopping…');
  try {
    bound = null;
    rows = opened?.ownRows ?? null;
    difference = null;
    await client.cancel();
  } catch (error) {
    showError(error);
  } finally {
    busy('');
    recolour();
    drawPanels();
  }
});

history.listen((doc, before) => {
  const needed = workOf(doc, before, groups);
  if (needed === 'bind') {
    if (bound) stale = true;
    void describe();
    drawPanels();
  } else if (needed === 'weigh') {
    ask('weigh');
  } else if (needed === 'pose') {
    ask('pose');
  }
  byId<HTMLButtonElement>('undo').disabled = !history.canUndo;
  byId<HTMLButtonElement>('redo').disabled = !history.canRedo;
  drawCommand();
});

async function describe() {
  if (!opened) return;
  try {
    info = await client.describe(settingsOf(history.doc));
    view.setJoints(info);
    drawCharacter();
  } catch (error) {
    showError(error);
  }
}

// ---- opening

async function open(chosen: OpenFile) {
  if (binding) return showError(new Error('a binding is under way: stop it first, then open another character'));
  await idle();
  working = true;
  busy(`Opening ${chosen.name}…`);
  byId('error').hidden = true;
  try {
    opened = await client.open(chosen);
    file = chosen;
    info = opened.info;
    rows = opened.ownRows;
    bound = difference = distance = probed = null;
    stale = playing = false;
    editReport = [];
    joint = clip = -1;
    clipTime = 0;
    mode = rows ? 'joints' : 'look';
    if (opened.images.length) mode = 'look';
    tool = 'look';
    const [low, high] = info.box;
    brush = {...brush, radius: 0.03 * Math.hypot(...low.map((x, k) => high[k] - x))};
    history.reset();
    await view.show(opened);
    byId('empty').hidden = true;
    byId('tools').hidden = false;
    byId<HTMLOutputElement>('file-name').value = chosen.name + (chosen.skeleton ? ` + ${chosen.skeleton.name}` : '');
    recolour();
    drawTools();
    drawPanels();
    drawProbe();
    await pose();
  } catch (error) {
    showError(error);
  } finally {
    busy('');
    working = false;
  }
}

const MODELS = /\.(glb|gltf|vrm|obj)$/i;
const SKELETONS = /\.(json|tgf)$/i;

async function openFiles(files: Iterable<File>) {
  const all = [...files];
  const model = all.find((f) => MODELS.test(f.name));
  if (!model) {
    const names = all.map((f) => f.name).join(', ');
    showError(new Error(`${names || 'nothing'}: there is no character among these. Give a .glb, .gltf, .vrm or .obj file.`));
    return;
  }
  const bytes = async (f: File) => new Uint8Array(await f.arrayBuffer());
  const skeleton = all.find((f) => f !== model && SKELETONS.test(f.name));
  const rest = all.filter((f) => f !== model && f !== skeleton);
  try {
    const beside = await Promise.all(rest.map(async (f) => ({
      path: (f.webkitRelativePath || f.name).split('/').slice(f.webkitRelativePath ? 1 : 0).join('/'),
      bytes: await bytes(f),
    })));
    await open({
      name: model.name,
      bytes: await bytes(model),
      ...(beside.length ? {beside} : {}),
      ...(skeleton ? {skeleton: {name: skeleton.name, bytes: await bytes(skeleton)}} : {}),
    });
  } catch (error) {
    showError(error);
  }
}

const SAMPLES: [string, string][] = [
  ['biped', 'A person'],
  ['caped', 'With a cape'],
  ['quadruped', 'On four legs'],
  ['robot', 'A robot'],
];
for (const [name, shown] of SAMPLES)
  byId('samples').append(button(shown, `Open the sample ${name}`, async () => {
    try {
      const answer = await fetch(`./samples/${name}.glb`);
      if (!answer.ok) throw new Error(`the sample ${name} is not there (${answer.status})`);
      await open({name: `${name}.glb`, bytes: new Uint8Array(await answer.arrayBuffer())});
    } catch (error) {
      showError(error);
    }
  }, {'data-sample': name}));

const picker = byId<HTMLInputElement>('files');
picker.addEventListener('change', () => {
  if (picker.files) void openFiles(picker.files);
  picker.value = '';
});
for (const id of ['open', 'open-big']) byId(id).addEventListener('click', () => picker.click());
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
  if (event.dataTransfer) void openFiles(event.dataTransfer.files);
});

// ---- what is shown

function recolour() {
  if (!opened || !info) return;
  const colours = view.colours;
  colours.fill(0.3);
  if (mode === 'joints' && rows) blendColours(rows, view.jointPalette, colours);
  if (mode === 'weight' && rows && joint >= 0) weightColours(rows, joint, colours);
  if (mode === 'difference' && difference) valueColours(difference, 1, colours);
  if (mode === 'coverage' && bound) bound.coverage.forEach((c, v) => colours.set(COVERAGE[c].colour, v * 3));
  if (mode === 'distance' && distance) valueColours(distance.values, largest(distance.values), colours);
  view.setSurface(mode === 'look');
  drawLegend();
  drawProbe();
}

function largest(values: Float32Array): number {
  let most = 0;
  for (const v of values) if (Number.isFinite(v) && v > most) most = v;
  return most;
}

async function setMode(next: Mode) {
  mode = next;
  if (mode === 'distance' && joint >= 0 && distance?.joint !== joint && !working) {
    working = true;
    busy('Measuring distances…');
    try {
      distance = {joint, values: await client.distances(settingsOf(history.doc), joint)};
    } catch (error) {
      showError(error);
    } finally {
      busy('');
      working = false;
    }
    if (wanted !== 'none') void work();
  }
  recolour();
  drawTools();
}

function selectJoint(next: number) {
  joint = next;
  view.select(joint);
  view.setGizmo(tool === 'turn' && clip < 0);
  if (mode === 'distance') void setMode('distance');
  if (joint >= 0 && mode === 'joints' && tool === 'paint') mode = 'weight';
  recolour();
  drawTools();
  drawJoint();
  drawBrush();
  for (const item of byId('left').querySelectorAll<HTMLElement>('#joint-list li')) {
    const on = Number(item.dataset.joint) === joint;
    item.setAttribute('aria-selected', String(on));
    if (on) item.scrollIntoView({block: 'nearest'});
  }
}

function setTool(next: Tool) {
  tool = next;
  view.setGizmo(tool === 'turn' && joint >= 0 && clip < 0);
  if (tool === 'paint' && joint >= 0) mode = 'weight';
  if (tool !== 'paint') view.setBrush(0, 0, null);
  view.orbit.enabled = true;
  recolour();
  drawTools();
  drawBrush();
}

const MODES: {mode: Mode; name: string; help: string; can: () => boolean}[] = [
  {mode: 'look', name: 'Material', help: 'As the file looks (1)', can: () => true},
  {mode: 'joints', name: 'Joints', help: 'Each joint has a colour, blended by weight (2)', can: () => !!rows},
  {mode: 'weight', name: 'Weight', help: 'The weight of the selected joint (3)', can: () => !!rows && joint >= 0},
  {mode: 'distance', name: 'Distance', help: 'How far the selected joint is through the volume (4)',
   can: () => joint >= 0 && !!info?.joints[joint].deforms},
  {mode: 'coverage', name: 'How bound', help: 'How each vertex came to its weights (5)', can: () => !!bound},
  {mode: 'difference', name: 'Against file', help: 'How far the weights are from the file’s own (6)',
   can: () => !!difference},
];
const TOOLS: {tool: Tool; name: string; help: string}[] = [
  {tool: 'look', name: 'Look', help: 'Turn the view; click to select (V)'},
  {tool: 'turn', name: 'Pose', help: 'Turn the selected joint (R)'},
  {tool: 'paint', name: 'Paint', help: 'Change weights of the selected joint by brush (P)'},
];

function drawTools() {
  const group = (...buttons: HTMLElement[]) => el('div', {class: 'group'}, ...buttons);
  byId('tools').replaceChildren(
    group(...TOOLS.map((t) =>
      button(t.name, t.help, () => setTool(t.tool), {'aria-pressed': tool === t.tool, disabled: t.tool === 'paint' && !bound}))),
    group(...MODES.map((m) =>
      button(m.name, m.help, () => void setMode(m.mode), {'aria-pressed': mode === m.mode, disabled: !m.can()}))),
    group(
      button('Skeleton', 'Skeleton on or off (S)', toggleSkeleton, {'aria-pressed': skeletonShown}),
      button('Wire', 'Triangles as wires (W)', toggleWire, {'aria-pressed': wire}),
      button('Frame', 'See the whole character (F)', () => view.frame()),
    ),
  );
}
function toggleSkeleton() {
  skeletonShown = !skeletonShown;
  view.setSkeleton(skeletonShown);
  drawTools();
}
function toggleWire() {
  wire = !wire;
  view.setWireframe(wire);
  drawTools();
}

const css = ([r, g, b]: readonly number[]) => {
  const byte = (x: number) => Math.round(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055));
  return `rgb(${byte(r)} ${byte(g)} ${byte(b)})`;
};
const swatch = (colour: readonly number[]) => el('span', {class: 'swatch', style: `background:${css(colour)}`});
const paletteOf = (j: number) => [...view.jointPalette.subarray(j * 3, j * 3 + 3)];

function drawLegend() {
  const box = byId('legend');
  const bar = (title: string, low: string, high: string) => {
    const stops = [0, 0.25, 0.5, 0.75, 1].map((t) => css(scaleColour(t))).join(',');
    return [el('div', {}, title), el('div', {class: 'bar', style: `background:linear-gradient(90deg,${stops})`}),
            el('div', {class: 'ends'}, el('span', {}, low), el('span', {}, high))];
  };
  const name = joint >= 0 && info ? info.joints[joint].name : '';
  let parts: HTMLElement[] = [];
  if (mode === 'weight' && rows && joint >= 0) parts = bar(`Weight of ${name}`, '0', '1');
  if (mode === 'difference' && difference) parts = bar('Difference to the file’s weights (sum over joints)', '0', '1 and more');
  if (mode === 'distance' && distance) parts = bar(`Distance from ${name}`, '0', largest(distance.values).toPrecision(3));
  if (mode === 'coverage' && bound) {
    const counts = COVERAGE.map((_, k) => bound!.coverage.reduce((n, c) => n + (c === k ? 1 : 0), 0));
    parts = COVERAGE.flatMap((c, k) =>
      counts[k] ? [el('div', {class: 'key'}, swatch(c.colour), `${c.meaning}: ${counts[k].toLocaleString('en')}`)] : []);
  }
  box.hidden = !parts.length;
  box.replaceChildren(...parts);
}

function drawProbe() {
  const box = byId('probe');
  box.hidden = probed === null || !rows;
  if (probed === null || !rows || !info) return;
  const {width, joints, shares} = rows;
  const lines: HTMLElement[] = [el('small', {}, `Vertex ${probed.toLocaleString('en')}`)];
  for (let k = 0; k < width; ++k) {
    const at = probed * width + k;
    if (shares[at] === 0) continue;
    lines.push(el('div', {class: 'key'}, swatch(paletteOf(joints[at])), info.joints[joints[at]].name,
                  el('b', {}, shares[at].toFixed(3))));
  }
  if (lines.length === 1) lines.push(el('div', {}, 'has no weights'));
  if (bound) lines.push(el('small', {}, COVERAGE[bound.coverage[probed]].meaning));
  box.replaceChildren(...lines);
}

// ---- panels

function drawPanels() {
  if (!info) return;
  drawCharacter();
  drawRight();
}

function drawCharacter() {
  if (!info) return;
  const defects = [...defectsOf(info), ...info.warnings];
  const filter = el('input', {type: 'search', placeholder: 'Find a joint', 'aria-label': 'Find a joint', style: 'width:100%'});
  const list = el('ul', {id: 'joint-list', role: 'listbox', tabIndex: 0, 'aria-label': 'Joints'});
  const depth = info.joints.map(() => 0);
  const order: number[] = [];
  const children = info.joints.map(() => [] as number[]);
  info.joints.forEach((j, i) => j.parent >= 0 && children[j.parent].push(i));
  const walk = (j: number, d: number) => {
    depth[j] = d;
    order.push(j);
    for (const c of children[j]) walk(c, d + 1);
  };
  info.joints.forEach((j, i) => j.parent < 0 && walk(i, 0));
  for (const j of order) {
    const {name, deforms, reason} = info.joints[j];
    list.append(el('li', {
      role: 'option', 'data-joint': j, 'aria-selected': j === joint, class: deforms ? '' : 'idle',
      title: `${name}: ${reasonOf(reason)}`, style: `padding-left:${8 + 9 * Math.min(depth[j], 12)}px`,
      on: {click: () => selectJoint(j)},
    }, swatch(deforms ? paletteOf(j) : [0.2, 0.2, 0.2]), el('span', {}, name),
       ...(history.doc.locked.includes(name) ? [el('small', {}, 'kept')] : [])));
  }
  filter.addEventListener('input', () => {
    const word = filter.value.toLowerCase();
    for (const item of list.children as HTMLCollectionOf<HTMLElement>)
      item.hidden = !info!.joints[Number(item.dataset.joint)].name.toLowerCase().includes(word);
  });
  list.addEventListener('keydown', (event) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const next = order[Math.min(Math.max(order.indexOf(joint) + step, 0), order.length - 1)];
    selectJoint(next);
  });
  byId('left').replaceChildren(
    el('h2', {}, 'Character'),
    el('ul', {class: 'facts'}, ...factsOf(info).map((t) => el('li', {}, t))),
    ...(defects.length
      ? [el('details', {open: defects.length < 4}, el('summary', {}, `${defects.length} to know about the mesh`),
            el('ul', {class: 'facts'}, ...defects.map((t) => el('li', {}, t))))]
      : []),
    el('h2', {}, 'Joints'),
    filter,
    list,
    el('div', {id: 'joint'}),
  );
  drawJoint();
}

function drawJoint() {
  const box = document.getElementById('joint');
  if (!box || !info) return;
  if (joint < 0) {
    box.replaceChildren(el('p', {class: 'dim'}, 'Select a joint in the list or the view to see and change it.'));
    return;
  }
  const {name, deforms, reason} = info.joints[joint];
  const doc = history.doc;
  const own = doc.falloff[name];
  const law = valueOf('falloff-law');
  const parts: HTMLElement[] = [el('h2', {class: 'name'}, name), el('p', {class: 'dim'}, reasonOf(reason))];
  parts.push(check('Moves skin', 'Off: the joint gets no weight (--exclude, --include)', deforms, (on) => {
    const without = (list: readonly string[]) => list.filter((n) => n !== name);
    history.change({
      exclude: on ? without(doc.exclude) : [...without(doc.exclude), name],
      include: on ? [...without(doc.include), name] : without(doc.include),
    });
  }));
  if (opened?.ownRows)
    parts.push(check('Keeps the weights of the file', 'Locked: what the file gives this joint stays (--lock)',
                     doc.locked.includes(name), (on) => {
      history.change({locked: on ? [...history.doc.locked, name] : history.doc.locked.filter((n) => n !== name)});
      drawCharacter();
    }));
  if (deforms && law.startsWith('inverse')) {
    const all = Number(valueOf('falloff'));
    parts.push(slider('Hardness here', 'α of this joint in place of that of all', {min: 0, max: 1, step: 0.01}, own ?? all,
                      (v) => history.change({falloff: {...history.doc.falloff, [name]: v}}, `falloff ${name}`),
                      () => {
                        history.settle();
                        drawJoint();
                      }));
    if (own !== undefined)
      parts.push(button('As all others', 'Takes the hardness of this joint away', () => {
        const {[name]: _, ...rest} = history.doc.falloff;
        history.change({falloff: rest});
        drawJoint();
      }));
  }
  if (doc.pose[joint])
    parts.push(button('Turn back', 'The joint as in the bind pose', () => {
      const {[joint]: _, ...rest} = history.doc.pose;
      history.change({pose: rest});
      drawJoint();
    }));
  box.replaceChildren(...parts);
}

/** An option as it stands: what was set, else the method's preset, else the default. */
function valueOf(name: string): string {
  const {settings} = history.doc;
  if (settings[name] !== undefined) return settings[name];
  const methods = options.find((o) => o.name === 'method');
  const chosen = settings.method ?? methods?.value ?? '';
  return methods?.methods?.[chosen]?.presets[name] ?? options.find((o) => o.name === name)?.value ?? '';
}
function setOption(name: string, value: string, merge = '') {
  const settings = {...history.doc.settings};
  delete settings[name];
  // Another method comes with its own falloff: what was set for the last one's goes, but for what suits all.
  if (name === 'method') {
    for (const key of Object.keys(settings))
      if (!['resolution', 'max-influences', 'limit-rule', 'weight-format', 'deform-from'].includes(key)) delete settings[key];
    if (value !== options.find((o) => o.name === 'method')?.value) settings.method = value;
    history.change({settings});
    drawRight();
    return;
  }
  const before = history.doc;
  const usual = valueOfPreset(name);
  if (value !== usual) settings[name] = value;
  if (JSON.stringify(before.settings) !== JSON.stringify(settings)) history.change({settings}, merge);
}
function valueOfPreset(name: string): string {
  const methods = options.find((o) => o.name === 'method');
  const chosen = history.doc.settings.method ?? methods?.value ?? '';
  return methods?.methods?.[chosen]?.presets[name] ?? options.find((o) => o.name === name)?.value ?? '';
}
const helpOf = (name: string) => options.find((o) => o.name === name)?.help ?? '';

/** Options that belong to some methods only; the word before the colon of their help says which. */
function suits(option: Option): boolean {
  const method = valueOf('method'), law = valueOf('falloff-law');
  const owners = /^([a-z-]+(?:, [a-z-]+)*):/.exec(option.help)?.[1].split(', ');
  if (option.name === 'voxelizer') return false;  // needs OpenGL of the command line
  if (!owners) return !(law === 'power' && ['falloff', 'lambda-min', 'lambda-max'].includes(option.name));
  return owners.includes(method) || owners.includes(law);
}

function fieldOf(option: Option): HTMLElement {
  const {name, help} = option;
  const label = name.replaceAll('-', ' ').replace(/^./, (c) => c.toUpperCase());
  const now = valueOf(name);
  if (option.kind === 'choice') return choice(label, help, option.choices, now, (v) => setOption(name, v));
  if (option.kind === 'flag') return check(label, help, now === 'on', (v) => setOption(name, v ? 'on' : 'off'));
  return entry(label, help, now, (v) => setOption(name, v));
}

const SLIDERS: Record<string, {min: number; max: number; step: number; name: string}> = {
  falloff: {min: 0, max: 1, step: 0.01, name: 'Hardness α'},
  smoothness: {min: 0.002, max: 0.2, step: 0.002, name: 'Smoothness'},
  threshold: {min: 0.01, max: 1, step: 0.01, name: 'Threshold'},
  power: {min: 0.2, max: 8, step: 0.1, name: 'Power'},
};
const SHAPES: Record<string, string> = {exponential: 'smoothness', 'cubic-hermite': 'threshold', linear: 'threshold', power: 'power'};

function drawRight() {
  if (!info || !opened) return;
  const method = options.find((o) => o.name === 'method')!;
  const shape = SHAPES[valueOf('falloff-law')] ?? 'falloff';
  const s = SLIDERS[shape];
  const shown = ['method', 'resolution', 'max-influences'];
  const more = options.filter((o) => !shown.includes(o.name) && o.name !== shape && suits(o));
  byId('right').replaceChildren(
    el('h2', {}, 'Bind'),
    choice('Method', method.help, method.choices, valueOf('method'), (v) => setOption('method', v)),
    el('p', {class: 'dim'}, el('small', {}, method.methods?.[valueOf('method')]?.summary ?? '')),
    choice('Resolution', helpOf('resolution'), ['32', '64', '128', '256', '512'], valueOf('resolution'),
           (v) => setOption('resolution', v)),
    choice('Joints per vertex', helpOf('max-influences'), ['1', '2', '3', '4', '5', '6', '7', '8'],
           valueOf('max-influences'), (v) => setOption('max-influences', v)),
    el('details', {}, el('summary', {}, 'More options'), ...more.map(fieldOf)),
    el('div', {class: 'row'},
       button(bound && !stale ? 'Bind again' : 'Bind', 'Compute weights (B)', () => void bind(), {class: 'primary grow', id: 'bind'})),
    ...(stale ? [el('p', {class: 'note'}, 'Options changed since: bind again to see what they do.')] : []),
    el('div', {id: 'result'}),
    el('h2', {}, 'Tune'),
    slider(s.name, helpOf(shape), s, Number(valueOf(shape)), (v) => setOption(shape, String(v), shape), () => history.settle()),
    ...(bound ? [] : [el('p', {class: 'dim'}, 'Moves the weights at once when the character is bound.')]),
    el('h2', {}, 'Pose'),
    el('div', {id: 'pose'}),
    el('h2', {}, 'Paint'),
    el('div', {id: 'brush'}),
    el('h2', {}, 'Export'),
    el('div', {class: 'row'},
       button('GLB', 'The file with its new weights, nothing else changed', () => void exportGlb(), {id: 'export', disabled: !rows}),
       button('Weights', 'Weights as JSON', () => void exportWeights(), {disabled: !rows}),
       button('Edits', 'What was changed by hand, for sinew bind --edits', exportEdits, {id: 'export-edits'}),
       button('Picture', 'The view as PNG', () => void exportPicture())),
    el('label', {htmlFor: 'command', class: 'dim'}, 'The same in a shell'),
    el('textarea', {id: 'command', rows: 4, readOnly: true, spellcheck: false}),
    el('div', {class: 'row'}, button('Copy', 'Copy the command', async () => {
      await navigator.clipboard?.writeText(byId<HTMLTextAreaElement>('command').value);
    })),
  );
  drawResult();
  drawPose();
  drawBrush();
  drawCommand();
}

function drawResult() {
  const box = document.getElementById('result');
  if (!box) return;
  if (!bound) {
    box.replaceChildren();
    return;
  }
  const {report, seconds} = bound;
  const lines: [string, string][] = [
    ['Reached by the method', `${(100 * report.coverage.share).toFixed(2)} %`],
    ['Seconds', seconds.toFixed(2)],
  ];
  if (report.voxels.leaves) lines.push(['Leaves of the volume', report.voxels.leaves.toLocaleString('en')]);
  if (difference && rows && opened?.ownRows) {
    const {mean, strongest} = agreement(difference, rows, opened.ownRows);
    lines.push(['Mean difference to the file', mean.toFixed(3)], ['Same strongest joint', `${(100 * strongest).toFixed(1)} %`]);
  }
  box.replaceChildren(
    el('dl', {class: 'numbers'}, ...lines.flatMap(([k, v]) => [el('dt', {}, k), el('dd', {}, v)])),
    ...[...report.warnings.filter((t: string) => !info!.warnings.includes(t)), ...editReport].map((t: string) => el('p', {class: 'dim'}, t)));
}

function drawPose() {
  const box = document.getElementById('pose');
  if (!box || !info || !opened) return;
  const named = opened.poses.map((p): [string, string] => [p.name, p.name]);
  const parts: HTMLElement[] = [
    choice('Pose', 'Poses made for this skeleton', [['', 'by hand'], ...named], '', (name) => {
      const found = opened!.poses.find((p) => p.name === name);
      if (!found) return;
      const turned: Record<number, [number, number, number, number]> = {};
      info!.joints.forEach((_, j) => {
        const q = found.pose.slice(j * 10, j * 10 + 4) as [number, number, number, number];
        if (q[3] !== 1) turned[j] = q;
      });
      setClip(-1);
      history.change({pose: turned});
    }),
  ];
  if (info.clips.length) {
    const clips = info.clips.map((c, i): [string, string] => [String(i), c.name || `animation ${i + 1}`]);
    parts.push(choice('Animation', 'The file’s own', [['-1', 'none'], ...clips], String(clip), (v) => setClip(Number(v))));
    if (clip >= 0) {
      const {start, end} = info.clips[clip];
      const scrub = slider('Time', 'Seconds', {min: start, max: end, step: (end - start) / 500 || 0.01}, clipTime, (t) => {
        clipTime = t;
        ask('pose');
      }, () => {});
      parts.push(scrub, el('div', {class: 'row'}, button(playing ? 'Stop' : 'Play', 'Play (Space)', togglePlay)));
    }
  }
  parts.push(
    choice('Skinning', 'How joints are blended', [['lbs', 'linear blend'], ['dqs', 'dual quaternion']], dual ? 'dqs' : 'lbs', (v) => {
      dual = v === 'dqs';
      ask('pose');
    }),
    el('div', {class: 'row'}, button('Bind pose', 'All joints as they were bound', () => {
      setClip(-1);
      if (Object.keys(history.doc.pose).length) history.change({pose: {}});
    })));
  box.replaceChildren(...parts);
}

function setClip(next: number) {
  if (clip === next) return;
  clip = next;
  playing = false;
  clipTime = clip >= 0 && info ? info.clips[clip].start : 0;
  view.setGizmo(tool === 'turn' && joint >= 0 && clip < 0);
  drawPose();
  ask('pose');
}

let lastFrame = 0;
function togglePlay() {
  if (clip < 0 || !info) return;
  playing = !playing;
  drawPose();
  lastFrame = performance.now();
  const step = (now: number) => {
    if (!playing || clip < 0 || !info) return;
    const {start, end} = info.clips[clip];
    clipTime += (now - lastFrame) / 1000;
    if (clipTime > end) clipTime = start;
    lastFrame = now;
    const scrub = document.querySelector<HTMLInputElement>('#pose input[type=range]');
    if (scrub) scrub.value = String(clipTime);
    ask('pose');
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

function drawBrush() {
  const box = document.getElementById('brush');
  if (!box || !info) return;
  if (!bound) {
    box.replaceChildren(el('p', {class: 'dim'}, 'Bind first: the brush changes what was bound.'));
    return;
  }
  const name = joint >= 0 ? info.joints[joint].name : null;
  const [low, high] = info.box;
  const size = Math.hypot(...low.map((x, k) => high[k] - x));
  const nameOf = (e: Edit) =>
    e.op === 'mirror' ? `mirror from ${e.from}` : e.op === 'smooth' ? 'smooth'
    : e.op === 'replace' ? `${e.joints} to ${e.with}` : `${e.op} ${e.value} ${e.joint}`;
  box.replaceChildren(
    el('p', {class: 'dim'}, tool !== 'paint' ? 'Take the tool Paint (P) to use the brush.'
                            : name ? `Drag over the character to change the weight of ${name}.` : 'Select a joint to paint.'),
    choice('Brush', 'What a stroke does', [['add', 'add'], ['set', 'set'], ['smooth', 'smooth']], brush.op, (v) => {
      brush.op = v as typeof brush.op;
      drawBrush();
    }),
    ...(brush.op === 'smooth' ? [] : [slider(brush.op === 'add' ? 'Adds' : 'Weight', 'Of the selected joint',
        {min: brush.op === 'add' ? -1 : 0, max: 1, step: 0.05}, brush.value, (v) => (brush.value = v), () => {})]),
    slider('Radius', 'In the units of the file', {min: size / 400, max: size / 8, step: size / 400},
           Number(brush.radius.toPrecision(3)), (v) => (brush.radius = v), () => {}),
    el('div', {class: 'row'}, ...(['left', 'right'] as const).map((side) =>
      button(`Mirror from ${side}`, `The other side gets what the ${side} has`, () =>
        history.change({edits: [...history.doc.edits, {op: 'mirror', from: side}]})))),
    el('ul', {id: 'edit-list'}, ...history.doc.edits.map((e, i) =>
      el('li', {}, el('span', {}, nameOf(e)), button('Remove', 'Takes this change away', () =>
        history.change({edits: history.doc.edits.filter((_, k) => k !== i)}))))),
  );
}

history.listen((doc, before) => {
  if (doc.edits !== before.edits) drawBrush();
  if (doc.pose !== before.pose && !view.turning) drawJoint();
});

// ---- export

async function drawCommand() {
  const box = document.getElementById('command') as HTMLTextAreaElement | null;
  if (!box || !file) return;
  const doc = history.doc;
  byId<HTMLButtonElement>('export-edits').disabled = !editsOf(doc);
  try {
    const words = await client.command(settingsOf(doc));
    box.value = commandLine(file.name, file.skeleton?.name, words, !!editsOf(doc));
  } catch (error) {
    showError(error);
  }
}
async function exportGlb() {
  try {
    const {bytes} = await client.saveGlb(settingsOf(history.doc));
    download(outputName(file!.name), bytes, 'model/gltf-binary');
  } catch (error) {
    showError(error);
  }
}
async function exportWeights() {
  try {
    download(file!.name.replace(/\.[^.]*$/, '') + '.weights.json', await client.saveWeights(), 'application/json');
  } catch (error) {
    showError(error);
  }
}
function exportEdits() {
  download(file!.name.replace(/\.[^.]*$/, '') + '.edits.json', editsOf(history.doc), 'application/json');
}
async function exportPicture() {
  const blob = await view.picture();
  if (blob) download(file!.name.replace(/\.[^.]*$/, '') + '.png', blob, 'image/png');
}

// ---- the pointer

const canvas = view.renderer.domElement;
let down: {x: number; y: number} | null = null;
let stroke: Sphere[] | null = null;

function paintAt(x: number, y: number) {
  const hit = view.surfaceAt(x, y);
  if (!hit || !stroke) return;
  const last = stroke[stroke.length - 1]?.sphere.center;
  if (last && Math.hypot(...last.map((c, k) => c - hit.bind[k])) < brush.radius / 3) return;
  stroke.push({sphere: {center: hit.bind, radius: brush.radius}});
  const select = [...stroke];
  const name = joint >= 0 ? info!.joints[joint].name : '';
  const edit: Edit = brush.op === 'smooth' ? {op: 'smooth', length: brush.radius, select}
                                           : {op: brush.op, joint: name, value: brush.value, select};
  const edits = history.doc.edits;
  history.change({edits: select.length > 1 ? [...edits.slice(0, -1), edit] : [...edits, edit]}, 'stroke');
}

canvas.addEventListener('pointerdown', (event) => {
  down = {x: event.clientX, y: event.clientY};
  if (tool !== 'paint' || event.button !== 0 || !bound || stale) return;
  if (brush.op !== 'smooth' && joint < 0) return;
  if (!view.surfaceAt(event.clientX, event.clientY)) return;  // beside the character: turn the view
  view.orbit.enabled = false;
  canvas.setPointerCapture(event.pointerId);
  history.settle();
  stroke = [];
  paintAt(event.clientX, event.clientY);
});
canvas.addEventListener('pointermove', (event) => {
  if (tool === 'paint') view.setBrush(event.clientX, event.clientY, brush.radius);
  if (stroke) paintAt(event.clientX, event.clientY);
});
const end = (event: PointerEvent) => {
  const click = down && Math.hypot(event.clientX - down.x, event.clientY - down.y) < 5;
  down = null;
  if (stroke) {
    stroke = null;
    history.settle();
    view.orbit.enabled = true;
    return;
  }
  if (!click || !info || view.turning || view.overGizmo) return;
  const found = view.jointAt(event.clientX, event.clientY);
  if (found >= 0) return selectJoint(found);
  const hit = view.surfaceAt(event.clientX, event.clientY);
  probed = hit ? hit.vertex : null;
  drawProbe();
};
canvas.addEventListener('pointerleave', () => view.setBrush(0, 0, null));
canvas.addEventListener('pointerup', end);
canvas.addEventListener('pointercancel', end);

view.onTurn = (turned, rotation, done) => {
  history.change({pose: {...history.doc.pose, [turned]: rotation}}, `turn ${turned}`);
  if (done) {
    history.settle();
    drawJoint();
  }
};

// ---- keys and theme

const KEYS: [string, string, () => void][] = [
  ['b', 'Bind', () => void bind()],
  ['v', 'Tool: look and select', () => setTool('look')],
  ['r', 'Tool: pose the selected joint', () => setTool('turn')],
  ['p', 'Tool: paint', () => bound && setTool('paint')],
  ['s', 'Skeleton on or off', toggleSkeleton],
  ['w', 'Wires on or off', toggleWire],
  ['f', 'See the whole character', () => view.frame()],
  [' ', 'Play the animation', togglePlay],
  ['Escape', 'Select nothing', () => selectJoint(-1)],
];
window.addEventListener('keydown', (event) => {
  const target = event.target as HTMLElement;
  if (target.closest('input:not([type=range], [type=checkbox]), textarea, select, dialog')) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.ctrlKey || event.metaKey) {
    if (key === 'z' || key === 'y') {
      event.preventDefault();
      if (key === 'y' || event.shiftKey) history.redo();
      else history.undo();
      drawPanels();
    } else if (key === 'o') {
      event.preventDefault();
      picker.click();
    }
    return;
  }
  if (event.altKey) return;
  if (key === '?') return byId<HTMLDialogElement>('keys').showModal();
  if (!opened) return;
  if (key === ' ' && target.closest('button, summary')) return;
  const number = Number(key);
  if (number >= 1 && number <= MODES.length && MODES[number - 1].can()) return void setMode(MODES[number - 1].mode);
  const found = KEYS.find(([k]) => k === key);
  if (!found) return;
  event.preventDefault();
  found[2]();
});
byId('keys').querySelector('dl')!.append(...[
  ...KEYS.map(([key, what]) => [key === ' ' ? 'Space' : key.length === 1 ? key.toUpperCase() : key, what]),
  [`1 … ${MODES.length}`, 'What the surface shows'],
  ['Ctrl Z', 'Undo'],
  ['Ctrl Shift Z', 'Redo'],
  ['Ctrl O', 'Open'],
].flatMap(([key, what]) => [el('dt', {}, el('kbd', {}, key)), el('dd', {}, what)]));
byId('help').addEventListener('click', () => byId<HTMLDialogElement>('keys').showModal());
byId('undo').addEventListener('click', () => {
  history.undo();
  drawPanels();
});
byId('redo').addEventListener('click', () => {
  history.redo();
  drawPanels();
});

function setTheme(theme: 'dark' | 'light') {
  document.documentElement.dataset.theme = theme;
  byId('theme').textContent = theme === 'dark' ? 'Light' : 'Dark';
  const style = getComputedStyle(document.documentElement);
  view.setBackground(style.getPropertyValue('--view').trim(), style.getPropertyValue('--view-line').trim());
}
let theme: 'dark' | 'light' = matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark';
byId('theme').addEventListener('click', () => setTheme((theme = theme === 'dark' ? 'light' : 'dark')));
setTheme(theme);

// ---- begin

(async () => {
  try {
    options = await client.options();
    groups = new Map(options.map((o) => [o.name, o.group]));
    document.documentElement.dataset.ready = 'yes';
    // `sinew studio FILE` serves the file beside the page.
    const query = new URLSearchParams(location.search);
    const asked = query.get('open');
    if (asked) {
      const bytes = async (path: string) => {
        const answer = await fetch(`./open/${path.split('/').map(encodeURIComponent).join('/')}`);
        if (!answer.ok) throw new Error(`${path} could not be read (${answer.status})`);
        return new Uint8Array(await answer.arrayBuffer());
      };
      const beside = await Promise.all(query.getAll('with').map(async (path) => ({path, bytes: await bytes(path)})));
      const skeleton = query.get('skeleton');
      await open({
        name: asked,
        bytes: await bytes(asked),
        ...(beside.length ? {beside} : {}),
        ...(skeleton ? {skeleton: {name: skeleton, bytes: await bytes(skeleton)}} : {}),
      });
    }
  } catch (error) {
    showError(error);
  }
})();

// For tests and measurements: what is shown, in numbers.
Object.assign(window, {
  studio: {
    state: () => ({
      vertices: info?.counts.vertices ?? 0, bound: !!bound, stale, working, mode, joint, doc: history.doc,
      seconds: bound?.seconds ?? 0, width: rows?.width ?? 0, frames: view.frameTimes(), rows,
    }),
    core: client as unknown as Core,
    handleAt: () => view.handleAt(),
  },
});



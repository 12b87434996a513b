// In the project of a stranger: results against the command line, errors, cancelling, memory.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {bind, bindArrays, clean, options, rig, SinewError, templates, version} from 'sinew-skin';

const read = (name) => readFileSync(name);
const json = (name) => JSON.parse(read(name).toString());
const refused = (status, words, work) => assert.rejects(work, (error) =>
  error instanceof SinewError && error.status === status && words.test(error.message) || assert.fail(`${error.status}: ${error.message}`));

// Where the time goes.
let last = Date.now();
const lap = (what) => {
  console.log(`${what}: ${((Date.now() - last) / 1000).toFixed(1)} s`);
  last = Date.now();
};

// Files, to the byte.
const camel = (name) => name.slice(2).replace(/-(.)/g, (_, c) => c.toUpperCase());
for (const {name, options: words, out} of json('cases.json')) {
  const given = {};
  for (let i = 0; i < words.length; i += 2) given[camel(words[i])] = words[i + 1];
  const binding = await bind(read(`${name}.glb`), given);
  assert.ok(Buffer.compare(Buffer.from(await binding.glb()), read(out)) === 0, `${name} ${words} differs from the command line`);
  binding.free();
}

// The animations of a skeleton, and what has no weights yet.
for (const [file, out] of [[{name: 'tube.obj', bytes: read('tube.obj'), skeleton: {name: 'clip.glb', bytes: read('clip.glb')}, withClips: true}, 'clip.out.glb'],
                           [{name: 'beside.glb', bytes: read('beside.glb'), onlyMissing: true}, 'beside.out.glb']]) {
  const binding = await bind(file);
  assert.ok(Buffer.compare(Buffer.from(await binding.glb()), read(out)) === 0, `${out} differs from the command line`);
  binding.free();
  const other = await bind({...file, withClips: false, onlyMissing: false});
  assert.ok(Buffer.compare(Buffer.from(await other.glb()), read(out)) !== 0, `${out}: the option does nothing`);
  other.free();
}
await refused('usage', /with_clips/, () => bind({name: 'tube.obj', bytes: read('tube.obj'), withClips: true}));

// FBX: a new one, and the same one with other weights.
for (const [name, out] of [['hero.glb', 'hero.fbx'], ['hero.fbx', 'hero.again.fbx']]) {
  const binding = await bind({name, bytes: read(name)}, {resolution: 64});
  assert.ok(Buffer.compare(Buffer.from(await binding.fbx()), read(out)) === 0, `${out} differs from the command line`);
  // Calls are answered in their order, although a module is loaded for the first.
  const [hard, soft] = await Promise.all([binding.fbx({falloff: 1}), binding.fbx({falloff: 0})]);
  assert.ok(Buffer.compare(Buffer.from(hard), Buffer.from(await binding.fbx({falloff: 1}))) === 0, 'two at once');
  assert.ok(Buffer.compare(Buffer.from(hard), Buffer.from(soft)) !== 0, 'two at once');
  binding.free();
}

lap('files');
// Other weights of a kept binding are those of a bind.
{
  const {options: words, out} = json('cases.json')[1];
  assert.equal(words[0], '--falloff');
  const binding = await bind(read('hero.glb'), {weightFormat: 'u8'});
  const other = await binding.glb({falloff: 0.8, maxInfluences: 2});
  assert.ok(Buffer.compare(Buffer.from(other), read(out)) === 0, 'weights of a kept binding');
  await refused('usage', /resolution needs another bind/, () => binding.weights({resolution: 64}));
  const {vertexCount, width, joints, weights} = await binding.weights();
  assert.equal(vertexCount, binding.report.counts.vertices);
  assert.equal(joints.length, vertexCount * width);
  for (let v = 0; v < vertexCount; ++v) {
    const sum = weights.subarray(v * width, (v + 1) * width).reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(sum - 1) < 1e-6);
  }
  binding.free();
  await refused('usage', /was freed/, () => binding.weights());
}

lap('kept binding');
// Progress is one fraction of the whole.
{
  const seen = [];
  const binding = await bindArrays(json('arrays.json'), {onProgress: (stage, done) => seen.push([stage, done])});
  binding.free();
  const done = seen.map(([, share]) => share);
  assert.ok(new Set(seen.map(([stage]) => stage)).size > 2 && done.at(-1) > 0.8 && done.at(-1) <= 1, `${seen}`);
  assert.deepEqual(done, [...done].sort((a, b) => a - b), 'it falls');
  await refused('usage', /edits and pose change weights/, () => bindArrays(json('arrays.json'), {edits: {edits: []}}));
}

// Arrays: the same weights as a file of them.
{
  const want = json('tube.weights.json');
  const arrays = json('arrays.json');
  const same = async (binding) => {
    const {width, joints, weights} = await binding.weights();
    want.vertices.forEach((row, v) => row.forEach(([joint, weight], k) => {
      assert.equal(binding.joints[joints[v * width + k]].name, want.joints[joint]);
      assert.equal(weights[v * width + k], Math.fround(weight));
    }));
    binding.free();
  };
  await same(await bindArrays(arrays));
  const {joints, ...mesh} = arrays;
  await same(await bindArrays({meshes: [{...mesh, positions: Float64Array.from(mesh.positions), faces: Uint16Array.from(mesh.faces), faceSizes: Array(mesh.faces.length / 3).fill(3)}], joints}));
  await same(await bind({name: 'tube.obj', bytes: read('tube.obj'), skeleton: {name: 'tube.json', bytes: read('tube.json')}}));
  await refused('usage', /three for each vertex/, () => bindArrays({...arrays, positions: [1, 2]}));
  await refused('usage', /its head has 2 numbers: it must have 3/, () => bindArrays({...arrays, joints: [{head: [0, 0]}]}));
  await refused('input', /vertex/, () => bindArrays({...arrays, faces: [0, 1, 99999]}));
  for (const parent of ['nonsense', '0', 0.5, -2, NaN])
    await refused('usage', /the parent of joint 1 is .*whole number from -1/, () => bindArrays({...arrays, joints: [arrays.joints[0], {...arrays.joints[1], parent}]}));
  await refused('usage', /corner 1 is "x"/, () => bindArrays({...arrays, faces: [0, 'x', 2]}));
  await refused('usage', /deforms is "no"/, () => bindArrays({...arrays, joints: arrays.joints.map((joint) => ({...joint, deforms: 'no'}))}));
  await refused('usage', /offsets must have 205/, () => bindArrays({...arrays, weights: {offsets: [0], joints: [], shares: []}}));
}

lap('arrays');
// Answers: where they are worth most, and the three edits that give them.
{
  const binding = await bindArrays(json('arrays.json'));
  const share = async (name, vertex, ...edits) => {
    const {width, joints, weights} = await binding.weights({edits: {edits}});
    for (let k = vertex * width; k < (vertex + 1) * width; ++k)
      if (weights[k] > 0 && binding.joints[joints[k]].name === name) return weights[k];
    return 0;
  };
  const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a} is not ${b}`);
  const asked = await binding.questions(3);
  assert.deepEqual([asked.length, new Set(asked.map(({vertex}) => vertex)).size], [3, 3]);
  for (const {kind, text, vertex, joints, point, line} of asked) {
    assert.ok(text.includes(`at vertex ${vertex}`) && text.includes(joints[0]) && point.length === 3, text);
    assert.equal(kind === 'border', line !== undefined, text);
  }
  const angles = {falloff: [{angles: [[0, 0.1], [90, 0.9]], joints: 'upper'}]};
  const turned = Float64Array.from(binding.joints.flatMap(({name}) => (name === 'upper' ? [Math.SQRT1_2, 0, 0, Math.SQRT1_2] : [0, 0, 0, 1]).concat([0, 0, 0, 1, 1, 1])));
  const all = async (options) => (await binding.weights(options)).weights;
  const [soft, hard] = await Promise.all([0.1, 0.9].map((value) => all({edits: {falloff: [{value, joints: 'upper'}]}})));
  assert.notDeepEqual(soft, hard);
  assert.deepEqual([await all({edits: angles}), await all({edits: angles, pose: turned})], [soft, hard], 'falloff by angle follows the pose');
  const pin = {op: 'pin', pins: [{vertex: 30, weights: {upper: 0.75, lower: 0.25}}]};
  near(await share('upper', 30, pin), 0.75);
  assert.ok((await share('upper', 42, pin)) > (await share('upper', 42)) + 0.1, 'a pin spreads');
  near(await share('upper', 3, {op: 'assign', joint: 'upper', select: {vertices: [3]}}), 1);
  assert.ok((await share('lower', 100, {op: 'border', joints: ['lower', 'upper'], shift: 0.1})) > (await share('lower', 100)) + 0.02, 'a border moves');
  const pinned = (...rows) => ({op: 'pin', pins: rows.map((weights) => ({vertex: 3, weights}))});
  const border = {op: 'border', joints: ['lower', 'upper'], shift: 0.1};
  for (const [message, ...edits] of [
    [/edit 1: pin: pins 1 and 2 are at one place and disagree/, pinned({upper: 1}, {lower: 1})],
    [/edit 1: pin: pin 1: weights must add up to 1, not to 0.5/, pinned({upper: 0.5})],
    [/edit 1: assign: the part at vertex 0 is 100 %/, {op: 'assign', joint: 'upper', parts: true, select: {vertices: [0]}}],
    [/edit 2: border: the joints 'lower' and 'upper' do not touch/, {op: 'set', joint: 'lower', value: 1}, border],
    [/edit 1: border/, {...border, joints: ['upper', 'upper']}],
  ])
    await refused('input', message, () => share('upper', 0, ...edits));
  const arrays = json('arrays.json'), vertices = arrays.positions.length / 3;
  const weights = {offsets: [...Array(vertices + 1).keys()], joints: Array.from({length: vertices}, (_, v) => v % 2), shares: Array(vertices).fill(1)};
  const joints = arrays.joints.map((joint) => (joint.name === 'upper' ? {...joint, deforms: false} : joint));
  const edited = async (more, edits) => (await bindArrays({...arrays, ...more})).weights({edits});
  await refused('input', /edit 1: pin: pin 1: the vertex 3 is locked/, () => edited({weights}, {lock: {select: {vertices: [3]}}, edits: [pinned({upper: 1})]}));
  await refused('input', /edit 1: pin: pin 1: the joint '.*' does not deform/, () => edited({joints}, {edits: [pinned({upper: 1})]}));
  binding.free();
}

lap('answers');
// A template skeleton for a mesh without one.
{
  const file = {name: 'tube.obj', bytes: read('tube.obj')};
  const placed = await rig(file, 'snake', 64);
  assert.deepEqual([placed.template, placed.joints, placed.limbs_expected], ['snake', 13, 2]);
  assert.ok(placed.confidence > 0 && placed.confidence <= 1, `fit ${placed.confidence}`);
  const binding = await bind({...file, skeleton: {bytes: placed.skeleton}});
  assert.equal(binding.joints.length, placed.joints);
  binding.free();
  assert.ok((await templates()).some(({name}) => name === 'biped'));
  await refused('usage', /did you mean 'snake'/, () => rig(file, 'snale'));
}

lap('templates');
// Weights of another program: the file that `sinew clean` writes.
{
  const {glb, weights, joints, cleaned} = await clean(read('noisy.glb'), {strength: 1.5, maxInfluences: 3});
  assert.ok(Buffer.compare(Buffer.from(glb), read('noisy.clean.glb')) === 0, 'clean differs from the command line');
  assert.deepEqual(cleaned, json('noisy.clean.json').cleaned);
  assert.ok(cleaned.filled > 0 && cleaned.change > 0);
  assert.equal(weights.joints.length, weights.vertexCount * weights.width);
  assert.equal(joints.length, 2);
  await refused('usage', /strength must be from 0 to 4/, () => clean(read('noisy.glb'), {strength: 5}));
  await refused('usage', /no weights to clean/, () => clean({name: 'tube.obj', bytes: read('tube.obj'), skeleton: {name: 'tube.json', bytes: read('tube.json')}}));
}

lap('clean');
// Errors have the sentences of the command line.
await refused('usage', /choose surface-heat.*did you mean 'surface-heat'/, () => bind(read('hero.glb'), {method: 'surface-heta'}));
await refused('usage', /there is no option 'fallof' \(did you mean 'falloff'/, () => bind(read('hero.glb'), {fallof: 1}));
await refused('usage', /does not read cooling/, () => bind(read('hero.glb'), {cooling: 9}));
await refused('input', /broken\.glb/, () => bind({name: 'broken.glb', bytes: new Uint8Array([1, 2, 3])}));
await refused('usage', /no skeleton/, () => bind({name: 'tube.obj', bytes: read('tube.obj')}));
await refused('usage', /bind takes/, () => bind('hero.glb'));
assert.match((await bind(read('robot.glb'), {method: 'closest-distance', exclude: ['Hnad']}).then((b) => (b.free(), b.warnings))).join(), /exclude: "Hnad" matches no joint/);
await refused('usage', /matches no joint/, () => bind(read('robot.glb'), {method: 'closest-distance', exclude: ['Hnad'], strict: true}));

lap('errors');
// Cancelling, before and during a bind; the program goes on.
{
  const control = new AbortController();
  await refused('cancelled', /cancelled/, () => bind(read('hero.glb'), {method: 'voxel-heat', resolution: 128, signal: control.signal, onProgress: () => control.abort()}));
  await refused('cancelled', /cancelled/, () => bind(read('hero.glb'), {signal: control.signal}));
}

lap('cancelling');
// Memory: what is freed comes back.
{
  const used = () => (globalThis.gc?.(), process.memoryUsage().rss / 2 ** 20);
  const once = async () => (await bindArrays(json('arrays.json'), {method: 'closest-distance'})).free();
  for (let i = 0; i < 3; ++i) await once();
  const before = used();
  for (let i = 0; i < 10; ++i) await once();
  const grown = used() - before;
  assert.ok(grown < 300, `10 freed binds keep ${grown} MB`);
  console.log(`10 freed binds changed the memory by ${grown.toFixed(0)} MB`);
}

assert.match(await version(), /^\d+\.\d+\.\d+/);
assert.ok((await options()).some(({name, value}) => name === 'method' && value === 'surface-heat'));
console.log(`files, arrays, errors, cancelling, memory`);

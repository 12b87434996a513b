// The package as a stranger gets it: npm pack, an empty project, npm install of the .tgz; then the examples of
// docs/javascript.md in node, results against the command line, errors, cancelling and memory.
//
//   node js/test/stranger.mjs PACKAGE.tgz          with node only, as make test-deep does
//   node js/test/stranger.mjs PACKAGE.tgz --all    also with node 18 and 20, three.js, Vite, and Chromium: make npm-test
//
// SINEW and SINEW_CHARACTERS name the programs, CHROMIUM the browser.
import {execFileSync} from 'node:child_process';
import {cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const sinew = process.env.SINEW ?? join(root, 'build/release/sinew');
const characters = process.env.SINEW_CHARACTERS ?? join(root, 'build/release/tests/characters/sinew_characters');
const [tgz] = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const all = process.argv.includes('--all');
const project = mkdtempSync(join(tmpdir(), 'sinew-npm-'));
process.on('exit', () => rmSync(project, {recursive: true, force: true}));

let failed = 0, passed = 0;
async function test(name, work) {
  const start = Date.now();
  try {
    const said = await work();
    console.log(`ok      ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)${said ? `: ${said}` : ''}`);
    ++passed;
  } catch (error) {
    console.log(`FAILED  ${name}: ${error.stdout ?? ''}${error.stderr ?? ''}${error.stack ?? error}`);
    ++failed;
  }
}
const run = (program, ...args) => execFileSync(program, args, {cwd: project, encoding: 'utf8', timeout: 600_000, stdio: ['ignore', 'pipe', 'pipe']});
/** A library that the tests of the page have; nothing is downloaded for it. */
const lend = (...names) => {
  for (const name of names) cpSync(join(root, 'web/node_modules', name), join(project, 'node_modules', name), {recursive: true, dereference: true});
};

writeFileSync(join(project, 'package.json'), '{"name": "stranger", "private": true, "type": "module"}');
await test('npm install', () => void run('npm', 'install', '--offline', '--omit=peer', '--no-audit', '--no-fund', '--loglevel=error', resolve(tgz)));
lend('three');
for (const [name, file] of [['biped', 'hero'], ['robot', 'robot']]) run(characters, name, `${file}.glb`);

const {compressed} = await import('../../web/test/draco.mjs');
writeFileSync(join(project, 'draco.glb'), await compressed(new Uint8Array(readFileSync(join(project, 'robot.glb')))));

// The examples of the page.
const page = readFileSync(join(root, 'docs/javascript.md'), 'utf8');
const examples = [...page.matchAll(/```(?:js|html)\n(?:\/\/|<!--) (\S+\.(?:mjs|html)).*\n([\s\S]*?)```/g)].map(([, name, text]) => ({name, text}));
for (const {name, text} of examples) writeFileSync(join(project, name), text);

for (const name of ['check.mjs', 'skins.mjs', 'types.ts']) cpSync(join(root, 'js/test', name), join(project, name));
const expected = (name, options) => {
  const out = `${name}.${options.join('')}.glb`.replace(/[^\w.-]/g, '');
  run(sinew, 'bind', `${name}.glb`, '-o', out, '--quiet', ...options);
  return out;
};

/** Everything that needs no browser, by one program of node. */
async function inNode(node, label) {
  for (const {name} of examples.filter((e) => e.name.endsWith('.mjs')))
    await test(`${label}: the example ${name}`, () => run(node, name).trim().split('\n').pop());
  await test(`${label}: results, errors, cancelling, memory`, () => run(node, 'check.mjs').trim().split('\n').join(', '));
}

const cases = [['hero', []], ['hero', ['--falloff', '0.8', '--max-influences', '2', '--weight-format', 'u8']],
               ['robot', ['--method', 'geodesic-voxel', '--resolution', '64', '--exclude', '*hand*']],
               ['draco', ['--method', 'closest-distance']]];
writeFileSync(join(project, 'cases.json'), JSON.stringify(cases.map(([name, options]) => ({name, options, out: expected(name, options)}))));
run(sinew, 'bind', 'hero.glb', '-o', 'hero.fbx', '--resolution', '64', '--quiet');
run(sinew, 'bind', 'hero.fbx', '-o', 'hero.again.fbx', '--resolution', '64', '--quiet');
// A mesh and a skeleton apart, and their weights as the command line has them.
const ring = (r) => Array.from({length: 12}, (_, s) => [0.25 * Math.cos(s * Math.PI / 6), r / 8, -0.25 * Math.sin(s * Math.PI / 6)].map(Math.fround));
const positions = Array.from({length: 17}, (_, r) => ring(r)).flat();
const faces = Array.from({length: 16 * 12}, (_, i) => {
  const [r, s] = [12 * Math.floor(i / 12), i % 12];
  return [[r + s, r + (s + 1) % 12, r + 12 + (s + 1) % 12], [r + s, r + 12 + (s + 1) % 12, r + 12 + s]];
}).flat();
const bones = [{name: 'lower', parent: -1, head: [0, 0, 0], tail: [0, 1, 0]}, {name: 'upper', parent: 0, head: [0, 1, 0], tail: [0, 2, 0]}];
writeFileSync(join(project, 'tube.obj'), [...positions.map((p) => `v ${p.join(' ')}`), ...faces.map((f) => `f ${f.map((i) => i + 1).join(' ')}`)].join('\n'));
writeFileSync(join(project, 'tube.json'), JSON.stringify({bones}));
run(sinew, 'bind', 'tube.obj', '--skeleton', 'tube.json', '-o', 'tube.glb', '--weights-json', 'tube.weights.json', '--quiet');
writeFileSync(join(project, 'arrays.json'), JSON.stringify({positions: positions.flat(), faces: faces.flat(), joints: bones}));

// Weights that need cleaning, and cleaned.
writeFileSync(join(project, 'spots.json'), JSON.stringify({edits: [{op: 'set', joint: 'upper', value: 1, select: {vertices: [30]}}]}));
run(sinew, 'apply', 'tube.glb', '--edits', 'spots.json', '-o', 'noisy.glb');
run(sinew, 'clean', 'noisy.glb', '-o', 'noisy.clean.glb', '--strength', '1.5', '--max-influences', '3', '--report', 'noisy.clean.json', '--quiet');

// A skeleton with a clip, and a mesh without a skin beside a skinned one.
{
  const file = readFileSync(join(project, 'tube.glb')), size = file.readUInt32LE(12);
  const pack = (json, bin) => {
    const text = Buffer.from(JSON.stringify(json)), pad = (b, fill) => Buffer.concat([b, Buffer.alloc((4 - b.length % 4) % 4, fill)]);
    const chunk = (b, kind) => Buffer.concat([Buffer.from(new Uint32Array([b.length, kind]).buffer), b]);
    const body = Buffer.concat([chunk(pad(text, ' '), 0x4e4f534a), chunk(pad(bin, 0), 0x004e4942)]);
    return Buffer.concat([Buffer.from(new Uint32Array([0x46546c67, 2, 12 + body.length]).buffer), body]);
  };
  const read = () => [JSON.parse(file.subarray(20, 20 + size)), file.subarray(28 + size)];
  const [clip, bin] = read(), keys = Buffer.from(new Float32Array([0, 1, 0, 0, 0, 1, 0, 0, 0.6, 0.8]).buffer);
  const at = clip.bufferViews.length, accessor = clip.accessors.length;
  const data = Buffer.concat([bin.subarray(0, clip.buffers[0].byteLength), Buffer.alloc((4 - clip.buffers[0].byteLength % 4) % 4), keys]);
  clip.bufferViews.push({buffer: 0, byteOffset: data.length - 40, byteLength: 8}, {buffer: 0, byteOffset: data.length - 32, byteLength: 32});
  clip.accessors.push({bufferView: at, componentType: 5126, count: 2, type: 'SCALAR', min: [0], max: [1]},
                      {bufferView: at + 1, componentType: 5126, count: 2, type: 'VEC4'});
  clip.buffers[0].byteLength = data.length;
  clip.animations = [{name: 'wave', samplers: [{input: accessor, output: accessor + 1}],
                      channels: [{sampler: 0, target: {node: clip.skins[0].joints[1], path: 'rotation'}}]}];
  writeFileSync(join(project, 'clip.glb'), pack(clip, data));
  const [beside, rest] = read();
  beside.scenes[0].nodes.push(beside.nodes.push({name: 'sleeve', mesh: 0}) - 1);
  writeFileSync(join(project, 'beside.glb'), pack(beside, rest));
  run(sinew, 'bind', 'tube.obj', '--skeleton', 'clip.glb', '--with-clips', '-o', 'clip.out.glb', '--quiet');
  run(sinew, 'bind', 'beside.glb', '--only-missing', '-o', 'beside.out.glb', '--quiet');
}

await inNode(process.execPath, `node ${process.versions.node}`);
await test('three.js: characters with several skins', () => run(process.execPath, 'skins.mjs').trim());
const corpus = process.env.SINEW_CORPUS ?? join(root, '../shared/corpus');
if (corpus && existsSync(corpus))
  await test('three.js: the corpus', () => run(process.execPath, 'skins.mjs', corpus).trim().split('\n').join(', '));
else console.log('skipped: three.js on real characters: there is no corpus (SINEW_CORPUS)');
await test('a wasm that is missing names its address', () => {
  const wasm = join(project, 'node_modules/sinew-skin/wasm/core.wasm');
  renameSync(wasm, `${wasm}.away`);
  try {
    writeFileSync(join(project, 'missing.mjs'), `import {version} from 'sinew-skin';
await version().catch((error) => console.log(error.status, error.message));`);
    const said = run(process.execPath, 'missing.mjs');
    if (!/^io the core could not be loaded from file:.*core\.wasm /.test(said)) throw new Error(said);
  } finally {
    renameSync(`${wasm}.away`, wasm);
  }
});
// The types have the options of the table.
writeFileSync(join(project, 'table.mjs'), `import {options} from 'sinew-skin'; console.log(JSON.stringify(await options()));`);
const values = ({name, kind, choices, value}) => kind === 'choice' ? choices : kind === 'flag' ? [true, false] :
  kind === 'range' ? [value.split(' ').map(Number)] : [...choices, Number.isNaN(Number(value)) ? 1 : Number(value)];
writeFileSync(join(project, 'table.ts'), `import type {BindOptions} from 'sinew-skin';\nexport const all: BindOptions[] = [\n` +
  JSON.parse(run(process.execPath, 'table.mjs')).flatMap((row) => values(row).map((value) =>
    `  {${row.name.replace(/-(.)/g, (_, c) => c.toUpperCase())}: ${JSON.stringify(value)}},\n`)).join('') + '];\n');
await test('types', () => {
  lend('@types/three', '@types/node', 'undici-types');
  // A project that checks the types of its libraries, too, has the types of three.js.
  run(process.execPath, join(root, 'web/node_modules/typescript/bin/tsc'), '--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--moduleResolution', 'nodenext',
      '--lib', 'es2022,dom,esnext.disposable', '--skipLibCheck', '--types', 'node', 'types.ts', 'table.ts');
});
if (all) await (await import('./browsers.mjs')).browsers({project, root, test, run, lend, inNode, expected});
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;

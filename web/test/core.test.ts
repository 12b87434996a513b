// The core as WebAssembly, in node: the same bytes as from the command line. Needs `make web` and a built program
// (SINEW and SINEW_CHARACTERS name the programs); otherwise it reports the missing part.
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {beforeAll, describe, expect, it} from 'vitest';
import {compressed, decoder} from './draco.mjs';
import {fbxWorker} from '../../js/src/fbx';
import {resolutionOf} from '../src/volume';
import {Core, SinewError, type CoreModule, type Early, type Format, type OpenFile, type Settings, settingsThatAreRead} from 'sinew-skin';
import {EMPTY, animationOf, poseNumbers} from '../src/store';
import {NO_TRACK, poseAt} from '../src/track';
import type {Quaternion} from '../src/handle';

const built = join(__dirname, process.env.SINEW_WEB === 'quick' ? '../../build/web-quick/web/core' : '../../build/web/web/core');
const sinew = process.env.SINEW ?? join(__dirname, '../../build/release/sinew');
const characters = process.env.SINEW_CHARACTERS ?? join(__dirname, '../../build/release/tests/characters/sinew_characters');
const missing = [join(built, 'core.mjs'), sinew, characters].filter((f) => !existsSync(f));
const at = mkdtempSync(join(tmpdir(), 'sinew-core-'));

let core: Core;
const load = (name: string): OpenFile => ({name, bytes: new Uint8Array(readFileSync(join(at, name)))});
const quiet = () => {};

/** Expects no error and no warning of the Khronos validator; does nothing if it is not installed. */
async function validated(bytes: Uint8Array) {
  const path = join(__dirname, '../../tests/node_modules/gltf-validator/index.js');
  if (!existsSync(path)) return;
  const {default: validator} = await import(/* @vite-ignore */ path);
  const {issues} = await validator.validateBytes(bytes, {maxIssues: 0});
  expect(issues.messages.filter((m: {severity: number}) => m.severity < 2)).toEqual([]);
}

describe.skipIf(missing.length > 0)(`core${missing.length ? ` (skipped: there is no ${missing.join(', ')})` : ''}`, () => {
  beforeAll(async () => {
    const {default: create} = await import(/* @vite-ignore */ join(built, 'core.mjs'));
    const wasmBinary = readFileSync(join(built, 'core.wasm'));
    core = new Core((await create({wasmBinary})) as CoreModule, undefined, true);
    for (const name of ['biped', 'caped', 'quadruped', 'robot'])
      execFileSync(characters, [name, join(at, `${name}.glb`)]);
  });

  const bindByCommand = (input: string, settings: Settings, edits = '', format = 'glb'): Uint8Array => {
    const out = join(at, `command.${format}`);
    // The page keeps settings that the method does not read, and does not use them; the command line refuses them.
    const words = settingsThatAreRead(core.options(), settings).flatMap(([name, value]) => [`--${name}`, value]);
    if (edits) {
      writeFileSync(join(at, 'edits.json'), edits);
      words.push('--edits', join(at, 'edits.json'));
    }
    execFileSync(sinew, ['bind', join(at, input), '-o', out, '--quiet', ...words]);
    return new Uint8Array(readFileSync(out));
  };
  const bindHere = (input: string, settings: Settings, edits = ''): Uint8Array => {
    core.open(load(input));
    core.bind(settings, quiet);
    core.weigh(settings, edits);
    return core.save('glb', settings).bytes;
  };
  const same = (a: Uint8Array, b: Uint8Array) => Buffer.compare(Buffer.from(a), Buffer.from(b)) === 0;

  const cases: [string, Settings][] = [
    ['biped.glb', []],
    ['caped.glb', [['resolution', '64'], ['falloff', '0.4'], ['max-influences', '8']]],
    ['quadruped.glb', [['resolution', '128'], ['weight-format', 'u16']]],
    ['robot.glb', [['method', 'closest-distance'], ['limit-rule', 'cut'], ['weight-format', 'u8']]],
    ['biped.glb', [['method', 'mesh-geodesic']]],
    ...['bone-heat', 'surface-heat', 'voxel-heat', 'bounded-biharmonic', 'connectivity', 'closest-hierarchy'].map(
      (method): [string, Settings] => ['robot.glb', [['method', method], ['resolution', '64']]],
    ),
    ['caped.glb', [['resolution', '64'], ['deform-from', 'names'], ['exclude', 'cape_*']]],
  ];
  for (const [input, settings] of cases)
    it(`writes what sinew bind writes: ${input} ${settings.flat().join(' ')}`, () => {
      expect(same(bindHere(input, settings), bindByCommand(input, settings))).toBe(true);
    }, 60000);

  it('places the templates of sinew rig', () => {
    expect(core.templates().map(({name}) => name)).toContain('quadruped');
    // The mesh of a character, whose own joints do not matter.
    const {positions, triangles} = core.open(load('quadruped.glb'));
    const lines: string[] = [];
    for (let v = 0; v < positions.length; v += 3) lines.push(`v ${[...positions.subarray(v, v + 3)].join(' ')}`);
    for (let t = 0; t < triangles.length; t += 3) lines.push(`f ${[...triangles.subarray(t, t + 3)].map((c) => c + 1).join(' ')}`);
    writeFileSync(join(at, 'dog.obj'), lines.join('\n'));
    const skeleton = join(at, 'dog.json');
    const said = JSON.parse(execFileSync(sinew, ['rig', join(at, 'dog.obj'), '--template', 'quadruped', '-o', skeleton, '--json']).toString());
    const {bare} = core.open(load('dog.obj'));
    expect(bare).toBe(true);
    const {skeleton: bytes, ...report} = core.rig('quadruped');
    expect(new TextDecoder().decode(bytes)).toBe(readFileSync(skeleton, 'utf8'));
    for (const [key, value] of Object.entries(report)) expect(value).toEqual(said[key]);
    expect(Object.keys(report).length).toBe(7);
    expect(() => core.rig('quadrupet')).toThrow(/did you mean 'quadruped'/);
  });

  it('has falloffs by angle in the pose that it is given', () => {
    core.open(load('biped.glb'));
    const settings: Settings = [['method', 'closest-distance']];
    core.bind(settings, quiet);
    const joint = core.describe(settings).joints.findIndex((j) => j.name === 'lower_leg_L');
    const count = core.describe(settings).joints.length;
    const numbers = new Float64Array(count * 10);
    for (let j = 0; j < count; ++j) numbers.set([0, 0, 0, 1, 0, 0, 0, 1, 1, 1], j * 10);
    numbers.set([Math.SQRT1_2, 0, 0, Math.SQRT1_2], joint * 10);
    const matrices = core.matricesOf({joints: numbers});
    const list = (falloff: object) => JSON.stringify({sinew: 'edits', falloff: [{...falloff, joints: 'lower_leg_L'}]});
    const shares = (edits: string, pose?: Float64Array) => core.weigh(settings, edits, undefined, pose).rows.shares;
    const angles = list({angles: [[0, 0.1], [90, 0.9]]});
    expect(shares(angles)).toEqual(shares(list({value: 0.1})));
    expect(shares(angles, matrices)).toEqual(shares(list({value: 0.9})));
    expect(shares(angles, matrices)).not.toEqual(shares(angles));
  });

  it('writes the file of sinew bind --edits', () => {
    const settings: Settings = [['resolution', '64']];
    core.open(load('biped.glb'));
    const {joints} = core.describe(settings);
    const name = joints.find((j) => j.deforms && /arm/i.test(j.name))!.name;
    const edits = JSON.stringify({
      sinew: 'edits',
      falloff: [{value: 0.7, joints: [name]}],
      edits: [
        {op: 'add', joint: name, value: 0.3, select: [{sphere: {center: [0, 1.2, 0], radius: 0.2}}]},
        {op: 'smooth', length: 0.03},
      ],
    });
    expect(same(bindHere('biped.glb', settings, edits), bindByCommand('biped.glb', settings, edits))).toBe(true);
    expect(core.weigh(settings, edits).report.length).toBe(2);
  }, 60000);

  it('gives strokes other weights below, like the command line with the whole list', () => {
    const settings: Settings = [['method', 'bone-heat']];
    const stroke = (y: number, op: object) => ({...op, select: {brush: {points: [[0, y, 0.1]], radius: 0.25, through: true}}});
    const edits = [
      stroke(1.2, {op: 'add', joint: 'spine', value: 0.3}), stroke(1.3, {op: 'smooth', length: 0.05}),
      stroke(0.9, {op: 'relax', steps: 3}), stroke(1.5, {op: 'sharpen'}),
    ];
    const list = (falloff: object[], more: object = {}) => JSON.stringify({sinew: 'edits', ...(falloff.length ? {falloff} : {}), ...more});
    core.open(load('biped.glb'));
    core.bind(settings, quiet);
    expect(core.rebase(settings, list([]), 0)).toBe(null);
    core.weigh(settings, '');
    for (const edit of edits) core.stroke(settings, '', JSON.stringify(edit), false);
    expect(core.rebase(settings, list([]), 3)).toBe(null);
    for (const value of [0.9, 0.4]) {
      const falloff = [{value, select: {box: [[-1, 1, -1], [1, 1.25, 1]]}}];
      const painted = core.rebase(settings, list(falloff), edits.length)!;
      expect(painted.vertices.length).toBeGreaterThan(100);
      expect(same(core.save('glb', settings).bytes, bindByCommand('biped.glb', settings, list(falloff, {edits})))).toBe(true);
    }
    core.unstroke();
    core.rebase(settings, list([]), edits.length - 1);
    expect(same(core.save('glb', settings).bytes, bindByCommand('biped.glb', settings, list([], {edits: edits.slice(0, 3)})))).toBe(true);
  });

  it('gives the same distances for another falloff without another bind', () => {
    core.open(load('quadruped.glb'));
    core.bind([['resolution', '64']], quiet);
    const soft = core.weigh([['falloff', '0']], '').rows;
    const hard = core.weigh([['falloff', '1']], '').rows;
    const first = (rows: typeof soft) => rows.shares.reduce((sum, w, i) => sum + (i % rows.width === 0 ? w : 0), 0);
    expect(first(hard)).toBeGreaterThan(first(soft));
  }, 60000);

  it('reports progress, and describes the character', () => {
    const {info, positions, triangles, poses} = core.open(load('biped.glb'));
    expect(positions.length).toBe(info.counts.vertices * 3);
    expect(triangles.length).toBe(info.counts.triangles * 3);
    expect(Math.max(...triangles)).toBeLessThan(info.counts.vertices);
    expect(poses.length).toBeGreaterThan(4);
    const stages = new Set<string>();
    core.bind([['resolution', '32']], (stage) => stages.add(stage));
    expect(stages.size).toBeGreaterThan(2);
  });

  it('gives the leaves of the volume, unless there are too many', () => {
    const {info} = core.open(load('robot.glb'));
    const leaves = core.volume([['resolution', '64']], 1e6)!;
    const {report} = core.bind([['resolution', '64']], quiet);
    expect(leaves.length).toBe(5 * report.voxels.leaves);
    const [low, high] = info.box;
    const room = 0.05 * (high[1] - low[1]);
    for (let i = 0; i < leaves.length; i += 5)
      for (let k = 0; k < 3; ++k) {
        expect(leaves[i + k]).toBeGreaterThan(low[k] - room);
        expect(leaves[i + k]).toBeLessThan(high[k] + room);
      }
    expect(core.volume([['resolution', '64']], 100)).toBe(null);
    expect(() => core.volume([['resolution', '63']], 100)).toThrow(/resolution/);
  });

  it('finds the defects that the command line counts', () => {
    for (const name of ['robot', 'caped']) {
      const {info} = core.open(load(`${name}.glb`));
      const {triangles, edges} = core.defects();
      expect(triangles.length).toBe(info.counts.triangles);
      const out = join(at, 'defects.glb');
      const said = JSON.parse(execFileSync(sinew, ['bind', join(at, `${name}.glb`), '-o', out, '--resolution', '32', '--intersections', '--json']).toString());
      expect(triangles.filter((t) => t === 1).length).toBe(said.defects.intersecting_triangles);
      const kinds = edges.filter((_, i) => i % 3 === 2);
      expect(kinds.filter((k) => k === 1).length).toBe(said.defects.boundary_edges);
      expect(kinds.filter((k) => k === 3).length).toBe(said.defects.nonmanifold_edges);
      expect(Math.max(...edges)).toBeLessThan(info.counts.vertices);
      expect(core.bind([['resolution', '32']], quiet).report.defects.intersecting_triangles).toBe(said.defects.intersecting_triangles);
    }
  }, 60000);

  it('stops on request, and keeps the previous binding', async () => {
    const {default: create} = await import(/* @vite-ignore */ join(built, 'core.mjs'));
    let wanted = false;
    const own = new Core((await create({wasmBinary: readFileSync(join(built, 'core.wasm'))})) as CoreModule, () => wanted, true);
    own.open(load('robot.glb'));
    own.bind([['resolution', '32']], quiet);
    const before = own.weigh([], '').rows.shares;
    wanted = true;
    expect(() => own.bind([['resolution', '128']], quiet)).toThrow(/cancel/);
    expect(own.weigh([], '').rows.shares).toEqual(before);
    wanted = false;
    own.bind([['resolution', '64']], quiet);
  });

  it('gives a first result, and then that of bind', async () => {
    const settings: Settings = [['method', 'geodesic-voxel'], ['resolution', '128']];
    const coarse: Settings = [['method', 'geodesic-voxel'], ['resolution', '64']];
    const {info} = core.open(load('robot.glb'));
    const still = new Float64Array(info.joints.flatMap(() => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]));
    const shown = {edits: '', matrices: still, dual: false, normals: false, beside: false};
    const early: Early[] = [];
    core.bind(settings, quiet, shown, (e) => early.push(e));
    const last = core.weigh(settings, '').rows;
    expect(early.length).toBe(1);
    expect(early[0].report.options.resolution).toBe(64);
    expect(early[0].posed!.positions.length).toBe(info.counts.vertices * 3);
    core.bind(coarse, quiet, shown, (e) => early.push(e));
    expect(early.length).toBe(1);
    expect(core.weigh(coarse, '').rows).toEqual(early[0].rows);
    core.bind(settings, quiet);
    expect(core.weigh(settings, '').rows).toEqual(last);
    expect(last).not.toEqual(early[0].rows);
    // An error in the listener does not stop the bind.
    core.bind(settings, quiet, {...shown, edits: '{'}, (e) => early.push(e));
    expect(core.weigh(settings, '').rows).toEqual(last);
    expect(early.length).toBe(1);
    // If the refinement is stopped, the first result is the binding.
    const {default: create} = await import(/* @vite-ignore */ join(built, 'core.mjs'));
    let wanted = false;
    const own = new Core((await create({wasmBinary: readFileSync(join(built, 'core.wasm'))})) as CoreModule, () => wanted, true);
    own.open(load('robot.glb'));
    expect(() => own.bind(settings, quiet, shown, () => (wanted = true))).toThrow(/cancel/);
    wanted = false;
    expect(own.weigh(coarse, '').rows).toEqual(early[0].rows);
  }, 60000);

  it('writes keys as an animation that plays the same poses', async () => {
    for (const [input, step] of [['biped.glb', false], ['quadruped.glb', true]] as const) {
      const {info, poses} = core.open(load(input));
      core.bind([['resolution', '32']], quiet);
      core.weigh([], '');
      const plain = core.save('glb', []).bytes;
      const turnsOf = (pose: number[]) => Object.fromEntries(info.joints.map((_, j) => [j, pose.slice(j * 10, j * 10 + 4) as Quaternion])
        .filter(([, q]) => (q as Quaternion)[3] !== 1));
      const track = {...NO_TRACK, name: 'mine', step, keys: [{time: 0.3, pose: {}}, ...poses.slice(0, 3).map((p, k) => ({time: 0.7 + k / 3, pose: turnsOf(p.pose)}))]};
      const joints = info.joints.length;
      const wanted = (time: number) => core.matricesOf({joints: poseNumbers(poseAt(track, time), joints)});
      const times = [0, 0.3, 0.55, 0.7, 0.8, 1.2, 1.36, 1.9, 2].map((time) => [time, wanted(time)] as const);
      const {bytes, notes} = core.save('glb', [], animationOf({...EMPTY, track}, joints));
      expect(notes).toEqual([]);
      expect(same(core.save('glb', []).bytes, plain)).toBe(true);
      await validated(bytes);
      const again = core.open({name: 'again.glb', bytes});
      expect(again.info.clips).toEqual([...info.clips, {name: 'mine', start: 0, end: 2}]);
      for (const [time, matrices] of times) {
        const found = core.matricesOf({clip: info.clips.length, time});
        expect(Math.max(...found.map((x, i) => Math.abs(x - matrices[i]))), `${input} at ${time}`).toBeLessThan(2e-6);
      }
    }
  }, 60000);

  it('poses: nothing moves in the bind pose, something in another', () => {
    const {info, positions, poses} = core.open(load('biped.glb'));
    core.bind([['resolution', '32']], quiet);
    core.weigh([], '');
    const flat = new Float64Array(info.joints.flatMap(() => [0, 0, 0, 1, 0, 0, 0, 1, 1, 1]));
    const still = core.deform(core.matricesOf({joints: flat}), false, false)!.positions;
    expect(Buffer.compare(Buffer.from(still.buffer), Buffer.from(positions.buffer))).toBe(0);
    for (const dual of [false, true]) {
      const moved = core.deform(core.matricesOf({joints: new Float64Array(poses[0].pose)}), dual, false)!.positions;
      expect(Math.max(...moved.map((x, i) => Math.abs(x - positions[i])))).toBeGreaterThan(0.1);
    }
  });

  it('gives the numbers of sinew compare', () => {
    const out = join(at, 'own.glb'), other = join(at, 'other.glb');
    writeFileSync(out, bindByCommand('robot.glb', [['resolution', '64']]));
    core.open(load('own.glb'));
    expect(() => core.compare()).toThrow(/bind/);
    const settings: Settings = [['method', 'closest-distance']];
    core.bind(settings, quiet);
    core.weigh(settings, '');
    writeFileSync(other, core.save('glb', settings).bytes);
    const said = JSON.parse(String(execFileSync(sinew, ['compare', out, other, '--json'])));
    const found = core.compare();
    const near = (a: unknown, b: unknown, where: string) => {
      if (typeof a === 'number') expect(a, where).toBeCloseTo(b as number, 5);
      else for (const [key, value] of Object.entries(a as object)) near(value, (b as Record<string, unknown>)[key], `${where}.${key}`);
    };
    near(found, said, '');
    expect(found.l1.mean).toBeGreaterThan(0.01);
    expect(found.deformation.standard.poses).toBeGreaterThan(2);
    core.weigh(settings, JSON.stringify({sinew: 'edits', lock: {joints: core.describe([]).joints.map((j) => j.name)}}));
    expect(core.compare().l1.max).toBeLessThan(1e-6);
  }, 60000);

  it('chooses and reports the resolution like sinew bind', () => {
    const settings: Settings = [['resolution', 'auto']];
    expect(same(bindHere('biped.glb', settings), bindByCommand('biped.glb', settings))).toBe(true);
    const {report} = core.bind(settings, quiet);
    expect(report.options.resolution_reason).toMatch(/a voxel is/);
    const {resolution, local_resolution: local} = report.options;
    expect(resolutionOf(core.volume(settings, 1e7)!)).toBe(local ? 2 * resolution : resolution);
    expect(core.command(settings)).toBe('--resolution auto');
  }, 60000);

  it('keeps the open character if another file is damaged, and reports the error', () => {
    const {info} = core.open(load('robot.glb'));
    const cut = load('biped.glb').bytes.slice(0, 5000);
    expect(() => core.open({name: 'cut.glb', bytes: cut})).toThrow(/^cut\.glb: /);
    expect(() => core.open({name: 'x.obj', bytes: new TextEncoder().encode('v 0 0 0\n')})).toThrow(/skeleton/);
    expect(core.describe([]).counts.vertices).toBe(info.counts.vertices);
    expect(() => core.bind([['falloff', 'soft']], quiet)).toThrow(SinewError);
    expect(() => core.bind([['resolution', '100']], quiet)).toThrow(/power of two|32/);
  });

  it('writes the file of sinew bind for a character compressed with Draco', async () => {
    const {default: create} = await import(/* @vite-ignore */ join(built, 'core.mjs'));
    const made = (await create({wasmBinary: readFileSync(join(built, 'core.wasm'))})) as CoreModule;
    const own = new Core(made, undefined, true);
    const settings: Settings = [['resolution', '64']];
    const glb = await compressed(readFileSync(join(at, 'caped.glb')));
    writeFileSync(join(at, 'draco.glb'), glb);
    const bytes = new Uint8Array(glb);
    expect(() => own.open({name: 'draco.glb', bytes})).toThrow(/^draco\.glb: .*the decoder is not there/);
    made.draco = await decoder();
    own.open({name: 'draco.glb', bytes});
    own.bind(settings, quiet);
    own.weigh(settings, '');
    expect(same(own.save('glb', settings).bytes, bindByCommand('draco.glb', settings))).toBe(true);

    // Damaged data, and an accessor with another count: an error each, after which the decoder still works.
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(12, true);
    const json = JSON.parse(new TextDecoder().decode(bytes.slice(20, 20 + length)));
    const {bufferView} = json.meshes[0].primitives[0].extensions.KHR_draco_mesh_compression;
    for (const [place, to] of [[0, 65], [9, 255], [200, 7], [2000, 99]]) {
      const damaged = bytes.slice();
      damaged[28 + length + json.bufferViews[bufferView].byteOffset + place] = to;
      try {
        own.open({name: 'damaged.glb', bytes: damaged});
      } catch (error) {
        expect(error).toBeInstanceOf(SinewError);
      }
    }
    const head = (text: string) => new TextEncoder().encode(text.padEnd(length));
    const wrong = bytes.slice();
    wrong.set(head(JSON.stringify(json).replace('"type":"VEC3"', '"type":"VEC9"')), 20);
    expect(() => own.open({name: 'wrong.glb', bytes: wrong})).toThrow(/wrong\.glb/);
    own.open({name: 'draco.glb', bytes});
  }, 60000);

  it('reads and writes FBX as sinew bind does, by a module of its own', async () => {
    const script = (path: string) => import(/* @vite-ignore */ path);
    const {default: create} = await script(join(built, 'core.mjs'));
    const made = (await create({wasmBinary: readFileSync(join(built, 'core.wasm'))})) as CoreModule;
    const own = new Core(made, undefined, true);
    const settings: Settings = [['resolution', '64']];
    execFileSync(sinew, ['bind', join(at, 'caped.glb'), '-o', join(at, 'caped.fbx'), '--quiet', '--resolution', '32']);
    const bytes = new Uint8Array(readFileSync(join(at, 'caped.fbx')));
    const open = () => own.open({name: 'caped.fbx', bytes});
    expect(open).toThrow(/^caped\.fbx: the reader of FBX is not there/);
    const {default: createFbx} = await script(join(built, 'fbx.mjs'));
    const {unzlibSync} = await script(join(__dirname, '../node_modules/three/examples/jsm/libs/fflate.module.js'));
    made.fbx = fbxWorker(await createFbx({wasmBinary: readFileSync(join(built, 'fbx.wasm')), inflate: unzlibSync}));
    const expectSame = (input: string, with_: Settings, format: Format) => {
      own.bind(with_, quiet);
      own.weigh(with_, '');
      const {bytes, notes} = own.save(format, with_);
      expect(notes).toEqual([]);
      expect(same(bytes, bindByCommand(input, with_, '', format))).toBe(true);
    };
    open();
    expectSame('caped.fbx', settings, 'glb');
    expectSame('caped.fbx', settings, 'fbx');
    // A key moves joints, so the file is made anew.
    const track = {...NO_TRACK, name: 'mine', keys: [{time: 1, pose: {0: [0, 0, 1, 0] as Quaternion}}]};
    const joints = own.describe(settings).joints.length;
    expect(own.save('fbx', settings, animationOf({...EMPTY, track}, joints)).notes.join()).toMatch(/written anew/);
    for (const name of ['biped', 'robot', 'quadruped']) {
      own.open(load(`${name}.glb`));
      expectSame(`${name}.glb`, [...settings, ['fbx-unit', name === 'biped' ? 'm' : 'cm']], 'fbx');
    }
    made.fbx = undefined;
    expect(() => own.save('fbx', settings)).toThrow(/reader of FBX is not there/);
    made.fbx = fbxWorker(await createFbx({wasmBinary: readFileSync(join(built, 'fbx.wasm')), inflate: unzlibSync}));
    for (const size of [30, bytes.length >> 1])
      expect(() => own.open({name: 'cut.fbx', bytes: bytes.slice(0, size)})).toThrow(/^cut\.fbx: .*byte/);
    open();
  }, 60000);

  it('opens a mesh with its skeleton, and a glTF with its files', () => {
    const obj = new TextEncoder().encode(
      'v 0 0 0\nv 0.2 0 0\nv 0.2 0 0.2\nv 0 0 0.2\nv 0 1 0\nv 0.2 1 0\nv 0.2 1 0.2\nv 0 1 0.2\n' +
      'f 1 2 3 4\nf 8 7 6 5\nf 1 5 6 2\nf 2 6 7 3\nf 3 7 8 4\nf 4 8 5 1\n');
    const bones = new TextEncoder().encode('{"bones":[{"name":"a","head":[0.1,0.1,0.1],"tail":[0.1,0.9,0.1]}]}');
    const {info} = core.open({name: 'bar.obj', bytes: obj, skeleton: {name: 'bar.json', bytes: bones}});
    expect(info.counts.joints).toBe(1);

    const bare = core.open({name: 'bar.obj', bytes: obj});
    expect(bare.bare).toBe(true);
    expect(bare.info.counts.vertices).toBe(8);

    const glb = load('robot.glb').bytes;
    const view = new DataView(glb.buffer, glb.byteOffset);
    const length = view.getUint32(12, true);
    const json = JSON.parse(new TextDecoder().decode(glb.slice(20, 20 + length)));
    json.buffers[0].uri = 'data/robot%20mesh.bin';
    const gltf = new TextEncoder().encode(JSON.stringify(json));
    const bin = glb.slice(28 + length);
    const apart = core.open({name: 'robot.gltf', bytes: gltf, beside: [{path: 'data/robot mesh.bin', bytes: bin}]});
    expect(apart.info.counts.vertices).toBeGreaterThan(100);
    expect(() => core.open({name: 'robot.gltf', bytes: gltf})).toThrow(/robot/);
  });
});

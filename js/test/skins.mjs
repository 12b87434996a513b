// In the project of a stranger: characters with several skins, as GLTFLoader makes them: a generated one,
// and those of the folder that is given.
import assert from 'node:assert/strict';
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import * as THREE from 'three';
import {GLTFLoader} from 'three/examples/jsm/loaders/GLTFLoader.js';
import {MeshoptDecoder} from 'three/examples/jsm/libs/meshopt_decoder.module.js';
import {bindSkinnedMesh} from 'sinew-skin/three';

globalThis.self ??= globalThis;  // GLTFLoader looks there for what browsers have

const pack = (json, bin) => {
  const text = Buffer.from(JSON.stringify(json)), pad = (b, fill) => Buffer.concat([b, Buffer.alloc((4 - b.length % 4) % 4, fill)]);
  const chunks = [[pad(text, ' '), 0x4e4f534a], [pad(bin, 0), 0x004e4942]].map(([b, kind]) => {
    const head = Buffer.alloc(8);
    head.writeUInt32LE(b.length, 0), head.writeUInt32LE(kind, 4);
    return Buffer.concat([head, b]);
  });
  const head = Buffer.from('glTF\x02\0\0\0\0\0\0\0', 'latin1');
  head.writeUInt32LE(12 + chunks[0].length + chunks[1].length, 8);
  return Buffer.concat([head, ...chunks]);
};

const jsonOf = (file) => JSON.parse(file.subarray(20, 20 + file.readUInt32LE(12)));

/** The meshes with skins of a file. Pictures are left out: node cannot decode them. */
async function load(file) {
  const json = jsonOf(file), bin = file.subarray(28 + file.readUInt32LE(12));
  for (const key of ['images', 'textures', 'materials', 'samplers', 'animations']) delete json[key];
  for (const mesh of json.meshes) for (const primitive of mesh.primitives) delete primitive.material, delete primitive.extensions;
  json.extensionsRequired = json.extensionsRequired?.filter((name) => !/texture|material/.test(name));
  const bytes = pack(json, bin);
  const loader = new GLTFLoader().setMeshoptDecoder(MeshoptDecoder);
  const {scene} = await loader.parseAsync(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), '');
  scene.updateMatrixWorld(true);
  const meshes = [];
  scene.traverse((one) => one.isSkinnedMesh && meshes.push(one));
  return {scene, meshes};
}

/** Two tubes on the chain hips, knee.l, foot.l below a node with a scale, each with its own skin: the second skin has the joints
 * foot.l, knee.l and toe, and its own space: turned, and larger. */
function twoSkins() {
  const parts = [], json = {asset: {version: '2.0'}, scene: 0, scenes: [{nodes: [0]}], bufferViews: [], accessors: [], buffers: [], meshes: [], skins: []};
  const add = (array, type, componentType) => {
    json.bufferViews.push({buffer: 0, byteOffset: parts.reduce((n, p) => n + p.length, 0), byteLength: array.byteLength});
    parts.push(Buffer.from(array.buffer));
    const width = {SCALAR: 1, VEC3: 3, VEC4: 4, MAT4: 16}[type];
    const range = type === 'VEC3' ? [Math.min, Math.max].map((f) => [0, 1, 2].map((k) => f(...array.filter((_, i) => i % 3 === k)))) : [];
    json.accessors.push({bufferView: json.accessors.length, componentType, count: array.length / width, type, min: range[0], max: range[1]});
    return json.accessors.length - 1;
  };
  json.nodes = [{name: 'armature', children: [1, 5, 6], scale: [0.01, 0.01, 0.01], rotation: [0.5, 0.5, 0.5, 0.5]},
                {name: 'hips', children: [2]}, {name: 'knee.l', translation: [0, 100, 0], children: [3]},
                {name: 'foot.l', translation: [0, 100, 0], children: [4]}, {name: 'toe', translation: [0, 100, 0]},
                {name: 'body', mesh: 0, skin: 0}, {name: 'boot', mesh: 1, skin: 1, translation: [3, 4, 5]}];
  const own = new THREE.Matrix4().makeRotationX(1).scale(new THREE.Vector3(7, 7, 7)).setPosition(1, 2, 3);
  [[[1, 2, 3], 0, 20, 25, new THREE.Matrix4()], [[3, 2, 4], 18, 36, 30, own]].forEach(([nodes, low, high, radius, space], m) => {
    const to = space.clone().invert(), positions = [], faces = [], joints = [], weights = [];
    for (let ring = low; ring <= high; ++ring)
      for (let s = 0; s < 8; ++s) {
        const angle = s * Math.PI / 4;
        positions.push(...new THREE.Vector3(radius * Math.cos(angle), 10 * ring, -radius * Math.sin(angle)).applyMatrix4(to).toArray());
        joints.push(nodes.indexOf(Math.max(Math.min(...nodes), Math.min(Math.max(...nodes), 1 + Math.floor(ring / 10)))), 0, 0, 0);
        weights.push(1, 0, 0, 0);
        const [a, b] = [8 * (ring - low) + s, 8 * (ring - low) + (s + 1) % 8];
        if (ring < high) faces.push(a, b, b + 8, a, b + 8, a + 8);
      }
    const inverses = nodes.flatMap((n) => new THREE.Matrix4().makeTranslation(0, -100 * (n - 1), 0).multiply(space).toArray());
    json.meshes.push({primitives: [{attributes: {POSITION: add(new Float32Array(positions), 'VEC3', 5126), JOINTS_0: add(new Uint16Array(joints), 'VEC4', 5123),
      WEIGHTS_0: add(new Float32Array(weights), 'VEC4', 5126)}, indices: add(new Uint16Array(faces), 'SCALAR', 5123)}]});
    json.skins.push({joints: nodes, inverseBindMatrices: add(new Float32Array(inverses), 'MAT4', 5126)});
  });
  const bin = Buffer.concat(parts);
  json.buffers.push({byteLength: bin.length});
  return pack(json, bin);
}

const shown = (meshes) => meshes.map((mesh) => {
  mesh.skeleton.update();
  return Array.from({length: mesh.geometry.getAttribute('position').count}, (_, v) => mesh.localToWorld(mesh.getVertexPosition(v, new THREE.Vector3())));
});

/** Puts the bones where the first skin that has them was bound: there, other weights move no vertex. */
function rest(scene, meshes) {
  const inverses = new Map(meshes.slice().reverse().flatMap(({skeleton}) => skeleton.bones.map((bone, j) => [bone, skeleton.boneInverses[j]])));
  scene.traverse((one) => {
    if (inverses.has(one)) {
      one.matrix.copy(inverses.get(one)).invert().premultiply(one.parent.matrixWorld.clone().invert());
      one.matrixAutoUpdate = false;
    }
    one.updateWorldMatrix(false, false);
  });
}

/** How far each mesh moves when it is bound anew, as a share of the size; the bones do not move. */
async function moved(file, options, atRest = (_scene, _meshes) => {}) {
  const {scene, meshes} = await load(file);
  atRest(scene, meshes);
  const before = shown(meshes), binding = await bindSkinnedMesh(meshes, meshes[0].skeleton, options);
  scene.updateMatrixWorld(true);
  const after = shown(meshes);
  const size = new THREE.Box3().setFromPoints(before.flat()).getSize(new THREE.Vector3()).length();
  return {binding, meshes, shares: before.map((points, m) => points.reduce((most, p, v) => Math.max(most, p.distanceTo(after[m][v])), 0) / size)};
}

{
  const {binding, meshes, shares} = await moved(twoSkins(), {});
  assert.ok(Math.max(...shares) < 1e-5, `two skins: at rest, vertices move by ${shares} of the size`);
  assert.deepEqual(binding.joints.map(({name}) => name), ['hips', 'knee.l', 'foot.l', 'toe']);
  assert.deepEqual(binding.joints.map(({parent}) => parent), [-1, 0, 1, 2]);
  binding.joints.forEach(({position}, j) => assert.ok(Math.hypot(position[0], position[1] - 100 * j, position[2]) < 1e-3, `joint ${j} is at ${position}`));
  // Both meshes follow a joint together: the boot's top ring lies inside the body's tube, 5 apart before and after.
  const apart = () => {
    const [body, boot] = shown(meshes);
    return body[8 * 18].distanceTo(boot[0]);
  };
  const before = apart();
  meshes[0].skeleton.bones[1].rotation.z = 0.7;
  meshes[0].parent.updateMatrixWorld(true);
  assert.ok(Math.abs(before - 0.05) < 1e-5 && apart() < 0.1, `the boot is ${before}, then ${apart()} apart from the leg`);
  binding.free();
}
for (const name of process.argv[2] ? readdirSync(process.argv[2], {recursive: true}).filter((n) => /\.(glb|vrm)$/.test(n)) : []) {
  const file = readFileSync(join(process.argv[2], name));
  if (new Set((jsonOf(file).nodes ?? []).filter((node) => node.skin !== undefined).map(({skin}) => skin)).size < 2) continue;
  const {meshes, binding, shares} = await moved(file, {method: 'closest-distance'}, rest);
  binding.free();
  const most = Math.max(...shares);
  assert.ok(most < 0.003, `${name}: at rest, vertices move by ${most} of the size`);
  console.log(`${name}: ${meshes.length} meshes moved by ${most.toExponential(1)}`);
}
console.log('at rest nothing moves');

// Poses FBX files as three.js reads them: node three.mjs THREE < jobs.json. A job is {fbx, turns: {name: 16 numbers, by
// columns}, out}; `out` gets x, y, z of each corner at rest and then posed, as floats.
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const three = (file) => import(pathToFileURL(`${process.argv[2]}/${file}`));
// Pictures are not looked at.
globalThis.window = globalThis;
globalThis.document = { createElementNS: () => ({ addEventListener() {}, removeEventListener() {} }) };
const { Matrix4, PropertyBinding, Vector3 } = await three('build/three.module.js');
const { FBXLoader } = await three('examples/jsm/loaders/FBXLoader.js');

function corners(root) {
  root.updateMatrixWorld(true);
  const out = [];
  const place = new Vector3();
  root.traverse((mesh) => {
    if (!mesh.isSkinnedMesh) return;
    mesh.skeleton.update();
    for (let v = 0; v < mesh.geometry.attributes.position.count; ++v) {
      mesh.getVertexPosition(v, place).applyMatrix4(mesh.matrixWorld);
      out.push(place.x, place.y, place.z);
    }
  });
  return out;
}

for (const { fbx, turns, out } of JSON.parse(readFileSync(0))) {
  const bytes = readFileSync(fbx);
  const root = new FBXLoader().parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), '');
  const rest = corners(root);
  for (const [name, turn] of Object.entries(turns)) {
    const joint = root.getObjectByName(PropertyBinding.sanitizeNodeName(name));
    joint.updateMatrix();
    joint.matrix.multiply(new Matrix4().fromArray(turn)).decompose(joint.position, joint.quaternion, joint.scale);
  }
  writeFileSync(out, new Float32Array([...rest, ...corners(root)]));
}

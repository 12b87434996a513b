// The Draco decoder and encoder of three.js, in node; and a character compressed with them.
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';

const folder = fileURLToPath(new URL('../node_modules/three/examples/jsm/libs/draco/gltf/', import.meta.url));
const load = (file, name, options) => new Promise((resolve) => {
  const create = new Function('require', '__dirname', `${readFileSync(folder + file, 'utf8')};return ${name}`)(createRequire(import.meta.url), folder);
  // The encoder has a "then" that resolves to itself: a promise would never settle.
  const onModuleLoaded = (module) => {
    delete module.then;
    resolve(module);
  };
  create({...options, onModuleLoaded});
});

export const decoder = () => load('draco_wasm_wrapper.js', 'DracoDecoderModule', {wasmBinary: readFileSync(folder + 'draco_decoder.wasm')});

/** A GLB with the positions, normals and triangles of all primitives compressed. */
export async function compressed(glb) {
  const [draco, reader] = await Promise.all([load('draco_encoder.js', 'DracoEncoderModule', {}), decoder()]);
  glb = Buffer.from(glb);
  const length = glb.readUInt32LE(12);
  const json = JSON.parse(glb.subarray(20, 20 + length));
  const binary = [glb.subarray(28 + length)];
  let size = binary[0].length;
  const read = (accessor, width) => {
    const {bufferView, byteOffset = 0, count, componentType} = json.accessors[accessor];
    const view = json.bufferViews[bufferView];
    const step = {5121: 1, 5123: 2, 5125: 4, 5126: 4}[componentType];
    const begin = (view.byteOffset ?? 0) + byteOffset, stride = view.byteStride ?? step * width;
    return Array.from({length: count * width}, (_, i) => {
      const at = begin + Math.floor(i / width) * stride + (i % width) * step;
      return componentType === 5126 ? binary[0].readFloatLE(at) : binary[0].readUIntLE(at, step);
    });
  };
  for (const {primitives} of json.meshes)
    for (const primitive of primitives) {
      const {POSITION, NORMAL} = primitive.attributes;
      const builder = new draco.MeshBuilder(), mesh = new draco.Mesh(), encoder = new draco.Encoder(), out = new draco.DracoInt8Array();
      const corners = read(primitive.indices, 1);
      builder.AddFacesToMesh(mesh, corners.length / 3, new Uint32Array(corners));
      const points = json.accessors[POSITION].count;
      const attributes = {POSITION: builder.AddFloatAttributeToMesh(mesh, draco.POSITION, points, 3, new Float32Array(read(POSITION, 3)))};
      if (NORMAL !== undefined)
        attributes.NORMAL = builder.AddFloatAttributeToMesh(mesh, draco.NORMAL, points, 3, new Float32Array(read(NORMAL, 3)));
      encoder.SetAttributeQuantization(draco.POSITION, 14);
      encoder.SetAttributeQuantization(draco.NORMAL, 10);
      const written = encoder.EncodeMeshToDracoBuffer(mesh, out);
      const bytes = Buffer.from(Array.from({length: written}, (_, i) => out.GetValue(i) & 255));
      // The encoder reorders points and may merge them.
      const again = new reader.Mesh();
      if (!new reader.Decoder().DecodeArrayToMesh(new Int8Array(bytes), bytes.length, again).ok()) throw new Error('Draco cannot read what it wrote');
      for (const accessor of Object.values(primitive.attributes)) {
        const a = json.accessors[accessor];
        if (![POSITION, NORMAL].includes(accessor)) throw new Error('an attribute would be lost');
        delete a.bufferView;
        delete a.byteOffset;
        a.count = again.num_points();
      }
      const indices = json.accessors[primitive.indices];
      delete indices.bufferView;
      delete indices.byteOffset;
      Object.assign(indices, {componentType: 5125, count: again.num_faces() * 3});
      json.bufferViews.push({buffer: 0, byteOffset: size, byteLength: bytes.length});
      primitive.extensions = {KHR_draco_mesh_compression: {bufferView: json.bufferViews.length - 1, attributes}};
      const padded = Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
      binary.push(padded);
      size += padded.length;
    }
  json.extensionsUsed = [...(json.extensionsUsed ?? []), 'KHR_draco_mesh_compression'];
  json.extensionsRequired = [...(json.extensionsRequired ?? []), 'KHR_draco_mesh_compression'];
  json.buffers[0].byteLength = size;
  const text = Buffer.from(JSON.stringify(json)), padded = Buffer.concat([text, Buffer.alloc(-text.length & 3, 32)]);
  const head = Buffer.alloc(20), chunk = Buffer.alloc(8);
  head.write('glTF');
  [2, 28 + padded.length + size, padded.length, 0x4e4f534a].forEach((n, i) => head.writeUInt32LE(n, 4 + 4 * i));
  [size, 0x004e4942].forEach((n, i) => chunk.writeUInt32LE(n, 4 * i));
  return Buffer.concat([head, padded, chunk, ...binary]);
}

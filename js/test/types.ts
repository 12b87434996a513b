// A program of a stranger that uses the types of the package.
import * as THREE from 'three';
import {bind, bindArrays, SinewError, type Binding, type BindOptions, type Weights} from 'sinew-skin';
import {applyWeights, bindSkinnedMesh} from 'sinew-skin/three';

const options: BindOptions = {method: 'geodesic-voxel', resolution: 'auto', onProgress: (stage: string, done: number) => void [stage, done]};
const binding: Binding = await bind(new Uint8Array(), options);
const weights: Weights = await binding.weights({falloff: 0.5});
const first: number = weights.weights[0] + weights.joints[0];
const other = await bindArrays({positions: [0, 0, 0], joints: [{head: [0, 0, 0]}]});
const mesh = new THREE.SkinnedMesh();
await applyWeights(mesh, await bindSkinnedMesh([mesh], new THREE.Skeleton([]), options), {falloff: first});
// @ts-expect-error: a misspelt option
await bind(new Uint8Array(), {fallof: 0.5});
// @ts-expect-error: a misspelt method
await bind(new Uint8Array(), {method: 'surface-haet'});
// @ts-expect-error: it needs another bind
await binding.weights({resolution: 64});
// @ts-expect-error: a number is no model
await bind(7);
// @ts-expect-error: the stage is a text
await bind(new Blob([]), {onProgress: (stage: number) => void stage});
try {
  other.free();
} catch (error) {
  if (error instanceof SinewError && error.status === 'cancelled') console.log(error.message);
}

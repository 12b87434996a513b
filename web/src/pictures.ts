// Pictures of the character: of the view, and small ones from other cameras, in other poses.
import * as THREE from 'three';
import type {Eye} from './eye';
import type {Figure} from './figure';
import type {Stage} from './stage';

export class Pictures {
  constructor(private readonly stage: Stage, private readonly figure: Figure, private readonly eye: Eye) {}

  png(): Promise<Blob | null> {
    const {stage} = this;
    if (stage.rough) stage.refine();
    stage.onPane(0);
    stage.renderer.render(stage.scene, stage.camera);
    return new Promise((resolve) => stage.renderer.domElement.toBlob(resolve, 'image/png'));
  }

  /** A small picture of the surface alone, as it is shown or in another pose; with `at`, of what is around one of these vertices; with
   * `here`, from the camera of the view. */
  thumbnail(width: number, height: number, {posed, at, here}: {posed?: Float32Array; at?: {among: readonly number[]; radius: number}; here?: boolean} = {}): ImageData {
    const {stage, figure} = this;
    const {scene, renderer} = stage;
    const camera = here ? (stage.camera.clone().clear() as THREE.PerspectiveCamera) : new THREE.PerspectiveCamera(stage.camera.fov, width / height);
    if (at) {
      this.eye.lookAt(at.among, at.radius, camera);
    } else if (!here) {
      const centre = figure.box().getCenter(new THREE.Vector3());
      const direction = new THREE.Vector3(0.35, 0.15, figure.away ? -1 : 1);
      const far = (0.58 * figure.size) / Math.tan((camera.fov * Math.PI) / 360);
      camera.near = far / 100;
      camera.far = far * 10;
      camera.position.copy(centre).add(direction.setLength(far));
      camera.lookAt(centre);
      camera.updateProjectionMatrix();
    }
    const light = new THREE.DirectionalLight(0xffffff, 1.6);
    light.position.set(1, 2, 3);
    camera.add(light);
    scene.add(camera);
    stage.onPane(0);
    const hidden = stage.extras.filter((part) => part.visible);
    for (const part of hidden) part.visible = false;
    const places = figure.surfaces[0].mesh.geometry.getAttribute('position') as THREE.BufferAttribute;
    const before = posed && (places.array as Float32Array).slice();
    const [slots, background] = [figure.rows.stop(!!posed), scene.background];
    scene.background = null;
    if (posed) {
      (places.array as Float32Array).set(posed);
      places.needsUpdate = true;
    }
    const target = new THREE.WebGLRenderTarget(2 * width, 2 * height);
    const opaque = renderer.getClearAlpha();
    renderer.setClearAlpha(0);
    renderer.setRenderTarget(target);
    renderer.clear();
    renderer.render(scene, camera);
    const pixels = new Uint8Array(16 * width * height);
    renderer.readRenderTargetPixels(target, 0, 0, 2 * width, 2 * height, pixels);
    renderer.setRenderTarget(null);
    renderer.setClearAlpha(opaque);
    target.dispose();
    if (before) {
      (places.array as Float32Array).set(before);
      places.needsUpdate = true;
    }
    figure.rows.resume(slots);
    scene.background = background;
    for (const part of hidden) part.visible = true;
    camera.removeFromParent();
    // Rows from the top, four pixels into one, and from linear light to that of screens.
    const out = new ImageData(width, height);
    for (let y = 0; y < height; ++y)
      for (let x = 0; x < width; ++x)
        for (let k = 0; k < 4; ++k) {
          const from = (row: number, column: number) => pixels[((2 * (height - 1 - y) + row) * 2 * width + 2 * x + column) * 4 + k] / 255;
          const mean = (from(0, 0) + from(0, 1) + from(1, 0) + from(1, 1)) / 4;
          out.data[(y * width + x) * 4 + k] = 255 * (k === 3 ? mean : mean <= 0.0031308 ? 12.92 * mean : 1.055 * mean ** (1 / 2.4) - 0.055);
        }
    stage.draw();
    return out;
  }
}

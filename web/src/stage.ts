// Where the character is drawn: the scene, the camera, one pane or two beside each other, and frames. Knows no character.
import * as THREE from 'three';
import {OrbitControls} from 'three/examples/jsm/controls/OrbitControls.js';

/** The scene from the camera, with its own surface. */
interface Pane {
  renderer: THREE.WebGLRenderer;
  orbit: OrbitControls;
}

/** Whether WebGL runs on the processor, without a graphics card. */
function drawsInSoftware(): boolean {
  const gl = document.createElement('canvas').getContext('webgl2');
  if (!gl) return false;
  const names = gl.getExtension('WEBGL_debug_renderer_info');
  const name = String(gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

const REST = 150;  // milliseconds without a new frame, after which a software renderer draws a better one
const FINE = 2;    // its pixels for each pixel of the rough one, along a side
/** The pixels of a rough frame for each one of the page: no more than the screen has. */
const roughRatio = () => Math.min(devicePixelRatio, 1);

export class Stage {
  /** Without a card, multisampling takes half of a frame, and the core skins faster than a shader: it computes a vertex once, and the
   * shader for each of its triangles. So frames that follow each other are rough, with fewer triangles of a large surface, and the last
   * one is drawn again with all of them and more pixels. */
  readonly software = drawsInSoftware();
  /** Whether the last frame was rough. */
  rough = false;
  /** Frames since the page was opened. */
  drawn = 0;
  /** Pixels covered at the upper edge: the character is framed below them. */
  covered = 0;
  readonly camera = new THREE.PerspectiveCamera(40, 1, 0.01, 1000);
  readonly scene = new THREE.Scene();
  /** Everything in bind space: its matrix leads to the world of the file. */
  readonly world = new THREE.Group();
  readonly grid = new THREE.Group();
  /** What is not the surface: pictures of the character leave it out. */
  readonly extras: THREE.Object3D[] = [this.grid];
  /** One, or the own view and that of the file's weights, which stands left of it. */
  readonly panes: Pane[] = [];
  /** Called after each frame. */
  readonly cameraListeners: (() => void)[] = [];
  /** The browser has taken the graphics context, or has given it back. */
  onLost: (lost: boolean) => void = () => {};
  /** Before a pane is drawn. */
  onPane: (pane: number) => void = () => {};
  /** In software, before a frame: whether it is not rough. */
  onFine: (fine: boolean) => void = () => {};
  /** In software: whether the processors are free for a better frame. */
  mayRefine: () => boolean = () => true;
  private wanted = true;
  private fitted = '';  // the size of the place
  private lastFrame = 0;
  private frames: number[] = [];

  constructor(private readonly place: HTMLElement) {
    this.addPane();
    const canvas = this.renderer.domElement;
    canvas.addEventListener('webglcontextlost', () => this.onLost(true));
    canvas.addEventListener('webglcontextrestored', () => {
      this.onLost(false);
      this.draw();
    });
    const key = new THREE.DirectionalLight(0xffffff, 1.6);
    key.position.set(1, 2, 3);
    this.camera.add(key);
    this.world.matrixAutoUpdate = false;
    this.scene.add(this.camera, new THREE.HemisphereLight(0xffffff, 0x8888a0, 1.5), this.grid, this.world);
    new ResizeObserver(() => this.resize()).observe(place);
    this.resize();
    const loop = (time: number) => {
      requestAnimationFrame(loop);
      if (!this.wanted) {
        if (this.rough && time - this.lastFrame > REST && this.mayRefine()) this.refine();
        return;
      }
      this.wanted = false;
      this.lastFrame = time;
      if (this.software) {
        this.setRatio(roughRatio());
        this.onFine(false);
        this.rough = true;
      }
      this.render();
      for (const listener of this.cameraListeners) listener();
      ++this.drawn;
      this.frames.push(time);
      if (this.frames.length > 120) this.frames.shift();
    };
    requestAnimationFrame(loop);
  }

  get renderer(): THREE.WebGLRenderer {
    return this.panes[0].renderer;
  }
  get orbit(): OrbitControls {
    return this.panes[0].orbit;
  }

  draw(): void {
    this.wanted = true;
  }

  private addPane() {
    const canvas = document.createElement('canvas');
    // An opaque picture costs less when the browser puts the page together. With a card, three.js asks for its own context.
    const context = this.software ? canvas.getContext('webgl2', {alpha: false, antialias: false, stencil: false}) : null;
    const renderer = new THREE.WebGLRenderer({canvas, antialias: true, ...(context ? {context} : {})});
    renderer.setPixelRatio(this.software ? roughRatio() : Math.min(devicePixelRatio, 2));
    this.place.prepend(canvas);
    const orbit = new OrbitControls(this.camera, canvas);
    if (this.panes.length) {
      orbit.target = this.orbit.target;
      this.orbit.update();  // the new controls have turned the camera to their own target
    }
    // The wheel zooms to the pointer, by a seventh for each step.
    orbit.zoomToCursor = true;
    orbit.zoomSpeed = 2.7;
    orbit.addEventListener('change', () => this.draw());
    this.panes.push({renderer, orbit});
  }
  /** A second pane, at the left of the first. */
  setBeside(on: boolean): void {
    if (on) {
      this.addPane();
    } else if (this.panes.length > 1) {
      const {renderer, orbit} = this.panes.pop()!;
      orbit.dispose();
      renderer.domElement.remove();
      renderer.dispose();
      renderer.forceContextLoss();
    }
    this.resize();
  }

  private setRatio(ratio: number) {
    for (const {renderer} of this.panes) if (renderer.getPixelRatio() !== ratio) renderer.setPixelRatio(ratio);
  }
  private render() {
    for (let pane = this.panes.length; pane-- > 0;) {
      this.onPane(pane);
      this.panes[pane].renderer.render(this.scene, this.camera);
    }
  }
  /** The last frame again, with more pixels and with the normals of the pose. */
  refine(): void {
    this.rough = false;
    this.onFine(true);
    this.setRatio(FINE * roughRatio());
    this.render();
  }

  /** The panes fill their place: by itself a frame later. */
  resize(): void {
    const {clientWidth, clientHeight: h} = this.place;
    const w = clientWidth / this.panes.length;
    this.fitted = `${clientWidth} ${h}`;
    if (!w || !h) return;
    for (const {renderer} of this.panes) renderer.setSize(w, h);
    this.camera.aspect = w / h;
    this.camera.updateProjectionMatrix();
    this.draw();
  }

  /** Whether they do. */
  get fits(): boolean {
    return this.fitted === `${this.place.clientWidth} ${this.place.clientHeight}`;
  }

  setBackground(colour: string, lines: string): void {
    this.scene.background = new THREE.Color(colour);
    for (const child of this.grid.children) ((child as THREE.LineSegments).material as THREE.LineBasicMaterial).color.set(lines);
    this.draw();
  }
  /** A grid on the ground below a box. */
  setGrid(box: THREE.Box3): void {
    const step = 10 ** Math.floor(Math.log10(box.getSize(new THREE.Vector3()).length() || 1));
    const grid = new THREE.GridHelper(step * 4, 16);
    grid.material.vertexColors = false;
    grid.material.transparent = true;
    grid.material.opacity = 0.35;
    const centre = box.getCenter(new THREE.Vector3());
    grid.position.set(centre.x, box.min.y, centre.z);
    this.grid.clear();
    this.grid.add(grid);
  }

  /** Whether the pointer rotates and zooms the panes. */
  setOrbit(on: boolean): void {
    for (const {orbit} of this.panes) orbit.enabled = on;
  }
  /** The right button turns the view, and does not move it. */
  turnByRight(on: boolean): void {
    for (const {orbit} of this.panes) orbit.mouseButtons.RIGHT = on && this.orbit.enableRotate ? THREE.MOUSE.ROTATE : THREE.MOUSE.PAN;
  }
  /** Whether dragging turns the view; otherwise it moves it. */
  setTurning(on: boolean): void {
    this.orbit.enableRotate = on;
    this.orbit.mouseButtons.LEFT = on ? THREE.MOUSE.ROTATE : THREE.MOUSE.PAN;
    this.orbit.touches.ONE = on ? THREE.TOUCH.ROTATE : THREE.TOUCH.PAN;
  }

  /** The pane at a position on the page. All panes have one camera. */
  paneAt(x: number): number {
    return this.panes.length > 1 && x < this.rect().left ? 1 : 0;
  }
  rect(pane = 0): DOMRect {
    return this.panes[pane].renderer.domElement.getBoundingClientRect();
  }
  /** Pixels of the pane's size. */
  get size(): {width: number; height: number} {
    const {clientWidth: width, clientHeight: height} = this.renderer.domElement;
    return {width, height};
  }
  /** A place of the world in pixels of a pane; the place becomes that in the picture, -1 to 1. */
  pixelAt(at: THREE.Vector3): {x: number; y: number} {
    this.camera.updateMatrixWorld();  // it may have moved since the last frame
    const {x, y} = at.project(this.camera);
    const {width, height} = this.size;
    return {x: ((x + 1) / 2) * width, y: ((1 - y) / 2) * height};
  }
  /** The length of a pixel at a place of the world. */
  pixelLength(at: THREE.Vector3): number {
    return (2 * this.camera.position.distanceTo(at) * Math.tan((this.camera.fov * Math.PI) / 360)) / this.size.height;
  }
  /** The ray of a position on the page. */
  rayAt(x: number, y: number): THREE.Raycaster {
    this.camera.updateMatrixWorld();
    const {left, top, width, height} = this.rect(this.paneAt(x));
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(((x - left) / width) * 2 - 1, 1 - ((y - top) / height) * 2), this.camera);
    return ray;
  }

  /** Whether a graphics card draws. */
  get card(): boolean {
    return !this.software;
  }
  /** Milliseconds between the last frames. */
  frameTimes(): number[] {
    return this.frames.slice(1).map((t, i) => t - this.frames[i]);
  }
}

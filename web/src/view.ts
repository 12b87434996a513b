// The character in three.js: surface, colours, skeleton, camera, picking. Independent of panels.
import * as THREE from 'three';
import {OrbitControls} from 'three/examples/jsm/controls/OrbitControls.js';
import {TransformControls} from 'three/examples/jsm/controls/TransformControls.js';
import {Bones} from './bones';
import {jointColours} from './colours';
import {Leaves, defectsOver, removeDefects} from './inside';
import {behind, lookOf, texturesOf} from './looks';
import type {Core, Defects, ModelInfo, Prop, Rows} from 'sinew-skin';
import {Overlay, type PlaceOf} from './overlay';
import {skinned, type OnEdges} from './places';
import {RaySurface} from './rays';
import {RowShader, setRows} from './rowshader';
import type {Crossing, Point} from './skeleton';

type Opened = ReturnType<Core['open']>;
export type Quaternion = [number, number, number, number];

interface Posed {
  positions: Float32Array;
  normals: Float32Array | null;
}

/** A second view of the same scene from the same camera, with another surface instead of the first. */
interface Beside {
  renderer: THREE.WebGLRenderer;
  orbit: OrbitControls;
  gizmo: TransformControls;
  mesh: THREE.Mesh;
  pick: RaySurface;
}

/** The wheel zooms to the pointer, by a seventh for each step. */
function wheelOf(orbit: OrbitControls) {
  orbit.zoomToCursor = true;
  orbit.zoomSpeed = 2.7;
}

const FROM = {corner: [0.35, 0.15, 1], front: [0, 0, 1], side: [1, 0, 0], top: [0, 1, 1e-4]} as const;
const THIN = 1e-4;  // of its size: a surface that is thinner lies in a plane

/** From where a surface that lies in a plane along the axes is seen; null for all others. */
function planeOf(box: THREE.Box3): 'front' | 'side' | 'top' | null {
  const sides = box.getSize(new THREE.Vector3()).toArray();
  const thinnest = sides.indexOf(Math.min(...sides));
  return sides[thinnest] <= THIN * Math.max(...sides) ? (['side', 'top', 'front'] as const)[thinnest] : null;
}

export interface Hit {
  vertex: number;
  /** The point of the surface under the pointer, in bind space. */
  bind: [number, number, number];
  /** The direction to the camera, turned as the surface is there from the pose to bind space. */
  facing: [number, number, number];
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
const FINE = 2;    // its pixels for each pixel of the screen, along a side

export class View {
  /** Without a card, multisampling takes half of a frame, and the core skins faster than a shader: it computes a vertex once, and the
   * shader for each of its triangles. So frames that follow each other are rough, and the last one is drawn again with more pixels. */
  private readonly software = drawsInSoftware();
  /** Whether the last frame was rough. */
  rough = false;
  /** From where the surface is seen, if it lies in a plane. */
  plane: ReturnType<typeof planeOf> = null;
  private lastFrame = 0;
  private staleNormals = false;
  readonly renderer: THREE.WebGLRenderer;
  readonly camera = new THREE.PerspectiveCamera(40, 1, 0.01, 1000);
  readonly scene = new THREE.Scene();
  readonly orbit: OrbitControls;
  private readonly gizmo: TransformControls;
  private readonly handle = new THREE.Object3D();
  private readonly grid = new THREE.Group();
  /** Everything in bind space: its matrix leads to the world of the file. */
  private readonly world = new THREE.Group();
  private away = false;  // the character looks along -z
  private mesh: THREE.Mesh | null = null;
  private pick: RaySurface | null = null;
  private readonly overlay = new Overlay();
  private readonly rows = new RowShader(!this.software);
  private width = 0;  // of the rows that are set; 0: none
  private geometry = new THREE.BufferGeometry();
  private bindPositions = new Float32Array();
  private bindNormals: Float32Array | null = null;
  private props: THREE.Mesh[] = [];  // meshes of the file without a skin
  private looks: THREE.Material[] = [];
  private plain: THREE.MeshLambertMaterial;
  private readonly bare = new THREE.MeshLambertMaterial({color: 0x8a8f99, side: THREE.DoubleSide});  // of what has no weights
  private bones: Bones | null = null;
  private readonly brush = new THREE.Group();  // a ring on the surface, and its middle
  private beside: Beside | null = null;
  private readonly leaves: Leaves;
  private shownRows: Rows | null = null;
  private defects: THREE.Group | null = null;  // over the surface, whose positions it shares
  private info: ModelInfo | null = null;
  private matrices: Float64Array | null = null;
  private skeletonShown = true;
  private thin = false;
  private palette = new Float32Array();
  private selected = -1;
  private smooth = false;
  private wanted = true;
  private size = 1;
  private frames: number[] = [];
  /** Frames since the page was opened. */
  drawn = 0;

  /** Pixels covered at the upper edge: frame() keeps the character below them. */
  covered = 0;

  /** A joint is rotated: its rotation along its own axes. `done`: the handle was released. */
  onTurn: (joint: number, rotation: Quaternion, done: boolean) => void = () => {};

  /** Called after each frame. */
  readonly cameraListeners: (() => void)[] = [];

  /** The browser has taken the graphics context, or has given it back. */
  onLost: (lost: boolean) => void = () => {};

  constructor(private readonly place: HTMLElement) {
    this.leaves = new Leaves(this.world);
    this.renderer = this.makeRenderer();
    place.append(this.renderer.domElement);
    this.renderer.domElement.addEventListener('webglcontextlost', () => this.onLost(true));
    this.renderer.domElement.addEventListener('webglcontextrestored', () => {
      this.onLost(false);
      this.draw();
    });
    this.plain = this.rows.patch(new THREE.MeshLambertMaterial({vertexColors: true, side: THREE.DoubleSide, ...behind(2)}));
    const key = new THREE.DirectionalLight(0xffffff, 1.6);
    key.position.set(1, 2, 3);
    this.camera.add(key);
    this.scene.add(this.camera, new THREE.HemisphereLight(0xffffff, 0x8888a0, 1.5), this.grid, this.handle, this.world);
    this.world.matrixAutoUpdate = false;
    const circle = new THREE.BufferGeometry().setFromPoints(
      Array.from({length: 64}, (_, i) => new THREE.Vector3(Math.cos((i * Math.PI) / 32), Math.sin((i * Math.PI) / 32), 0)));
    const ring = (colour: number, size: number) => {
      const line = new THREE.LineLoop(circle, new THREE.LineBasicMaterial({color: colour, depthTest: false, transparent: true}));
      line.scale.setScalar(size);
      line.renderOrder = 3;
      return line;
    };
    this.brush.add(ring(0xffffff, 1), ring(0x000000, 0.985), ring(0xffffff, 0.06));
    this.brush.visible = false;
    this.world.add(this.brush, this.overlay.group);

    this.orbit = new OrbitControls(this.camera, this.renderer.domElement);
    wheelOf(this.orbit);
    this.orbit.addEventListener('change', () => this.draw());
    this.gizmo = this.makeGizmo(this.renderer.domElement, this.orbit);

    new ResizeObserver(() => this.resize()).observe(place);
    this.resize();
    const loop = (time: number) => {
      requestAnimationFrame(loop);
      if (!this.wanted) {
        if (this.rough && time - this.lastFrame > REST) this.refine();
        return;
      }
      this.wanted = false;
      this.lastFrame = time;
      if (this.software) {
        this.setRatio(1);
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

  draw(): void {
    this.wanted = true;
  }

  private makeRenderer(): THREE.WebGLRenderer {
    const canvas = document.createElement('canvas');
    // An opaque picture costs less when the browser puts the page together. With a card, three.js asks for its own context.
    const context = this.software ? canvas.getContext('webgl2', {alpha: false, antialias: false, stencil: false}) : null;
    const renderer = new THREE.WebGLRenderer({canvas, antialias: true, ...(context ? {context} : {})});
    renderer.setPixelRatio(this.software ? 1 : Math.min(devicePixelRatio, 2));
    return renderer;
  }
  private setRatio(ratio: number) {
    for (const renderer of [this.renderer, ...(this.beside ? [this.beside.renderer] : [])])
      if (renderer.getPixelRatio() !== ratio) renderer.setPixelRatio(ratio);
  }
  /** The last frame again, with more pixels and with the normals of the pose. */
  private refine() {
    this.rough = false;
    if (this.staleNormals)
      for (const geometry of [this.geometry, ...(this.beside ? [this.beside.mesh.geometry] : [])]) geometry.computeVertexNormals();
    this.staleNormals = false;
    this.setRatio(FINE);
    this.render();
  }

  /** The handle that rotates the selected joint in this view. */
  private makeGizmo(element: HTMLElement, orbit: OrbitControls): TransformControls {
    const gizmo = new TransformControls(this.camera, element);
    gizmo.setMode('rotate');
    gizmo.setSpace('local');
    gizmo.setSize(0.7);
    this.scene.add(gizmo.getHelper());
    gizmo.addEventListener('change', () => this.draw());
    gizmo.addEventListener('dragging-changed', (event) => {
      orbit.enabled = !event.value;
      if (!event.value) this.turned(true);
    });
    gizmo.addEventListener('objectChange', () => this.turned(false));
    return gizmo;
  }
  private get gizmos(): TransformControls[] {
    return this.beside ? [this.gizmo, this.beside.gizmo] : [this.gizmo];
  }

  setBackground(colour: string, lines: string): void {
    this.scene.background = new THREE.Color(colour);
    for (const child of this.grid.children)
      ((child as THREE.LineSegments).material as THREE.LineBasicMaterial).color.set(lines);
    this.draw();
  }

  async show(opened: Opened, away = false): Promise<void> {
    this.clear();
    const {info} = opened;
    this.info = info;
    this.away = away;
    this.width = 0;
    this.rows.setMatrices(null, 0);
    const [a, b, c, d, e, f, g0, h, i, j, k, l] = opened.rest.toWorld;
    this.world.matrix.set(a, b, c, d, e, f, g0, h, i, j, k, l, 0, 0, 0, 1);
    this.world.updateMatrixWorld(true);
    this.bindPositions = opened.positions;
    this.bindNormals = opened.normals;
    this.smooth = !!opened.normals;
    const g = (this.geometry = new THREE.BufferGeometry());
    g.setAttribute('position', new THREE.BufferAttribute(opened.positions.slice(), 3));
    g.setAttribute('color', new THREE.BufferAttribute(new Float32Array(opened.positions.length).fill(0.5), 3));
    if (opened.uvs) g.setAttribute('uv', new THREE.BufferAttribute(opened.uvs, 2));
    g.setIndex(new THREE.BufferAttribute(opened.triangles, 1));
    if (opened.normals) g.setAttribute('normal', new THREE.BufferAttribute(opened.normals.slice(), 3));
    else g.computeVertexNormals();
    info.primitives.forEach((p) => g.addGroup(p.first_triangle * 3, p.triangle_count * 3, p.material + 1));
    g.boundingSphere = null;

    this.pick = new RaySurface(g);
    const box = this.box();
    this.size = box.getSize(new THREE.Vector3()).length() || 1;
    this.plane = planeOf(box);
    const textures = await texturesOf(opened);
    this.looks = [lookOf(undefined, []), ...info.materials.map((m) => lookOf(m, textures))];
    for (const look of this.looks) this.rows.patch(look);
    this.mesh = new THREE.Mesh(g, this.looks);
    this.mesh.frustumCulled = false;
    this.world.add(this.mesh);
    this.props = opened.props.map((prop, i) => this.propOf(prop, info.props[i]));
    this.palette = jointColours(info.joints.length);
    this.makeSkeleton();
    this.frame();
  }

  private propOf({positions, normals, uvs, triangles}: Prop, {joint, material}: ModelInfo['props'][0]): THREE.Mesh {
    const g = new THREE.BufferGeometry();
    g.setAttribute('position', new THREE.BufferAttribute(positions, 3));
    if (uvs) g.setAttribute('uv', new THREE.BufferAttribute(uvs, 2));
    g.setIndex(new THREE.BufferAttribute(triangles, 1));
    if (normals) g.setAttribute('normal', new THREE.BufferAttribute(normals, 3));
    else g.computeVertexNormals();
    // Not the material of the surface, which blends rows.
    const look = (this.looks[material + 1] ?? this.looks[0]).clone();
    look.onBeforeCompile = () => {};
    look.customProgramCacheKey = () => '';
    const mesh = new THREE.Mesh(g, look);
    mesh.frustumCulled = mesh.matrixAutoUpdate = false;
    mesh.userData = {joint, look: mesh.material};
    this.world.add(mesh);
    return mesh;
  }
  /** They move with their joints. */
  private placeProps() {
    for (const prop of this.props) {
      prop.matrix.copy(this.transformOf(prop.userData.joint));
      prop.matrixWorldNeedsUpdate = true;
    }
  }
  /** How many meshes without a skin are shown, and the pixels where the middle of the first is. */
  propsShown(): {count: number; at: {x: number; y: number}} {
    const shown = this.props.filter((p) => p.visible);
    shown[0]?.updateWorldMatrix(true, false);
    const middle = shown.length ? new THREE.Box3().setFromObject(shown[0]).getCenter(new THREE.Vector3()) : new THREE.Vector3();
    return {count: shown.length, at: this.pixelAt(middle)};
  }

  /** The box of the surface as it is shown, in the world. */
  private box(): THREE.Box3 {
    const box = new THREE.Box3();
    const positions = this.pick!.positions;
    const at = new THREE.Vector3();
    for (let v = 0; v < positions.count; ++v) {
      at.fromBufferAttribute(positions, v);
      if (Number.isFinite(at.x + at.y + at.z)) box.expandByPoint(at.applyMatrix4(this.world.matrix));
    }
    for (const prop of this.props) box.union(new THREE.Box3().setFromObject(prop));
    return box;
  }

  get colours(): Float32Array {
    return this.geometry.getAttribute('color').array as Float32Array;
  }
  get jointPalette(): Float32Array {
    return this.palette;
  }

  /** The same surface again, in the left view, with its own positions and colours. */
  setBeside(on: boolean): void {
    if (on === !!this.beside || !this.mesh) return;
    if (on) {
      const renderer = this.makeRenderer();
      this.place.prepend(renderer.domElement);
      const orbit = new OrbitControls(this.camera, renderer.domElement);
      orbit.target = this.orbit.target;
      this.orbit.update();  // the new controls have turned the camera to their own target
      wheelOf(orbit);
      orbit.addEventListener('change', () => this.draw());
      const geometry = new THREE.BufferGeometry();
      geometry.setIndex(this.geometry.getIndex());
      for (const [name, attribute] of Object.entries(this.geometry.attributes))
        geometry.setAttribute(name, name === 'uv' ? attribute : (attribute as THREE.BufferAttribute).clone());
      for (const {start, count, materialIndex} of this.geometry.groups) geometry.addGroup(start, count, materialIndex);
      const mesh = new THREE.Mesh(geometry, this.mesh.material);
      mesh.frustumCulled = mesh.visible = false;
      this.world.add(mesh);
      const gizmo = this.makeGizmo(renderer.domElement, orbit);
      gizmo.enabled = this.gizmo.enabled;
      if (this.gizmo.object) gizmo.attach(this.handle);
      this.beside = {renderer, orbit, gizmo, mesh, pick: new RaySurface(geometry)};
    } else if (this.beside) {
      const {renderer, orbit, gizmo, mesh} = this.beside;
      this.beside = null;
      gizmo.detach();
      this.scene.remove(gizmo.getHelper());
      gizmo.dispose();
      orbit.dispose();
      mesh.removeFromParent();
      mesh.geometry.dispose();
      renderer.domElement.remove();
      renderer.dispose();
      renderer.forceContextLoss();
    }
    this.resize();
  }
  get coloursBeside(): Float32Array | null {
    return (this.beside?.mesh.geometry.getAttribute('color').array as Float32Array | undefined) ?? null;
  }

  /** Each view shows its own surface and its own handle. */
  private render() {
    if (!this.beside || !this.mesh) return this.renderer.render(this.scene, this.camera);
    const {renderer, mesh, gizmo} = this.beside;
    const own = this.gizmo.getHelper(), other = gizmo.getHelper();
    const shown = [this.mesh.visible, own.visible, this.brush.visible, other.visible];
    other.visible = false;
    this.renderer.render(this.scene, this.camera);
    other.visible = shown[3];
    mesh.visible = this.mesh.visible;
    mesh.material = this.mesh.material;
    this.mesh.visible = own.visible = this.brush.visible = false;
    if (this.defects) this.defects.visible = false;  // it belongs to the other surface
    renderer.render(this.scene, this.camera);
    if (this.defects) this.defects.visible = true;
    mesh.visible = false;
    [this.mesh.visible, own.visible, this.brush.visible] = shown;
  }

  /** Shows the file's materials, or the colours in `colours`. */
  setSurface(look: boolean): void {
    if (!this.mesh) return;
    this.mesh.material = look ? this.looks : this.plain;
    for (const prop of this.props) prop.material = look ? prop.userData.look : this.bare;
    this.geometry.getAttribute('color').needsUpdate = true;
    if (this.beside) this.beside.mesh.geometry.getAttribute('color').needsUpdate = true;
    this.draw();
  }
  /** Shows leaves of the volume instead of the surface, N × 5 (Core.volume). Leaves in front of the cut, a share of the depth, are
   * hidden to show the inside. Null: shows the surface again. */
  setVoxels(leaves: Float32Array | null, cut: number, colours: Parameters<Leaves['show']>[2]): void {
    if (this.mesh) this.mesh.visible = !leaves;
    for (const prop of this.props) prop.visible = !leaves;
    const [low, high] = this.info ? [this.info.box[0][2], this.info.box[1][2]] : [0, 0];
    this.leaves.show(leaves, cut > 0 ? high - cut * (high - low) : Infinity, colours);
    this.draw();
  }
  /** Null: shows no defects. */
  setDefects(defects: Defects | null, colours: Parameters<typeof defectsOver>[3]): void {
    if (!defects === !this.defects) return;
    if (this.defects) removeDefects(this.defects);
    this.defects = defects && defectsOver(this.geometry, this.rows, defects, colours);
    if (this.defects) this.world.add(this.defects);
    this.draw();
  }

  setWireframe(on: boolean): void {
    for (const m of [this.plain, ...this.looks]) (m as THREE.MeshLambertMaterial).wireframe = on;
    this.draw();
  }
  /** Bones as sticks, which hide little of the skin. */
  setThin(on: boolean): void {
    if (this.thin === on) return;
    this.thin = on;
    if (this.bones) this.bones.thin = on;
    this.placeSkeleton();
    this.draw();
  }
  setSkeleton(on: boolean): void {
    this.skeletonShown = on;
    if (this.bones) this.bones.group.visible = on;
    this.draw();
  }

  /** The rows by which the surfaces move; null: none. `painted`: only these vertices have changed. */
  setRows(rows: Rows | null, beside: Rows | null, painted: Uint32Array | null = null): void {
    this.shownRows = rows;
    if (this.software) return;
    if (!painted) this.width = rows ? Math.max(rows.width, beside?.width ?? 0) : 0;
    if (rows) setRows(this.geometry, rows, this.width, painted);
    if (this.beside && beside) setRows(this.beside.mesh.geometry, beside, this.width);
  }

  /** Shows a pose, by the rows. False: there are none, or no card, so the surface needs positions (setPose). */
  setMatrices(matrices: Float64Array): boolean {
    if (!this.width || (this.beside && !this.beside.mesh.geometry.getAttribute('rowJoints0'))) return false;
    this.matrices = matrices;
    for (const geometry of [this.geometry, ...(this.beside ? [this.beside.mesh.geometry] : [])]) this.placeSurface(geometry, null);
    this.rows.setMatrices(matrices, this.width);
    this.moved();
    return true;
  }
  /** Where the core places the vertices in the pose that is shown: for rays, and boxes. */
  setPlaces(posed: Posed | null, beside: Posed | null = null): void {
    this.pick?.place(posed?.positions ?? this.bindPositions);
    this.beside?.pick.place((beside ?? posed)?.positions ?? this.bindPositions);
  }

  /** The same with positions from the core. Without matrices: the bind pose. `beside`: the surface of the second view. */
  setPose(matrices: Float64Array | null, posed: Posed | null, beside: Posed | null = null): void {
    this.matrices = matrices;
    this.rows.setMatrices(null, 0);
    this.placeSurface(this.geometry, posed);
    if (this.beside) this.placeSurface(this.beside.mesh.geometry, beside ?? posed);
    this.setPlaces(posed, beside);
    this.moved();
  }
  private moved() {
    this.overlay.move(this.placeOfVertex);
    this.placeSkeleton();
    this.placeGizmo();
    this.draw();
  }

  /** In bind space, in the shown pose. */
  private readonly placeOfVertex: PlaceOf = (vertex, out) => skinned(this.shownRows, this.matrices, this.bindPositions, vertex, out);

  /** Shows where one joint goes over into another: the line where both are equal, between rails. Null: none. */
  setBorder(border: {middle: OnEdges; rails: readonly OnEdges[]} | null): void {
    this.overlay.set(border ? [{on: border.middle, colour: 0xffffff, width: 5}, ...border.rails.map((on) => ({on, colour: 0x101418, width: 2.5}))] : [], this.placeOfVertex);
    this.draw();
  }
  /** The place of the border's middle that is next to the middle of the view, in its pixels. For tests. */
  borderPlace(): {x: number; y: number} | null {
    const {clientWidth: w, clientHeight: h} = this.renderer.domElement;
    return this.overlay.place(w / 2, h / 2, (p) => this.pixelAt(this.world.localToWorld(p)));
  }
  /** The line of the border at a place of the page: 0, the middle; 1 and 2, the rails; -1, none. */
  borderAt(x: number, y: number): number {
    const {rect} = this.under(x);
    this.camera.updateMatrixWorld();
    return this.overlay.nearest(x - rect.left, y - rect.top, 14, (p) => this.pixelAt(this.world.localToWorld(p)));
  }

  /** Null: the bind pose. */
  private placeSurface(geometry: THREE.BufferGeometry, posed: Posed | null) {
    if (!posed && geometry.userData.bound) return;
    geometry.userData.bound = !posed;
    const positions = geometry.getAttribute('position') as THREE.BufferAttribute;
    (positions.array as Float32Array).set(posed ? posed.positions : this.bindPositions);
    positions.needsUpdate = true;
    const turned = posed ? posed.normals : this.bindNormals;
    if (turned) {
      const normals = geometry.getAttribute('normal') as THREE.BufferAttribute;
      (normals.array as Float32Array).set(turned);
      normals.needsUpdate = true;
    } else if (!this.smooth) {
      if (this.software) this.staleNormals = true;
      else geometry.computeVertexNormals();
    }
    geometry.boundingSphere = null;
  }

  bindPose(): void {
    this.matrices = null;
    this.setPose(null, {positions: this.bindPositions, normals: this.bindNormals});
  }

  select(joint: number): void {
    this.selected = joint;
    this.colourSkeleton();
    if (joint < 0) for (const gizmo of this.gizmos) gizmo.detach();
    this.placeGizmo();
    this.draw();
  }
  setGizmo(on: boolean): void {
    for (const gizmo of this.gizmos) {
      gizmo.enabled = on;
      if (on && this.selected >= 0) gizmo.attach(this.handle);
      else gizmo.detach();
    }
    this.placeGizmo();
    this.draw();
  }
  /** A cut-out figure is seen from the front and bends only about the line of sight; dragging moves it sideways. */
  setFlat(on: boolean): void {
    // All at one depth: drawn in the order of the file, so that nothing flickers.
    const inPlane = on || this.plane !== null;
    for (const m of [this.plain, ...this.looks]) {
      m.depthTest = m.depthWrite = !inPlane;
      if (inPlane) m.transparent = true;
      else if (m === this.plain) m.transparent = false;
      m.needsUpdate = true;
    }
    this.gizmo.showX = this.gizmo.showY = !on;
    this.orbit.enableRotate = !on;
    this.grid.visible = !inPlane;
    this.orbit.mouseButtons.LEFT = on ? THREE.MOUSE.PAN : THREE.MOUSE.ROTATE;
    this.orbit.touches.ONE = on ? THREE.TOUCH.PAN : THREE.TOUCH.ROTATE;
  }
  /** Whether the pointer rotates and zooms the views. */
  setOrbit(on: boolean): void {
    this.orbit.enabled = on;
    if (this.beside) this.beside.orbit.enabled = on;
  }
  get turning(): boolean {
    return this.gizmos.some((g) => g.dragging);
  }
  get overGizmo(): boolean {
    return this.gizmos.some((g) => g.axis !== null && g.object !== undefined);
  }

  /** Points the camera at the whole character: slightly from the side, or straight from one. */
  frame(from: keyof typeof FROM = 'corner'): void {
    if (!this.info) return;
    const box = this.box();
    if (box.isEmpty()) return;
    this.size = box.getSize(new THREE.Vector3()).length() || 1;
    this.grid.clear();
    this.makeGrid(box);
    const [x, y, z] = FROM[from];
    const positions = this.pick!.positions;
    // Of a prop its corners are enough.
    const corners = this.props.flatMap((prop) => {
      const {min, max} = new THREE.Box3().setFromObject(prop);
      return Array.from({length: 8}, (_, c) => new THREE.Vector3(c & 1 ? max.x : min.x, c & 2 ? max.y : min.y, c & 4 ? max.z : min.z));
    });
    this.fit(box, new THREE.Vector3(this.away ? -x : x, y, this.away ? -z : z), positions.count + corners.length,
             (v, at) => (v < positions.count ? at.fromBufferAttribute(positions, v).applyMatrix4(this.world.matrix) : at.copy(corners[v - positions.count])));
  }

  /** Points the camera at the selected joint and its bones, from where it is; without one at the whole character. */
  frameSelection(): void {
    if (!this.info || !this.bones || this.selected < 0) return this.frame();
    const {places} = this.bones;
    const at = (j: number) => new THREE.Vector3().fromBufferAttribute(places, j).applyMatrix4(this.world.matrix);
    const centre = at(this.selected);
    let reach = this.size / 40;
    this.info.joints.forEach(({parent}, j) => parent === this.selected && (reach = Math.max(reach, at(j).distanceTo(centre))));
    const box = new THREE.Box3().setFromCenterAndSize(centre, new THREE.Vector3().setScalar(2 * reach));
    this.fit(box, this.camera.position.clone().sub(this.orbit.target), 8,
             (c, at) => at.set(c & 1 ? box.max.x : box.min.x, c & 2 ? box.max.y : box.min.y, c & 4 ? box.max.z : box.min.z));
  }

  /** Points the camera at a vertex from the side that it faces, so that a radius around it is seen; `camera`: another one than that of the
   * view. */
  lookAt(vertex: number, radius: number, camera: THREE.PerspectiveCamera = this.camera): void {
    const at: [number, number, number] = [0, 0, 0];
    this.placeOfVertex(vertex, at);
    const target = this.world.localToWorld(new THREE.Vector3(...at));
    const normal = new THREE.Vector3().fromBufferAttribute(this.geometry.getAttribute('normal'), vertex).transformDirection(this.world.matrix);
    normal.y *= 0.6;
    normal.y += 0.15;
    if (normal.length() < 0.2) normal.copy(this.camera.position).sub(this.orbit.target);
    const wide = Math.min(1, camera.aspect);
    const far = Math.max((1.2 * radius * this.world.matrix.getMaxScaleOnAxis()) / (wide * Math.tan((camera.fov * Math.PI) / 360)), this.size / 30);
    camera.near = far / 100;
    camera.far = Math.max(far, this.size) * 20;
    camera.position.copy(target).add(normal.setLength(far));
    camera.updateProjectionMatrix();
    if (camera !== this.camera) return camera.lookAt(target);
    this.orbit.target.copy(target);
    this.orbit.update();
    this.draw();
  }

  /** A small picture of the surface alone, as it is shown or in another pose; with `at`, of the surroundings of a vertex. */
  thumbnail(width: number, height: number, {posed, at, here}: {posed?: Float32Array; at?: {vertex: number; radius: number}; here?: boolean} = {}): ImageData {
    const camera = here ? this.camera.clone().clear() as THREE.PerspectiveCamera : new THREE.PerspectiveCamera(this.camera.fov, width / height);
    if (here) {
      // From the camera of the view.
    } else if (at) {
      this.lookAt(at.vertex, at.radius, camera);
    } else {
      const centre = this.box().getCenter(new THREE.Vector3());
      const direction = new THREE.Vector3(0.35, 0.15, this.away ? -1 : 1);
      const far = (0.58 * this.size) / Math.tan((camera.fov * Math.PI) / 360);
      camera.near = far / 100;
      camera.far = far * 10;
      camera.position.copy(centre).add(direction.setLength(far));
      camera.lookAt(centre);
      camera.updateProjectionMatrix();
    }
    const light = new THREE.DirectionalLight(0xffffff, 1.6);
    light.position.set(1, 2, 3);
    camera.add(light);
    this.scene.add(camera);
    const hidden = [this.grid, this.bones?.group, this.brush, this.overlay.group, ...this.gizmos.map((g) => g.getHelper())].filter((part) => part?.visible);
    for (const part of hidden) part!.visible = false;
    const places = this.geometry.getAttribute('position') as THREE.BufferAttribute;
    const before = posed && (places.array as Float32Array).slice();
    const [slots, background] = [this.rows.stop(!!posed), this.scene.background];
    this.scene.background = null;
    if (posed) {
      (places.array as Float32Array).set(posed);
      places.needsUpdate = true;
    }
    const target = new THREE.WebGLRenderTarget(2 * width, 2 * height);
    const opaque = this.renderer.getClearAlpha();
    this.renderer.setClearAlpha(0);
    this.renderer.setRenderTarget(target);
    this.renderer.clear();
    this.renderer.render(this.scene, camera);
    const pixels = new Uint8Array(16 * width * height);
    this.renderer.readRenderTargetPixels(target, 0, 0, 2 * width, 2 * height, pixels);
    this.renderer.setRenderTarget(null);
    this.renderer.setClearAlpha(opaque);
    target.dispose();
    if (before) {
      (places.array as Float32Array).set(before);
      places.needsUpdate = true;
    }
    this.rows.resume(slots);
    this.scene.background = background;
    for (const part of hidden) part!.visible = true;
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
    this.draw();
    return out;
  }

  /** The world's axes as seen by the camera: right, up and towards it. */
  axes(): [number, number, number][] {
    const to = this.camera.quaternion.clone().invert();
    return [0, 1, 2].map((k) => new THREE.Vector3().setComponent(k, 1).applyQuaternion(to).toArray() as [number, number, number]);
  }
  /** Turns the camera about its target, to look along an axis: from its positive end, or from the other. */
  lookFrom(axis: number, positive: boolean): void {
    if (!this.orbit.enableRotate) return;
    const far = this.camera.position.distanceTo(this.orbit.target);
    const from = new THREE.Vector3().setComponent(axis, positive ? 1 : -1);
    if (axis === 1) from.z = 1e-4;  // the view keeps its way up
    this.camera.position.copy(this.orbit.target).add(from.setLength(far));
    this.orbit.update();
    this.draw();
  }

  /** The camera turns about the point of the surface there, in the middle of the view. */
  focus(x: number, y: number): void {
    const [hit] = this.hits(x, y);
    if (!hit) return;
    this.camera.position.add(hit.point.clone().sub(this.orbit.target));
    this.orbit.target.copy(hit.point);
    this.orbit.update();
    this.draw();
  }

  /** The points fill the view below `covered`, seen along -`from`, with the middle of the box in its middle. */
  private fit(box: THREE.Box3, from: THREE.Vector3, count: number, point: (i: number, to: THREE.Vector3) => THREE.Vector3) {
    const centre = box.getCenter(new THREE.Vector3());
    const tall = Math.tan((this.camera.fov * Math.PI) / 360);
    const {clientHeight} = this.place;
    const covered = clientHeight ? Math.min(this.covered / clientHeight, 0.5) : 0;
    this.camera.position.copy(centre).add(from);
    this.camera.lookAt(centre);
    const to = this.camera.quaternion.clone().invert();
    let far = 0;
    const p = new THREE.Vector3();
    for (let i = 0; i < count; ++i) {
      point(i, p).sub(centre).applyQuaternion(to);
      const wanted = p.z + Math.max(Math.abs(p.x) / (tall * this.camera.aspect), Math.abs(p.y) / (tall * (1 - covered)));
      if (wanted > far) far = wanted;
    }
    far = 1.06 * far || 1;
    this.camera.near = Math.min(far, this.size) / 100;
    this.camera.far = Math.max(far, this.size) * 20;
    this.camera.position.copy(centre).add(from.clone().setLength(far));
    this.camera.updateProjectionMatrix();
    this.orbit.target.copy(centre);
    this.orbit.update();
    const up = new THREE.Vector3(0, covered * far * tall, 0).applyQuaternion(this.camera.quaternion);
    this.camera.position.add(up);
    this.orbit.target.add(up);
    this.orbit.update();
    this.draw();
  }

  /** Whether a position on the page is in the second view. */
  isBeside(x: number): boolean {
    return !!this.beside && x < this.renderer.domElement.getBoundingClientRect().left;
  }
  /** The view at a position on the page, and its surface. Both views have one camera. */
  private under(x: number): {rect: DOMRect; pick: RaySurface | null} {
    const [renderer, pick] = this.beside && this.isBeside(x) ? [this.beside.renderer, this.beside.pick] : [this.renderer, this.pick];
    return {rect: renderer.domElement.getBoundingClientRect(), pick};
  }
  /** Where the pointer's ray crosses the surface, as it is drawn; `all`: every crossing, also of sides that are not drawn. */
  private hits(x: number, y: number, ray = this.rayAt(x, y), all = false): THREE.Intersection[] {
    if (!this.mesh) return [];
    return this.under(x).pick?.hits(ray, all ? this.plain : this.mesh.material, this.world.matrix, all) ?? [];
  }

  /** The joint whose dot is nearest to the pointer, within some pixels; -1: none. */
  jointAt(x: number, y: number, within = 12): number {
    if (!this.bones?.group.visible) return -1;
    this.camera.updateMatrixWorld();  // it may have moved since the last frame
    const {rect} = this.under(x);
    const {places} = this.bones;
    let [best, nearest] = [-1, within];
    const at = new THREE.Vector3();
    for (let j = 0; j < places.count; ++j) {
      at.fromBufferAttribute(places, j).applyMatrix4(this.world.matrix).project(this.camera);
      if (at.z > 1) continue;
      const d = Math.hypot(((at.x + 1) / 2) * rect.width - (x - rect.left), ((1 - at.y) / 2) * rect.height - (y - rect.top));
      if (d < nearest) [best, nearest] = [j, d];
    }
    return best;
  }

  private rayAt(x: number, y: number): THREE.Raycaster {
    this.camera.updateMatrixWorld();
    const {rect} = this.under(x);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(
      new THREE.Vector2(((x - rect.left) / rect.width) * 2 - 1, 1 - ((y - rect.top) / rect.height) * 2), this.camera);
    return ray;
  }

  /** All crossings of the pointer's ray, and the point at a distance along it. */
  crossingsAt(x: number, y: number): {crossings: Crossing[]; place: (at: number) => Point} {
    const ray = this.rayAt(x, y);
    const crossings: Crossing[] = this.hits(x, y, ray, true).map(({distance, face}) =>
      ({at: distance, enters: face!.normal.clone().transformDirection(this.world.matrix).dot(ray.ray.direction) < 0}));
    return {crossings, place: (at) => this.world.worldToLocal(ray.ray.at(at, new THREE.Vector3())).toArray()};
  }

  /** The point under the pointer at the depth of `point`. */
  besideAt(x: number, y: number, point: Point): Point {
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(
      this.camera.getWorldDirection(new THREE.Vector3()), this.world.localToWorld(new THREE.Vector3(...point)));
    const place = this.rayAt(x, y).ray.intersectPlane(plane, new THREE.Vector3());
    return place ? this.world.worldToLocal(place).toArray() : point;
  }

  surfaceAt(x: number, y: number): Hit | null {
    const [hit] = this.hits(x, y);
    if (!hit?.face) return null;
    const corners = [hit.face.a, hit.face.b, hit.face.c];
    const {positions} = this.under(x).pick!;
    const [a, b, c] = corners.map((v) => new THREE.Vector3().fromBufferAttribute(positions, v));
    const share = THREE.Triangle.getBarycoord(this.world.worldToLocal(hit.point.clone()), a, b, c, new THREE.Vector3()) ?? new THREE.Vector3(1, 0, 0);
    const shares = share.toArray();
    const bind = [0, 1, 2].map((k) => corners.reduce((sum, v, i) => sum + shares[i] * this.bindPositions[v * 3 + k], 0));
    const at = this.world.worldToLocal(this.camera.position.clone()).sub(this.world.worldToLocal(hit.point.clone())).normalize();
    const frame = (p: THREE.Vector3, q: THREE.Vector3, r: THREE.Vector3) => {
      const along = q.clone().sub(p).normalize();
      const normal = along.clone().cross(r.clone().sub(p)).normalize();
      return new THREE.Matrix4().makeBasis(along, normal.clone().cross(along), normal);
    };
    const [p, q, r] = corners.map((v) => new THREE.Vector3().fromArray(this.bindPositions, v * 3));
    const posed = frame(a, b, c);
    const facing = at.clone().applyMatrix4(posed.transpose()).applyMatrix4(frame(p, q, r));
    return {vertex: corners[shares.indexOf(Math.max(...shares))], bind: bind as Hit['bind'],
            facing: (Number.isFinite(facing.length()) ? facing : at).toArray().map((x) => Number(x.toFixed(4))) as Hit['facing']};
  }

  /** Shows where the brush would paint: a ring in the plane of the surface. Null hides it. */
  setBrush(x: number, y: number, radius: number | null): void {
    this.brush.visible = false;
    const ray = this.rayAt(x, y);
    const [hit] = radius !== null ? this.hits(x, y, ray) : [];
    if (hit?.face) {
      const normal = hit.face.normal.clone();
      if (normal.clone().transformDirection(this.world.matrix).dot(ray.ray.direction) > 0) normal.negate();
      this.brush.position.copy(this.world.worldToLocal(hit.point.clone()));
      this.brush.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
      this.brush.scale.setScalar(radius!);
      this.brush.visible = true;
    }
    this.draw();
  }
  /** The ring around a vertex. */
  showRing(vertex: number, radius: number): void {
    const at: [number, number, number] = [0, 0, 0];
    this.placeOfVertex(vertex, at);
    this.brush.position.set(...at);
    this.brush.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3().fromBufferAttribute(this.geometry.getAttribute('normal'), vertex));
    this.brush.scale.setScalar(radius);
    this.brush.visible = true;
    this.draw();
  }
  resizeBrush(radius: number): void {
    this.brush.scale.setScalar(radius);
    this.draw();
  }
  /** Where the ring is, in the world; null: there is none. */
  brushAt(): {place: Point; normal: Point; radius: number} | null {
    if (!this.brush.visible) return null;
    return {place: this.brush.position.toArray(), normal: new THREE.Vector3(0, 0, 1).applyQuaternion(this.brush.quaternion).toArray(), radius: this.brush.scale.x};
  }
  /** A length at the target of the camera, in pixels. */
  pixelsOf(length: number): number {
    const far = this.camera.position.distanceTo(this.orbit.target);
    return (length * this.world.matrix.getMaxScaleOnAxis() * this.place.clientHeight) / (2 * far * Math.tan((this.camera.fov * Math.PI) / 360));
  }
  /** The right button turns the view, and does not move it. */
  turnByRight(on: boolean): void {
    for (const orbit of [this.orbit, ...(this.beside ? [this.beside.orbit] : [])])
      orbit.mouseButtons.RIGHT = on && this.orbit.enableRotate ? THREE.MOUSE.ROTATE : THREE.MOUSE.PAN;
  }

  /** Rotates the camera about its target, in radians, and scales its distance by a factor. For keys. */
  turnCamera(aside: number, up: number, nearer = 1): void {
    const {target} = this.orbit;
    const at = new THREE.Spherical().setFromVector3(this.camera.position.clone().sub(target));
    if (this.orbit.enableRotate) {
      at.theta += aside;
      at.phi = Math.min(Math.max(at.phi + up, 0.01), Math.PI - 0.01);
    }
    at.radius *= nearer;
    this.camera.position.setFromSpherical(at).add(target);
    this.orbit.update();
    this.draw();
  }

  /** The position of the handle in pixels of the view. */
  handleAt(): {x: number; y: number} {
    return this.pixelAt(this.handle.position.clone());
  }

  /** The position of a point of the bind pose in pixels of the view. */
  pixelOf(point: Point): {x: number; y: number} {
    return this.pixelAt(this.world.localToWorld(new THREE.Vector3(...point)));
  }
  /** The same of a vertex in the shown pose. */
  pixelOfVertex(vertex: number): {x: number; y: number} {
    const at: [number, number, number] = [0, 0, 0];
    this.placeOfVertex(vertex, at);
    return this.pixelOf(at);
  }
  /** The share of the vertices in the view which the drawn surface covers, where the core places them: 1, unless something else is drawn.
   * For tests. */
  coverage(): number {
    const [w, h] = [this.renderer.domElement.clientWidth >> 1, this.renderer.domElement.clientHeight >> 1];
    const {data} = this.thumbnail(w, h, {here: true});
    const {positions} = this.pick!;
    let [seen, covered] = [0, 0];
    const at = new THREE.Vector3();
    for (let v = 0; v < positions.count; v += 7) {
      const {x, y} = this.pixelAt(at.fromBufferAttribute(positions, v).applyMatrix4(this.world.matrix));
      const [column, row] = [Math.round(x / 2), Math.round(y / 2)];
      if (at.z > 1 || column < 2 || row < 2 || column >= w - 2 || row >= h - 2) continue;
      ++seen;
      for (let k = 0, hit = false; k < 9 && !hit; ++k) {
        hit = data[((row + Math.floor(k / 3) - 1) * w + column + (k % 3) - 1) * 4 + 3] > 0;
        if (hit) ++covered;
      }
    }
    return seen ? covered / seen : 1;
  }
  private pixelAt(at: THREE.Vector3): {x: number; y: number} {
    this.camera.updateMatrixWorld();
    const p = at.project(this.camera);
    const {clientWidth: w, clientHeight: h} = this.renderer.domElement;
    return {x: ((p.x + 1) / 2) * w, y: ((1 - p.y) / 2) * h};
  }

  /** Bones that are drawn, and the width of the thickest in pixels at the target. */
  bonesShown(): {count: number; width: number} {
    const {count, longest} = this.bones?.shown() ?? {count: 0, longest: 0};
    return {count, width: this.pixelsOf(0.2 * longest)};
  }

  /** Where a joint is shown, in the world. */
  placeOf(joint: number): Point {
    return new THREE.Vector3().fromBufferAttribute(this.bones!.places, joint).applyMatrix4(this.world.matrix).toArray();
  }
  /** The part of the view, below the tools, that the shown surface takes at most: of its width or of its height. */
  filled(): number {
    const positions = this.pick!.positions;
    const {clientWidth: w, clientHeight: h} = this.renderer.domElement;
    const [low, high] = [[Infinity, Infinity], [-Infinity, -Infinity]];
    for (let v = 0; v < positions.count; ++v) {
      const {x, y} = this.pixelAt(new THREE.Vector3().fromBufferAttribute(positions, v).applyMatrix4(this.world.matrix));
      [x, y].forEach((p, k) => ([low[k], high[k]] = [Math.min(low[k], p), Math.max(high[k], p)]));
    }
    return Math.max((high[0] - low[0]) / w, (high[1] - low[1]) / (h - this.covered));
  }
  /** Where the camera is, and what it turns about. */
  cameraAt(): {place: Point; target: Point} {
    return {place: this.camera.position.toArray(), target: this.orbit.target.toArray()};
  }

  picture(): Promise<Blob | null> {
    if (this.rough) this.refine();
    this.renderer.render(this.scene, this.camera);
    return new Promise((resolve) => this.renderer.domElement.toBlob(resolve, 'image/png'));
  }

  /** Whether a graphics card draws. */
  get card(): boolean {
    return !this.software;
  }

  /** Milliseconds between the last frames. */
  frameTimes(): number[] {
    return this.frames.slice(1).map((t, i) => t - this.frames[i]);
  }

  private resize() {
    const {clientWidth, clientHeight: h} = this.place;
    const w = this.beside ? clientWidth / 2 : clientWidth;
    if (!w || !h) return;
    this.renderer.setSize(w, h);
    this.beside?.renderer.setSize(w, h);
    this.camera.aspect = w / h;
    this.camera.updateProjectionMatrix();
    this.draw();
  }

  private clear() {
    this.setBeside(false);
    this.setVoxels(null, 0, {within: [], boundary: []});
    this.setDefects(null, {intersecting: [], boundary: [], nonmanifold: []});
    this.gizmo.detach();
    this.selected = -1;
    this.matrices = null;
    this.bones?.dispose();
    for (const old of [this.mesh, ...this.props]) {
      if (!old) continue;
      old.removeFromParent();
      old.geometry.dispose();
    }
    this.props = [];
    for (const m of this.looks) {
      (m as THREE.MeshLambertMaterial).map?.dispose();
      m.dispose();
    }
    this.grid.clear();
    this.mesh = this.pick = this.bones = null;
  }

  private transformOf(joint: number): THREE.Matrix4 {
    const m = new THREE.Matrix4();
    if (!this.matrices || joint < 0) return m;
    const at = joint * 12;
    const [a, b, c, d, e, f, g, h, i, j, k, l] = this.matrices.subarray(at, at + 12);
    return m.set(a, b, c, d, e, f, g, h, i, j, k, l, 0, 0, 0, 1);
  }

  private makeSkeleton() {
    this.bones = new Bones(this.info!.joints);
    this.bones.thin = this.thin;
    this.bones.group.visible = this.skeletonShown;
    this.world.add(this.bones.group);
    this.placeSkeleton();
    this.colourSkeleton();
  }
  private placeSkeleton() {
    this.bones?.place((joint) => this.transformOf(joint));
    this.placeProps();
  }
  private colourSkeleton() {
    if (this.info) this.bones?.colour(this.info.joints, this.palette, this.selected);
  }
  /** Another skeleton for the same surface, in the bind pose. */
  replaceJoints(info: ModelInfo): void {
    this.info = info;
    this.bones?.dispose();
    this.palette = jointColours(info.joints.length);
    if (this.selected >= info.joints.length) this.selected = -1;
    this.matrices = null;
    this.makeSkeleton();
    this.draw();
  }

  /** Which joints deform has changed. */
  setJoints(info: ModelInfo): void {
    this.info = info;
    this.colourSkeleton();
    this.draw();
  }

  private axesOf(joint: number): THREE.Quaternion {
    const [x, y, z] = this.info!.joints[joint].axes.map((a) => new THREE.Vector3(...(a as [number, number, number])));
    return new THREE.Quaternion().setFromRotationMatrix(new THREE.Matrix4().makeBasis(x, y, z));
  }
  private turnOf(joint: number): THREE.Quaternion {
    const turn = new THREE.Quaternion();
    this.transformOf(joint).decompose(new THREE.Vector3(), turn, new THREE.Vector3());
    return turn;
  }

  private placeGizmo() {
    if (this.selected < 0 || !this.info || this.turning) return;
    const j = this.selected;
    this.handle.position.set(...this.info.joints[j].position).applyMatrix4(this.transformOf(j)).applyMatrix4(this.world.matrix);
    this.handle.quaternion.copy(this.worldTurn().multiply(this.turnOf(j)).multiply(this.axesOf(j)));
    this.handle.updateMatrixWorld();
    for (const gizmo of this.gizmos) if (gizmo.enabled && !gizmo.object) gizmo.attach(this.handle);
  }

  private worldTurn(): THREE.Quaternion {
    const turn = new THREE.Quaternion();
    this.world.matrix.decompose(new THREE.Vector3(), turn, new THREE.Vector3());
    return turn;
  }

  /** S_joint = S_parent B L B^-1, so L = B^-1 S_parent^-1 W^-1 (W S_joint B), and the handle is at W S_joint B, where W leads from bind
   * space to the world. */
  private turned(done: boolean) {
    if (this.selected < 0 || !this.info) return;
    const j = this.selected;
    const local = this.axesOf(j).invert()
      .multiply(this.turnOf(this.info.joints[j].parent).invert())
      .multiply(this.worldTurn().invert())
      .multiply(this.handle.quaternion).normalize();
    this.onTurn(j, [local.x, local.y, local.z, local.w], done);
  }

  private makeGrid(box: THREE.Box3) {
    const step = 10 ** Math.floor(Math.log10(this.size));
    const grid = new THREE.GridHelper(step * 4, 16);
    grid.material.vertexColors = false;
    grid.material.transparent = true;
    grid.material.opacity = 0.35;
    const centre = box.getCenter(new THREE.Vector3());
    grid.position.set(centre.x, box.min.y, centre.z);
    this.grid.add(grid);
  }
}

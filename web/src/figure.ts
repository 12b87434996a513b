// The character in the scene: its surface, one for each pane, its skeleton, and what lies on them. Poses move all of it.
import * as THREE from 'three';
import {Bones} from './bones';
import {coarserLike, coarserOf} from './coarser';
import {jointColours} from './colours';
import {Leaves, defectsOver, partThrough, removeOver} from './inside';
import {behind, lookOf, texturesOf} from './looks';
import type {Core, Defects, ModelInfo, Rows} from 'sinew-skin';
import {Overlay, type PlaceOf} from './overlay';
import {skinned, type OnEdges} from './places';
import {Props} from './props';
import {RaySurface} from './rays';
import {RowShader, setRows} from './rowshader';
import type {Point} from './skeleton';
import type {Stage} from './stage';

type Opened = ReturnType<Core['open']>;

interface Posed {
  positions: Float32Array;
  normals: Float32Array | null;
}
interface Surface {
  mesh: THREE.Mesh;  // with one of the next two
  geometry: THREE.BufferGeometry;
  coarser: THREE.BufferGeometry | null;
  pick: RaySurface;
}

const THIN = 1e-4;  // of its size: a surface that is thinner lies in a plane
/** From where a surface that lies in a plane along the axes is seen; null for all others. */
function planeOf(box: THREE.Box3): 'front' | 'side' | 'top' | null {
  const sides = box.getSize(new THREE.Vector3()).toArray();
  const thinnest = sides.indexOf(Math.min(...sides));
  return sides[thinnest] <= THIN * Math.max(...sides) ? (['side', 'top', 'front'] as const)[thinnest] : null;
}

export class Figure {
  info: ModelInfo | null = null;
  /** From where the surface is seen, if it lies in a plane. */
  plane: ReturnType<typeof planeOf> = null;
  /** The length of its box's diagonal. */
  size = 1;
  /** It looks along -z. */
  away = false;
  /** The joints' colours, three numbers each. */
  palette = new Float32Array();
  selected = -1;
  /** One for each pane. */
  surfaces: Surface[] = [];
  bones: Bones | null = null;
  readonly overlay = new Overlay();
  readonly rows: RowShader;
  readonly props: Props;
  readonly plain: THREE.MeshLambertMaterial;
  /** Something has moved. */
  onMoved: () => void = () => {};
  bindPositions = new Float32Array();
  private bindNormals: Float32Array | null = null;
  private smooth = false;  // the file has normals
  private staleNormals = false;
  private looks: THREE.Material[] = [];
  private shown = true;  // the surface is, and not its volume
  private width = 0;  // of the rows that are set; 0: none
  private shownRows: Rows | null = null;
  private matrices: Float64Array | null = null;
  private readonly leaves: Leaves;
  private readonly skeleton = new THREE.Group();
  private thin = false;
  private recoloured = 0;  // frames before all colours changed
  // Over the first surface, whose positions they share.
  private defects: THREE.Group | null = null;
  private through: {of: Uint8Array; drawn: THREE.Group} | null = null;

  constructor(private readonly stage: Stage) {
    this.rows = new RowShader(stage.card);
    this.plain = this.rows.patch(new THREE.MeshLambertMaterial({vertexColors: true, side: THREE.DoubleSide, ...behind(2)}));
    this.leaves = new Leaves(stage.world);
    this.props = new Props(stage.world);
    stage.world.add(this.skeleton, this.overlay.group);
    stage.extras.push(this.skeleton, this.overlay.group);
  }

  async show(opened: Opened, away: boolean): Promise<void> {
    const textures = await texturesOf(opened);
    this.clear();
    const {info} = opened;
    this.info = info;
    this.away = away;
    this.width = 0;
    this.rows.setMatrices(null, 0);
    const {world} = this.stage;
    const [a, b, c, d, e, f, g0, h, i, j, k, l] = opened.rest.toWorld;
    world.matrix.set(a, b, c, d, e, f, g0, h, i, j, k, l, 0, 0, 0, 1);
    world.updateMatrixWorld(true);
    this.bindPositions = opened.positions;
    this.bindNormals = opened.normals;
    this.smooth = !!opened.normals;
    const g = new THREE.BufferGeometry();
    g.setAttribute('position', new THREE.BufferAttribute(opened.positions.slice(), 3));
    g.setAttribute('color', new THREE.BufferAttribute(new Float32Array(opened.positions.length).fill(0.5), 3));
    if (opened.uvs) g.setAttribute('uv', new THREE.BufferAttribute(opened.uvs, 2));
    g.setIndex(new THREE.BufferAttribute(opened.triangles, 1));
    if (opened.normals) g.setAttribute('normal', new THREE.BufferAttribute(opened.normals.slice(), 3));
    else g.computeVertexNormals();
    info.primitives.forEach((p) => g.addGroup(p.first_triangle * 3, p.triangle_count * 3, p.material + 1));
    this.addSurface(g, this.plain, this.stage.software ? await coarserOf(g) : null);
    const box = this.box();
    this.size = box.getSize(new THREE.Vector3()).length() || 1;
    this.plane = planeOf(box);
    this.looks = [lookOf(undefined, []), ...info.materials.map((m) => lookOf(m, textures))];
    for (const look of this.looks) this.rows.patch(look);
    this.surfaces[0].mesh.material = this.looks;
    this.props.set(opened.props, info.props, this.looks);
    this.makeSkeleton();
  }

  private clear() {
    this.setVoxels(null, 0, {within: [], boundary: []});
    this.setDefects(null, {intersecting: [], boundary: [], nonmanifold: []});
    this.setThrough(null);
    this.setBorder(null);
    this.props.set([], [], []);
    this.selected = -1;
    this.matrices = null;
    this.bones?.dispose();
    this.bones = null;
    while (this.surfaces.length) this.removeSurface();
    for (const m of this.looks) {
      (m as THREE.MeshLambertMaterial).map?.dispose();
      m.dispose();
    }
  }

  // ---- surfaces

  private addSurface(geometry: THREE.BufferGeometry, material: THREE.Material | THREE.Material[], coarser: THREE.BufferGeometry | null) {
    const mesh = new THREE.Mesh(geometry, material);
    mesh.frustumCulled = false;
    this.stage.world.add(mesh);
    this.surfaces.push({mesh, geometry, coarser, pick: new RaySurface(geometry)});
  }
  private removeSurface() {
    const {mesh, geometry, coarser} = this.surfaces.pop()!;
    mesh.removeFromParent();
    geometry.dispose();
    coarser?.dispose();
  }
  /** The same surface again, for the second pane, with its own positions and colours. */
  setBeside(on: boolean): void {
    if (!on) return this.removeSurface();
    const {mesh, geometry: of, coarser} = this.surfaces[0];
    const geometry = new THREE.BufferGeometry();
    geometry.setIndex(of.getIndex());
    for (const [name, attribute] of Object.entries(of.attributes))
      geometry.setAttribute(name, name === 'uv' ? attribute : (attribute as THREE.BufferAttribute).clone());
    for (const {start, count, materialIndex} of of.groups) geometry.addGroup(start, count, materialIndex);
    this.addSurface(geometry, mesh.material, coarserLike(coarser, geometry));
  }
  /** Each pane shows its own surface; what lies over one belongs to the first. */
  showIn(pane: number): void {
    this.surfaces.forEach(({mesh}, i) => (mesh.visible = this.shown && i === pane));
    for (const over of [this.defects, this.through?.drawn]) if (over) over.visible = pane === 0;
  }
  private get geometries(): THREE.BufferGeometry[] {
    return this.surfaces.map(({geometry}) => geometry);
  }
  private coloursOf(pane: number) {
    return this.geometries[pane]?.getAttribute('color') as THREE.BufferAttribute | undefined;
  }
  get colours(): Float32Array {
    return this.coloursOf(0)!.array as Float32Array;
  }
  get coloursBeside(): Float32Array | null {
    return (this.coloursOf(1)?.array as Float32Array | undefined) ?? null;
  }

  /** Shows the file's materials, or the colours in `colours`. */
  setSurface(look: boolean): void {
    this.recoloured = this.stage.drawn;
    this.surfaces.forEach(({mesh}, i) => {
      mesh.material = look ? this.looks : this.plain;
      const colours = this.coloursOf(i)!;
      colours.clearUpdateRanges();
      colours.needsUpdate = true;
    });
    this.props.setLook(look);
    this.stage.draw();
  }
  /** The colours of these vertices, ascending, have changed. */
  setPainted(vertices: Uint32Array): void {
    const colours = this.coloursOf(0)!, first = vertices[0];
    if (this.stage.drawn > this.recoloured) colours.addUpdateRange(first * 3, (vertices[vertices.length - 1] - first + 1) * 3);
    colours.needsUpdate = true;
    this.stage.draw();
  }
  setWireframe(on: boolean): void {
    for (const m of [this.plain, ...this.looks]) (m as THREE.MeshLambertMaterial).wireframe = on;
    this.stage.draw();
  }
  /** All at one depth: drawn in the order of the file, so that nothing flickers. */
  setInPlane(on: boolean): void {
    for (const m of [this.plain, ...this.looks]) {
      m.depthTest = m.depthWrite = !on;
      if (on) m.transparent = true;
      else if (m === this.plain) m.transparent = false;
      m.needsUpdate = true;
    }
  }
  /** Shows leaves of the volume instead of the surface, N × 5 (Core.volume). Leaves in front of the cut, a share of the depth, are
   * hidden to show the inside. Null: shows the surface again. */
  setVoxels(leaves: Float32Array | null, cut: number, colours: Parameters<Leaves['show']>[2]): void {
    this.shown = this.props.visible = !leaves;
    const [low, high] = this.info ? [this.info.box[0][2], this.info.box[1][2]] : [0, 0];
    this.leaves.show(leaves, cut > 0 ? high - cut * (high - low) : Infinity, colours);
    this.stage.draw();
  }
  /** Null: shows no defects. */
  setDefects(defects: Defects | null, colours: Parameters<typeof defectsOver>[3]): void {
    if (!defects === !this.defects) return;
    if (this.defects) removeOver(this.defects);
    this.defects = defects && defectsOver(this.geometries[0], this.rows, defects, colours);
    if (this.defects) this.stage.world.add(this.defects);
    this.stage.draw();
  }
  /** Shows some vertices (1) through what hides them; null: none. */
  setThrough(vertices: Uint8Array | null): void {
    if (vertices === (this.through?.of ?? null)) return;
    if (this.through) removeOver(this.through.drawn);
    this.through = vertices && {of: vertices, drawn: partThrough(this.geometries[0], this.rows, vertices)};
    if (this.through) this.stage.world.add(this.through.drawn);
    this.stage.draw();
  }
  /** Shows where one joint goes over into another: the line where both are equal, between rails. Null: none. */
  setBorder(border: {middle: OnEdges; rails: readonly OnEdges[]} | null): void {
    this.overlay.set(border ? [{on: border.middle, colour: 0xffffff, width: 5}, ...border.rails.map((on) => ({on, colour: 0x101418, width: 2.5}))] : [], this.placeOfVertex);
    this.stage.draw();
  }

  // ---- poses

  /** The rows by which the surfaces move; null: none. `painted`: only these vertices have changed. */
  setRows(rows: Rows | null, beside: Rows | null, painted: Uint32Array | null = null): void {
    this.shownRows = rows;
    if (this.stage.software) return;
    if (!painted) this.width = rows ? Math.max(rows.width, beside?.width ?? 0) : 0;
    if (rows) setRows(this.geometries[0], rows, this.width, painted);
    if (this.surfaces.length > 1 && beside) setRows(this.geometries[1], beside, this.width);
  }

  /** Shows a pose, by the rows. False: there are none, or no card, so the surface needs positions (setPose). */
  setMatrices(matrices: Float64Array): boolean {
    if (!this.width || !this.geometries.every((g) => g.getAttribute('rowJoints0'))) return false;
    this.matrices = matrices;
    for (const geometry of this.geometries) this.placeSurface(geometry, null);
    this.rows.setMatrices(matrices, this.width);
    this.moved();
    return true;
  }
  /** Where the core places the vertices in the pose that is shown: for rays, and boxes. */
  setPlaces(posed: Posed | null, beside: Posed | null = null): void {
    [posed, beside ?? posed].forEach((of, i) => this.surfaces[i]?.pick.place(of?.positions ?? this.bindPositions));
  }
  /** The same with positions from the core. Without matrices: the bind pose. `beside`: the surface of the second pane. */
  setPose(matrices: Float64Array | null, posed: Posed | null, beside: Posed | null = null): void {
    this.matrices = matrices;
    this.rows.setMatrices(null, 0);
    this.geometries.forEach((geometry, i) => this.placeSurface(geometry, i ? beside ?? posed : posed));
    this.setPlaces(posed, beside);
    this.moved();
  }
  bindPose(): void {
    this.setPose(null, {positions: this.bindPositions, normals: this.bindNormals});
  }
  private moved() {
    this.overlay.move(this.placeOfVertex);
    this.placeSkeleton();
    this.onMoved();
    this.stage.draw();
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
      if (this.stage.software) this.staleNormals = true;
      else geometry.computeVertexNormals();
    }
    geometry.boundingSphere = null;
  }
  /** All triangles, and the normals of the pose; rough frames do without. */
  setFine(fine: boolean): void {
    for (const {mesh, geometry, coarser} of this.surfaces) mesh.geometry = (!fine && coarser) || geometry;
    if (!fine) return;
    if (this.staleNormals) for (const geometry of this.geometries) geometry.computeVertexNormals();
    this.staleNormals = false;
  }

  /** In bind space, in the shown pose. */
  readonly placeOfVertex: PlaceOf = (vertex, out) => skinned(this.shownRows, this.matrices, this.bindPositions, vertex, out);
  /** The position of a point of the bind pose in pixels of the view. */
  pixelOf(point: Point): {x: number; y: number} {
    return this.stage.pixelAt(this.stage.world.localToWorld(new THREE.Vector3(...point)));
  }
  /** The same of a vertex in the shown pose. */
  pixelOfVertex(vertex: number): {x: number; y: number} {
    const at: [number, number, number] = [0, 0, 0];
    this.placeOfVertex(vertex, at);
    return this.pixelOf(at);
  }
  /** The first surface's vertices in the world, as the core places them. */
  get count(): number {
    return this.surfaces[0].pick.positions.count;
  }
  vertexInWorld(vertex: number, to: THREE.Vector3): THREE.Vector3 {
    return to.fromBufferAttribute(this.surfaces[0].pick.positions, vertex).applyMatrix4(this.stage.world.matrix);
  }
  /** The box of all that is shown, in the world. */
  box(): THREE.Box3 {
    const box = new THREE.Box3();
    const at = new THREE.Vector3();
    for (let v = 0; v < this.count; ++v) {
      this.vertexInWorld(v, at);
      if (Number.isFinite(at.x + at.y + at.z)) box.expandByPoint(at);
    }
    for (const prop of this.props.boxes()) box.union(prop);
    return box;
  }

  // ---- the skeleton

  /** Where a joint has moved; -1: none, so nothing moves. */
  transformOf(joint: number): THREE.Matrix4 {
    const m = new THREE.Matrix4();
    if (!this.matrices || joint < 0) return m;
    const at = joint * 12;
    const [a, b, c, d, e, f, g, h, i, j, k, l] = this.matrices.subarray(at, at + 12);
    return m.set(a, b, c, d, e, f, g, h, i, j, k, l, 0, 0, 0, 1);
  }
  private makeSkeleton() {
    this.bones?.dispose();
    this.palette = jointColours(this.info!.joints.length);
    this.bones = new Bones(this.info!.joints);
    this.bones.thin = this.thin;
    this.skeleton.add(this.bones.group);
    this.placeSkeleton();
    this.colourSkeleton();
  }
  private placeSkeleton() {
    this.bones?.place((joint) => this.transformOf(joint));
    this.props.place((joint) => this.transformOf(joint));
  }
  private colourSkeleton() {
    if (this.info) this.bones?.colour(this.info.joints, this.palette, this.selected);
  }
  /** Another skeleton for the same surface, in the bind pose. */
  replaceJoints(info: ModelInfo): void {
    this.info = info;
    if (this.selected >= info.joints.length) this.selected = -1;
    this.matrices = null;
    this.makeSkeleton();
    this.stage.draw();
  }
  /** Which joints deform has changed. */
  setJoints(info: ModelInfo): void {
    this.info = info;
    this.colourSkeleton();
    this.stage.draw();
  }
  select(joint: number): void {
    this.selected = joint;
    this.colourSkeleton();
    this.stage.draw();
  }
  /** Bones as sticks, which hide little of the skin. */
  setThin(on: boolean): void {
    if (this.thin === on) return;
    this.thin = on;
    if (this.bones) this.bones.thin = on;
    this.placeSkeleton();
    this.stage.draw();
  }
  setSkeleton(on: boolean): void {
    this.skeleton.visible = on;
    this.stage.draw();
  }
  get hasSkeleton(): boolean {
    return this.skeleton.visible && !!this.bones;
  }
  /** Where a joint is shown, in the world. */
  jointInWorld(joint: number): THREE.Vector3 {
    return new THREE.Vector3().fromBufferAttribute(this.bones!.places, joint).applyMatrix4(this.stage.world.matrix);
  }
}

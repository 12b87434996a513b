// The handle that turns the selected joint.
import * as THREE from 'three';
import {TransformControls} from 'three/examples/jsm/controls/TransformControls.js';
import type {Figure} from './figure';
import type {Stage} from './stage';

export type Quaternion = [number, number, number, number];

export class Handle {
  private readonly handle = new THREE.Object3D();
  private readonly gizmos: TransformControls[] = [];  // one for each pane
  /** A joint is turned: its rotation along its own axes. `done`: the handle was released. */
  onTurn: (joint: number, rotation: Quaternion, done: boolean) => void = () => {};

  constructor(private readonly stage: Stage, private readonly figure: Figure) {
    stage.scene.add(this.handle);
    this.add();
  }

  private add() {
    const {renderer, orbit} = this.stage.panes[this.gizmos.length];
    const gizmo = new TransformControls(this.stage.camera, renderer.domElement);
    gizmo.setMode('rotate');
    gizmo.setSpace('local');
    gizmo.setSize(0.7);
    const helper = gizmo.getHelper();
    this.stage.scene.add(helper);
    this.stage.extras.push(helper);
    gizmo.addEventListener('change', () => this.stage.draw());
    gizmo.addEventListener('dragging-changed', (event) => {
      orbit.enabled = !event.value;
      if (!event.value) this.turned(true);
    });
    gizmo.addEventListener('objectChange', () => this.turned(false));
    this.gizmos.push(gizmo);
  }
  /** Also in the second pane. */
  setBeside(on: boolean): void {
    const [first] = this.gizmos;
    if (on) {
      this.add();
      this.gizmos[1].enabled = first.enabled;
      if (first.object) this.gizmos[1].attach(this.handle);
    } else {
      const gizmo = this.gizmos.pop()!;
      gizmo.detach();
      const helper = gizmo.getHelper();
      helper.removeFromParent();
      this.stage.extras.splice(this.stage.extras.indexOf(helper), 1);
      gizmo.dispose();
    }
  }
  /** Each pane has its own. */
  showIn(pane: number): void {
    this.gizmos.forEach((gizmo, i) => (gizmo.getHelper().visible = !!gizmo.object && i === pane));
  }

  set(on: boolean): void {
    for (const gizmo of this.gizmos) {
      gizmo.enabled = on;
      if (on && this.figure.selected >= 0) gizmo.attach(this.handle);
      else gizmo.detach();
    }
    this.place();
    this.stage.draw();
  }
  /** It turns only about the line of sight from the front. */
  setFlat(on: boolean): void {
    for (const gizmo of this.gizmos) gizmo.showX = gizmo.showY = !on;
  }
  detach(): void {
    for (const gizmo of this.gizmos) gizmo.detach();
  }
  get turning(): boolean {
    return this.gizmos.some((g) => g.dragging);
  }
  /** Whether the pointer is over it. */
  get under(): boolean {
    return this.gizmos.some((g) => g.axis !== null && g.object !== undefined);
  }
  /** Its position in pixels of the view. */
  at(): {x: number; y: number} {
    return this.stage.pixelAt(this.handle.position.clone());
  }

  /** At the selected joint. */
  place(): void {
    const {selected: j, info} = this.figure;
    if (j < 0 || !info || this.turning) return;
    this.handle.position.set(...info.joints[j].position).applyMatrix4(this.figure.transformOf(j)).applyMatrix4(this.stage.world.matrix);
    this.handle.quaternion.copy(turnOf(this.stage.world.matrix).multiply(turnOf(this.figure.transformOf(j))).multiply(this.axesOf(j)));
    this.handle.updateMatrixWorld();
    for (const gizmo of this.gizmos) if (gizmo.enabled && !gizmo.object) gizmo.attach(this.handle);
  }

  private axesOf(joint: number): THREE.Quaternion {
    const [x, y, z] = this.figure.info!.joints[joint].axes.map((a) => new THREE.Vector3(...(a as [number, number, number])));
    return new THREE.Quaternion().setFromRotationMatrix(new THREE.Matrix4().makeBasis(x, y, z));
  }

  /** S_joint = S_parent B L B^-1, so L = B^-1 S_parent^-1 W^-1 (W S_joint B), and the handle is at W S_joint B, where W leads from bind
   * space to the world. */
  private turned(done: boolean) {
    const {selected: j, info} = this.figure;
    if (j < 0 || !info) return;
    const local = this.axesOf(j).invert()
      .multiply(turnOf(this.figure.transformOf(info.joints[j].parent)).invert())
      .multiply(turnOf(this.stage.world.matrix).invert())
      .multiply(this.handle.quaternion).normalize();
    this.onTurn(j, [local.x, local.y, local.z, local.w], done);
  }
}

function turnOf(matrix: THREE.Matrix4): THREE.Quaternion {
  const turn = new THREE.Quaternion();
  matrix.decompose(new THREE.Vector3(), turn, new THREE.Vector3());
  return turn;
}

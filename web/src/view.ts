// The view of the character in three.js: its parts, and what concerns several of them. Independent of panels.
import {Eye} from './eye';
import {Figure} from './figure';
import {Handle} from './handle';
import {Picker} from './picking';
import {Pictures} from './pictures';
import {Ring} from './ring';
import {Stage} from './stage';

export class View {
  readonly stage: Stage;
  readonly figure: Figure;
  readonly eye: Eye;
  readonly picker: Picker;
  readonly handle: Handle;
  readonly ring: Ring;
  readonly pictures: Pictures;

  constructor(place: HTMLElement) {
    const stage = (this.stage = new Stage(place)), figure = (this.figure = new Figure(stage));
    this.eye = new Eye(stage, figure);
    this.picker = new Picker(stage, figure);
    this.handle = new Handle(stage, figure);
    this.ring = new Ring(stage, figure, this.picker);
    this.pictures = new Pictures(stage, figure, this.eye);
    stage.onPane = (pane) => [figure, this.handle, this.ring].forEach((part) => part.showIn(pane));
    stage.onFine = (fine) => figure.setFine(fine);
    figure.onMoved = () => (this.handle.place(), this.eye.moved());
  }

  async show(opened: Parameters<Figure['show']>[0], away = false): Promise<void> {
    this.setBeside(false);
    this.handle.detach();
    await this.figure.show(opened, away);
    this.eye.frame();
  }

  /** The same character again, in a pane at the left, with its own positions and colours. */
  setBeside(on: boolean): void {
    const {stage, figure, handle} = this;
    if (on === stage.panes.length > 1 || !figure.surfaces.length) return;
    // What is in a pane comes after it, and goes before it.
    if (on) stage.setBeside(true);
    figure.setBeside(on);
    handle.setBeside(on);
    if (!on) stage.setBeside(false);
  }

  select(joint: number): void {
    this.figure.select(joint);
    if (joint < 0) this.handle.detach();
    this.handle.place();
  }

  /** A cut-out figure is seen from the front and bends only about the line of sight; dragging moves it sideways. */
  setFlat(on: boolean): void {
    const inPlane = on || this.figure.plane !== null;
    this.figure.setInPlane(inPlane);
    this.handle.setFlat(on);
    this.stage.setTurning(!on);
    this.stage.grid.visible = !inPlane;
  }
}

// Elements of the page, by Preact: a panel says what it consists of, and only what differs is changed, so that the keyboard focus, open
// details and a dragged slider stay.
import {Fragment, h, render, type ComponentChildren, type VNode as Made} from 'preact';
import {useState} from 'preact/hooks';

export type VNode = Made<any>;
type Props = Record<string, unknown>;

/** el('button', {class: 'primary', onClick}, 'Bind'): properties, handlers, children. */
export const el = (tag: string, props: Props = {}, ...children: ComponentChildren[]): VNode => h(tag, props, ...children);

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
}

/** Makes these the children of a panel. */
export const refill = (box: HTMLElement, ...children: ComponentChildren[]): void => render(h(Fragment, null, ...children), box);

interface FieldProps {
  name: string;
  help: string;
  control: (id: string) => VNode;
  shown?: VNode;
}
let fields = 0;
/** A control with its name. */
function Field({name, help, control, shown}: FieldProps) {
  const [id] = useState(() => `field-${++fields}`);  // useId counts in each panel
  return h('div', {class: 'field'}, h('label', {for: id, title: help}, name), shown, control(id));
}
const field = (name: string, help: string, control: (id: string) => VNode, shown?: VNode) => h(Field, {key: name, name, help, control, shown});

const inputOf = (event: Event) => event.currentTarget as HTMLInputElement;

/** A slider with its value beside its name, as `text` says it. */
export function slider(name: string, help: string, range: {min: number; max: number; step: number}, value: number,
                       change: (value: number) => void, settle: () => void, text: (value: number) => string = String): VNode {
  return field(name, help, (id) => h('input', {
    id, type: 'range', ...range, value, title: help, 'aria-valuetext': text(value), onChange: settle,
    onInput: (event: Event) => {
      const input = inputOf(event);
      const now = Number(input.value);
      input.ariaValueText = (input.previousElementSibling as HTMLOutputElement).value = text(now);
      change(now);
    },
  }), h('output', {value: text(value)}));
}

export function choice(name: string, help: string, options: readonly (string | [string, string])[], value: string,
                       change: (value: string) => void): VNode {
  return field(name, help, (id) => h('select', {id, title: help, value, onChange: (event: Event) => change((event.currentTarget as HTMLSelectElement).value)},
    ...options.map((o) => {
      const [word, shown] = typeof o === 'string' ? [o, o] : o;
      return h('option', {key: word, value: word}, shown);
    })));
}

export function entry(name: string, help: string, value: string, change: (value: string) => void): VNode {
  return field(name, help, (id) => h('input', {
    id, value, defaultValue: value, title: help, spellcheck: false, onChange: (event: Event) => change(inputOf(event).value.trim()),
  }));
}

/** A number field. Each change is reported at once, the end of input by `settle`. */
export function figure(name: string, help: string, value: number, step: number, change: (value: number) => void, settle: () => void): VNode {
  const text = String(value);
  return field(name, help, (id) => h('input', {
    id, type: 'number', step, value: text, defaultValue: text, title: help, onChange: settle,
    onInput: (event: Event) => {
      const input = inputOf(event);
      if (input.value !== '' && Number.isFinite(input.valueAsNumber)) change(input.valueAsNumber);
    },
  }));
}

export function check(name: string, help: string, value: boolean, change: (value: boolean) => void): VNode {
  return h('label', {key: name, class: 'row', title: help},
    h('input', {type: 'checkbox', checked: value, onChange: (event: Event) => change(inputOf(event).checked)}), name);
}

export function button(name: string, help: string, click: (event: Event) => void, more: Props = {}): VNode {
  return h('button', {key: name, type: 'button', title: help, onClick: click, ...more}, name);
}

/** Lets the browser download bytes as a file. */
export function download(name: string, data: Uint8Array | string | Blob, type: string): void {
  const blob = data instanceof Blob ? data : new Blob([data as BlobPart], {type});
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 30000);
}

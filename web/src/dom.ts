// Small stateless helpers that create elements of the page.

type Props = Record<string, unknown> & {class?: string; on?: Record<string, (event: Event) => void>};

/** el('button', {class: 'primary', on: {click}}, 'Bind'): properties, aria-* and data-* attributes, children. */
export function el<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: (Node | string)[]):
    HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === 'on') for (const [event, f] of Object.entries(value as object)) node.addEventListener(event, f);
    else if (name === 'class') node.className = String(value);
    else if (name.includes('-') || name === 'for' || name === 'role') node.setAttribute(name, String(value));
    else (node as unknown as Record<string, unknown>)[name] = value;
  }
  node.append(...children);
  return node;
}

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
}

/** The visible name of an element. It stays the same when a panel is redrawn; position and number may change. */
function nameOf(node: Element): string {
  const label = (node as HTMLInputElement).labels?.[0];
  const text = node instanceof HTMLButtonElement && !node.title ? node.textContent : '';
  return [node.tagName, node.id.startsWith('field-') ? '' : node.id, label?.textContent ?? '', (node as HTMLElement).title, text].join('|');
}

/** Replaces the children of a panel. The keyboard focus stays on the same element. */
export function refill(box: HTMLElement, ...children: Node[]): void {
  const at = document.activeElement;
  const name = at && at !== box && box.contains(at) && at.matches(':focus-visible') ? nameOf(at) : null;
  const titleOf = (d: HTMLDetailsElement) => d.querySelector('summary')?.textContent?.replace(/\d+/g, '') ?? '';
  const opened = new Set([...box.querySelectorAll('details')].flatMap((d) => (d.open ? [titleOf(d)] : [])));
  box.replaceChildren(...children);
  for (const details of box.querySelectorAll('details')) if (opened.has(titleOf(details))) details.open = true;
  if (name === null) return;
  const same = [...box.querySelectorAll<HTMLElement>('button, input, select, textarea, summary, [tabindex]')].find((e) => nameOf(e) === name);
  same?.focus({preventScroll: true});
}

let fields = 0;

/** A slider with its value beside its name, as `text` says it. */
export function slider(name: string, help: string, range: {min: number; max: number; step: number}, value: number,
                       change: (value: number) => void, settle: () => void, text: (value: number) => string = String): HTMLElement {
  const id = `field-${++fields}`;
  const shown = el('output', {}, text(value));
  const input = el('input', {id, type: 'range', ...range, value: String(value), title: help, 'aria-valuetext': text(value)});
  input.addEventListener('input', () => {
    input.ariaValueText = shown.value = text(Number(input.value));
    change(Number(input.value));
  });
  input.addEventListener('change', settle);
  return el('div', {class: 'field'}, el('label', {htmlFor: id, title: help}, name), shown, input);
}

export function choice(name: string, help: string, options: readonly (string | [string, string])[], value: string,
                       change: (value: string) => void): HTMLElement {
  const id = `field-${++fields}`;
  const input = el('select', {id, title: help}, ...options.map((o) => {
    const [word, shown] = typeof o === 'string' ? [o, o] : o;
    return el('option', {value: word, selected: word === value}, shown);
  }));
  input.addEventListener('change', () => change(input.value));
  return el('div', {class: 'field'}, el('label', {htmlFor: id, title: help}, name), input);
}

export function entry(name: string, help: string, value: string, change: (value: string) => void): HTMLElement {
  const id = `field-${++fields}`;
  const input = el('input', {id, value, defaultValue: value, title: help, spellcheck: false});
  input.addEventListener('change', () => change(input.value.trim()));
  return el('div', {class: 'field'}, el('label', {htmlFor: id, title: help}, name), input);
}

/** A number field. Each change is reported at once, the end of input by `settle`. */
export function figure(name: string, help: string, value: number, step: number, change: (value: number) => void, settle: () => void): HTMLElement {
  const id = `field-${++fields}`;
  const text = String(value);
  const input = el('input', {id, type: 'number', step: String(step), value: text, defaultValue: text, title: help});
  input.addEventListener('input', () => {
    if (input.value !== '' && Number.isFinite(input.valueAsNumber)) change(input.valueAsNumber);
  });
  input.addEventListener('change', settle);
  return el('div', {class: 'field'}, el('label', {htmlFor: id, title: help}, name), input);
}

export function check(name: string, help: string, value: boolean, change: (value: boolean) => void): HTMLElement {
  const input = el('input', {type: 'checkbox', checked: value});
  input.addEventListener('change', () => change(input.checked));
  return el('label', {class: 'row', title: help}, input, name);
}

export function button(name: string, help: string, click: (event: Event) => void, more: Props = {}): HTMLButtonElement {
  return el('button', {type: 'button', title: help, on: {click}, ...more}, name);
}

/** Lets the browser download bytes as a file. */
export function download(name: string, data: Uint8Array | string | Blob, type: string): void {
  const blob = data instanceof Blob ? data : new Blob([data as BlobPart], {type});
  const url = URL.createObjectURL(blob);
  const link = el('a', {href: url, download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 30000);
}

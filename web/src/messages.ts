// Messages of progress and errors.
import {SinewError} from 'sinew-skin';
import {button, byId, el, refill} from './dom';
import {inPage} from './words';

export function showError(error: unknown): void {
  if (error instanceof SinewError && error.status === 'cancelled') return;
  const box = byId('error');
  box.querySelector('p')!.textContent = inPage(error instanceof SinewError ? error.text : error instanceof Error ? error.message : String(error));
  box.hidden = false;
}
export function hideError(): void {
  byId('error').hidden = true;
}

/** Tells screen readers a result. */
export function say(text: string): void {
  byId('said').textContent = text;
}

/** A remark with things to do, which stays until it is closed; empty: none. */
export function notice(text: string, actions: [string, () => void][] = []): void {
  const box = byId('notice');
  box.hidden = !text;
  const close = () => (box.hidden = true);
  refill(box, el('p', {}, text), ...actions.map(([name, act]) => button(name, '', () => {
    close();
    act();
  })), button('Close', 'Close this remark', close));
}

/** Empty: nothing is running. Without a fraction, progress is unknown. */
export function busy(text: string, fraction: number | null = null, stop = false): void {
  byId('busy').hidden = !text;
  byId('busy-text').textContent = text;
  const bar = byId<HTMLProgressElement>('busy-bar');
  if (fraction === null) bar.removeAttribute('value');
  else bar.value = fraction;
  byId('cancel').hidden = !stop;
}

byId('error').querySelector('button')!.addEventListener('click', hideError);

// Nothing is lost: the work is kept in the browser (IndexedDB) after each change, and offered again when the page is loaded or the
// file is opened again. Leaving with unsaved work asks first. Without IndexedDB only the last is true.
import {button, byId, el, refill} from './dom';
import {notice, showError} from './messages';
import {currentWork, open} from './session';
import {history, on, session} from './state';
import {type KeptBinding} from './work';
import {EMPTY, type Doc} from './store';
import {summaryOf} from './words';
import type {OpenFile} from 'sinew-skin';

/** A row of the list; its file and binding are stored apart, as they change less often. */
interface Entry {
  key: string;
  /** The same for the same files. */
  id: string;
  name: string;
  when: number;
  doc: Doc;
  bound: boolean;
}

const STORES = ['entries', 'files', 'bindings'] as const;
const MOST = 6;  // entries; older ones are removed
const PAUSE = 250;  // milliseconds between two writes

const database: Promise<IDBDatabase | null> = new Promise((resolve) => {
  try {
    const asked = indexedDB.open('sinew-studio', 1);
    asked.onupgradeneeded = () => STORES.forEach((name) => asked.result.createObjectStore(name));
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => resolve(null);
  } catch {
    resolve(null);
  }
});

/** Runs requests in one transaction; gives the result of the last one. */
async function stored<T>(mode: IDBTransactionMode, requests: (of: (name: (typeof STORES)[number]) => IDBObjectStore) => IDBRequest<T> | void): Promise<T | undefined> {
  const base = await database;
  if (!base) return undefined;
  return new Promise((resolve, reject) => {
    const transaction = base.transaction(STORES, mode);
    const last = requests((name) => transaction.objectStore(name));
    transaction.oncomplete = () => resolve(last?.result);
    transaction.onabort = transaction.onerror = () => reject(transaction.error);
  });
}

const entries = async (): Promise<Entry[]> =>
  ((await stored('readonly', (of) => of('entries').getAll() as IDBRequest<Entry[]>)) ?? []).sort((a, b) => b.when - a.when);

let release = () => {};  // gives the entry of this tab back
/** Takes an entry for this tab, until it takes another one or is closed. False: another tab has it. */
function claimed(key: string): Promise<boolean> {
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((resolve, reject) => {
    navigator.locks.request(`sinew-studio ${key}`, {ifAvailable: true}, (lock) => {
      resolve(!!lock);
      if (!lock) return;
      release();
      return new Promise<void>((done) => (release = done));
    }).catch(reject);
  });
}

async function idOf({name, bytes, beside, skeleton}: OpenFile): Promise<string> {
  const parts = [bytes, ...(beside ?? []).map((b) => b.bytes), ...(skeleton ? [skeleton.bytes] : [])];
  // Not every host is a secure context, which the digest needs.
  if (!globalThis.crypto?.subtle) return `${name} ${parts.map((p) => p.length).join(' ')}`;
  const digests = await Promise.all(parts.map((p) => crypto.subtle.digest('SHA-1', p as BufferSource)));
  return `${name} ${digests.map((d) => [...new Uint8Array(d)].map((b) => b.toString(16).padStart(2, '0')).join('')).join(' ')}`;
}

// ---- what is open

let current: {key: string; id: Promise<string>; file: OpenFile} | null = null;
let fresh = '';  // the document as it was opened, without any work
let savedDoc: Doc = EMPTY;
let written: {file: OpenFile | null; binding: KeptBinding | null; doc: Doc | null} = {file: null, binding: null, doc: null};
let continued: string | null = null;  // the key of the entry that is being opened

const textOf = (doc: Doc) => JSON.stringify({...doc, pose: {}});
/** Whether there is work that is in no file. */
const unsaved = () => !!session.opened && history.doc !== savedDoc && textOf(history.doc) !== textOf(savedDoc);

/** The work is in a file now. */
export function markSaved(): void {
  savedDoc = history.doc;
}

let timer = 0, writing: Promise<void> = Promise.resolve();
/** Whether everything is kept. For tests. */
export const isKept = () => !timer && written.doc === history.doc && written.binding === (currentWork()?.binding ?? null);

function later() {
  if (!current || timer) return;
  timer = window.setTimeout(() => {
    timer = 0;
    writing = writing.then(write).catch((error) => console.warn('sinew: the work is not kept', error));
  }, PAUSE);
}

async function write() {
  const work = currentWork();
  // While another file is being opened, the work is already its own, and the key is not.
  if (!work || !current || work.file !== current.file) return;
  const {key} = current, id = await current.id;
  const {file, doc, binding} = work;
  const nothing = !binding && textOf(doc) === fresh;
  const entry: Entry = {key, id, name: file.name, when: Date.now(), doc, bound: !!binding};
  await stored('readwrite', (of) => {
    if (nothing) return STORES.forEach((name) => void of(name).delete(key));
    of('entries').put(entry, key);
    if (written.file !== file) of('files').put(file, key);
    if (written.binding !== binding) binding ? of('bindings').put(binding, key) : of('bindings').delete(key);
  });
  written = {file: nothing ? null : file, binding, doc};
  for (const {key: old} of (await entries()).slice(MOST)) await remove(old);
  if (currentWork()?.doc !== doc || currentWork()?.binding !== binding) later();
}

const remove = (key: string) => stored('readwrite', (of) => STORES.forEach((name) => void of(name).delete(key)));

// ---- what was there before

async function resume(key: string) {
  const own = await claimed(key);
  const base = await stored('readonly', (of) => of('entries').get(key) as IDBRequest<Entry | undefined>);
  const file = await stored('readonly', (of) => of('files').get(key) as IDBRequest<OpenFile | undefined>);
  const binding = await stored('readonly', (of) => of('bindings').get(key) as IDBRequest<KeptBinding | undefined>);
  if (!base || !file) return showError(new Error('this work is no longer in the browser'));
  continued = own ? key : null;
  await open(file, {doc: base.doc, binding: binding ?? null});
  continued = null;
  if (!own) notice('This work is open in another tab, which keeps it. Here is a copy, kept apart.');
}

const said = (entry: Entry) => summaryOf(entry.doc, entry.bound);
const dated = (when: number) => new Date(when).toLocaleString([], {dateStyle: 'medium', timeStyle: 'short'});

/** The list on the empty page. */
export async function offerEarlier(): Promise<void> {
  const list = await entries();
  refill(byId('earlier'), ...(list.length ? [el('p', {}, 'or continue')] : []), ...list.map((entry) => el('div', {key: entry.key, class: 'row'},
    button(entry.name, `${dated(entry.when)}: ${said(entry)}`, () => void resume(entry.key).catch(showError), {'data-earlier': entry.name}),
    el('small', {}, `${dated(entry.when)}: ${said(entry)}`),
    button('Discard', `Forgets the work on ${entry.name}`, () => void remove(entry.key).then(offerEarlier).catch(showError)))));
}

on(['character'], () => {
  const work = currentWork();
  if (!work) return;
  savedDoc = history.doc;
  fresh = textOf({...EMPTY, settings: work.file.settings ?? {}});
  const id = idOf(work.file);
  if (continued) {
    current = {key: continued, id, file: work.file};
    written = {...work};
    return;
  }
  const key = `${Date.now()} ${Math.random()}`;
  void claimed(key);
  current = {key, id, file: work.file};
  written = {file: null, binding: null, doc: null};
  notice('');
  if (work.binding || textOf(work.doc) !== fresh) later();
  void (async () => {
    const own = await id;
    const earlier = (await entries()).find((e) => e.id === own && e.key !== key);
    if (!earlier || current?.key !== key || textOf(earlier.doc) === textOf(history.doc)) return;
    notice(`Earlier work on ${earlier.name}, ${dated(earlier.when)}: ${said(earlier)}.`, [
      ['Continue', () => void resume(earlier.key).catch(showError)],
      ['Discard', () => void remove(earlier.key)],
    ]);
  })().catch(console.warn);
});
on(['bound'], later);
history.listen(later);
window.addEventListener('beforeunload', (event) => {
  if (unsaved()) event.preventDefault();
});


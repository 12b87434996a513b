// Edit lists (docs/edits.md) that come as files. No DOM.
import {NAMES, type Doc, type Edit, type Selection} from './store';

type Entry = Record<string, unknown>;

/** Whether a text is an edit list, by its first key. Errors in the list are reported by the core. */
export function isEditList(text: string): boolean {
  try {
    return JSON.parse(text)?.sinew === 'edits';
  } catch {
    return false;
  }
}

const only = (entry: Entry, ...keys: string[]) => Object.keys(entry).every((k) => keys.includes(k));
const isName = (x: unknown): x is string => typeof x === 'string' && !/[*?]/.test(x);
/** One joint, as a name or a list of one name. */
const oneOf = (x: unknown): string | null => (isName(x) ? x : Array.isArray(x) && x.length === 1 && isName(x[0]) ? x[0] : null);

const areNames = (x: unknown) => x === undefined || isName(x) || (Array.isArray(x) && x.every(isName));

/** A selection of the kind that the brush makes, as a list; null: another one. */
function selectionOf(value: unknown): Selection | undefined | null {
  if (value === undefined) return undefined;
  const list = (Array.isArray(value) ? value : [value]) as Entry[];
  const known = list.every((w) => w && typeof w === 'object' && only(w, 'sphere', 'brush', 'vertices', 'mesh', 'material') &&
    (w.mesh === undefined || typeof w.mesh === 'string') && (w.material === undefined || typeof w.material === 'string'));
  return known && list.length ? (list as Selection) : null;
}

/** What the list changes in a document. Entries that the page cannot make are kept as they are. */
export function withEdits(doc: Doc, text: string): Partial<Doc> {
  const list = JSON.parse(text) as {falloff?: Entry[]; rigid?: Entry[]; lock?: {joints?: string | string[]; select?: unknown}; edits?: Entry[]};
  const falloff: Record<string, number> = {...doc.falloff};
  const edits: Edit[] = [];
  const other = (name: 'falloff' | 'rigid' | 'edits', entry: Entry) => edits.push({op: 'other', list: name, entry});
  const selected = (entry: Entry): {select?: Selection} | null => {
    const select = selectionOf(entry.select);
    return select === null ? null : select ? {select} : {};
  };
  for (const entry of list.rigid ?? []) {
    const joint = oneOf(entry.joints), select = selected(entry);
    if (joint && select && only(entry, 'joints', 'select')) edits.push({op: 'rigid', joint, ...select});
    else other('rigid', entry);
  }
  for (const entry of list.falloff ?? []) {
    const joint = oneOf(entry.joints), select = selected(entry);
    if (joint && typeof entry.hardness === 'number' && only(entry, 'hardness', 'joints')) falloff[joint] = entry.hardness;
    else if (select && typeof entry.value === 'number' && only(entry, 'value', 'select')) edits.push({op: 'hardness', value: entry.value, ...select});
    else other('falloff', entry);
  }
  for (const entry of list.edits ?? []) {
    const select = selected(entry);
    if (select && NAMES.every((key) => areNames(entry[key])) && [entry.locked ?? [], entry.pins ?? []].every(Array.isArray)) edits.push({...entry, ...select} as Edit);
    else other('edits', entry);
  }
  const joints = list.lock?.joints ?? [];
  const locked = [...new Set([...doc.locked, ...(Array.isArray(joints) ? joints : [joints])])];
  return {falloff, locked, edits: [...doc.edits, ...edits], lockedWhere: list.lock?.select ?? doc.lockedWhere};
}

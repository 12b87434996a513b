// Exports: files, a picture, and the equivalent command for a shell.
import type {Format, Settings} from 'sinew-skin';
import {button, byId, download, el, refill} from './dom';
import {save as saveSkeleton} from './drawing';
import {notice, say, showError} from './messages';
import {markSaved} from './keeping';
import {EXTENSION, packed} from './project';
import {bind, currentWork} from './session';
import {client, history, on, session, view} from './state';
import {alone, canEdit, request, weigh} from './work';
import {animationOf, commandLine, cutoutLine, editsOf, followsPose, formatOf, outputName, settingsOf} from './store';

const stem = () => session.file!.name.replace(/\.[^.]*$/, '');

/** A click handler that calls the core and shows errors. */
const careful = (task: () => Promise<void>) => () => void task().catch(showError);

let warned = false;  // that a bind is missing
/** Notes on the last exported animation. */
let animationNotes: string[] = [];

/** Whether there are final weights of the shown settings: binds again where these have changed since. A file has those of the bind
 * pose. */
async function ready(): Promise<boolean> {
  if (!session.rows || session.refining || !(session.flat || canEdit() || (session.stale && (await bind())))) return false;
  if (followsPose(history.doc)) await alone(() => weigh(history.doc, true));
  return true;
}

const exportAs = (given?: Format) => careful(async () => {
  if (!session.opened || !(session.bound || session.flat || canEdit())) {
    warned = true;
    return notice('There is nothing to export yet: bind first (B).');
  }
  if (!(await ready())) return;
  const format = given ?? formatOf(session.file!.name);
  const {bytes, notes} = await client.save(format, settingsOf(history.doc), animationOf(history.doc, session.info!.joints.length, session.base));
  request('pose');
  animationNotes = notes.filter((n) => n.startsWith('animation'));
  draw();
  download(session.flat ? `${stem()}.${format}` : outputName(session.file!.name, format), bytes,
           format === 'glb' ? 'model/gltf-binary' : 'application/octet-stream');
  markSaved();
  say('exported');
});
export const exportFile = exportAs();
const exportWeights = careful(async () => {
  if (!(await ready())) return;
  download(`${stem()}.weights.json`, await client.saveWeights(), 'application/json');
  request('pose');
});
const exportEdits = () => download(`${stem()}.edits.json`, editsOf(history.doc), 'application/json');
/** The opened files and all that was done, in one file that the page opens again. */
export const saveProject = careful(async () => {
  const work = currentWork();
  if (!work) return;
  download(`${stem()}${EXTENSION}`, packed(work), 'application/zip');
  markSaved();
});
const exportPicture = careful(async () => {
  const picture = await view.pictures.png();
  if (picture) download(`${stem()}.png`, picture, 'image/png');
});

function copy(event: Event) {
  const button = event.currentTarget as HTMLButtonElement;
  careful(async () => {
    await navigator.clipboard.writeText(byId<HTMLTextAreaElement>('command').value);
    button.textContent = 'Copied';
    setTimeout(() => (button.textContent = 'Copy'), 1500);
  })();
}

function draw() {
  const {opened, rows, refining, bound, stale} = session;
  if (!opened) return;
  const {keys, name} = history.doc.track;
  const file = history.doc.start === 'file';
  const unready = !rows || refining || !(session.flat || bound || file);
  const first = stale && !file ? 'Bind and export' : '';
  const own = formatOf(session.file!.name), other = own === 'glb' ? 'fbx' : 'glb';
  const top = byId<HTMLButtonElement>('export-top');
  top.textContent = first || 'Export';
  top.disabled = unready;
  refill(byId('export-panel'),
    el('h2', {}, 'Export'),
    el('div', {class: 'row'},
       button(first || own.toUpperCase(), unready ? (refining ? 'After refinement' : 'Bind first') : first ? 'Options changed: binds again, then writes the file' : keys.length ? 'The file with its new weights and the animation of the time line'
                                                                   : 'The file with its new weights, nothing else changed',
              exportFile, {id: 'export', disabled: unready}),
       button(other.toUpperCase(), other === 'fbx' ? 'A new FBX' : 'A new GLB', exportAs(other), {id: `export-${other}`, disabled: unready}),
       button('Weights', 'Weights as JSON', exportWeights, {disabled: unready}),
       ...(session.flat ? [] : [button('Edits', 'Changes by hand, which apply to other versions of the character', exportEdits, {id: 'export-edits'})]),
       ...(history.doc.bones?.length ? [button('Skeleton', session.flat ? 'The drawn bones' : 'The drawn skeleton', saveSkeleton)] : []),
       button('Picture', 'The view as PNG', exportPicture),
       button('Project', 'All of the work in one file, to go on later', saveProject, {id: 'save-project'})),
    ...(keys.length ? [el('p', {class: 'dim'}, `The file gets the time line as animation “${name}”; the command below does not write it.`)] : []),
    ...animationNotes.map((t) => el('p', {class: 'dim'}, t)),
    el('label', {htmlFor: 'command', class: 'dim'}, 'The same in a shell'),
    el('textarea', {id: 'command', rows: 4, readOnly: true, spellcheck: false}),
    el('div', {class: 'row'}, button('Copy', 'Copy the command', copy)),
  );
  void drawCommand();
}

/** The options of the exported result; a first result has its own resolution. */
function boundSettings(): Settings {
  const settings = settingsOf(history.doc);
  const {bound, refining, stale} = session;
  if (!bound?.coarse || refining || stale) return settings;
  settings.push(['resolution', String(bound.report.options.resolution)]);
  if (history.doc.settings['local-resolution'] === 'on') settings.push(['local-resolution', 'off']);
  return settings;
}

async function drawCommand() {
  const box = document.getElementById('command') as HTMLTextAreaElement | null;
  const {file} = session;
  if (!box || !file) return;
  const edits = !!editsOf(history.doc);
  if (file.picture) {
    box.value = cutoutLine(file.name, file.picture.layers ? null : file.skeleton?.name, history.doc.smoothness);
    return;
  }
  // After a flat figure the panel is drawn again only when the next file is shown.
  const edit = document.getElementById('export-edits') as HTMLButtonElement | null;
  if (edit) edit.disabled = !edits;
  try {
    const start = history.doc.start;
    const opened = [...(file.skeletonScale ? [`--skeleton-scale ${file.skeletonScale}`] : []), ...(file.prop ? ['--prop'] : [])];
    const options = [...opened, await client.command(start === 'file' ? [] : boundSettings())].filter(Boolean).join(' ');
    box.value = start === 'file' && !edits ? 'The weights are those of the file.' : commandLine(file.name, file.skeleton?.name, options, edits, start);
  } catch (error) {
    showError(error);
  }
}

byId('export-top').addEventListener('click', exportFile);
on(['character'], () => (animationNotes = []));
on(['bound'], () => {
  if (warned) notice('');
  warned = false;
});
on(['character', 'bound', 'options'], draw);
history.listen((doc, before) => {
  if (doc.track.name !== before.track.name || !doc.track.keys.length !== !before.track.keys.length) draw();
  else void drawCommand();
});

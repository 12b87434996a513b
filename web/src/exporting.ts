// What is taken away: files, a picture, and the command that does the same in a shell.
import {button, byId, download, el, refill} from './dom';
import {save as saveSkeleton} from './drawing';
import {showError} from './messages';
import {client, history, on, session, view} from './session';
import {commandLine, cutoutLine, editsOf, outputName, settingsOf} from './store';

const stem = () => session.file!.name.replace(/\.[^.]*$/, '');

/** A click that asks the core for something: what goes wrong is shown. */
const careful = (task: () => Promise<void>) => () => void task().catch(showError);

const exportGlb = careful(async () => {
  const {bytes} = await client.saveGlb(settingsOf(history.doc));
  download(session.flat ? `${stem()}.glb` : outputName(session.file!.name), bytes, 'model/gltf-binary');
});
const exportWeights = careful(async () => download(`${stem()}.weights.json`, await client.saveWeights(), 'application/json'));
const exportEdits = () => download(`${stem()}.edits.json`, editsOf(history.doc), 'application/json');
const exportPicture = careful(async () => {
  const picture = await view.picture();
  if (picture) download(`${stem()}.png`, picture, 'image/png');
});

function copy(event: Event) {
  const said = event.currentTarget as HTMLButtonElement;
  careful(async () => {
    await navigator.clipboard.writeText(byId<HTMLTextAreaElement>('command').value);
    said.textContent = 'Copied';
    setTimeout(() => (said.textContent = 'Copy'), 1500);
  })();
}

function draw() {
  const {opened, rows} = session;
  if (!opened) return;
  refill(byId('export-panel'),
    el('h2', {}, 'Export'),
    el('div', {class: 'row'},
       button('GLB', 'The file with its new weights, nothing else changed', exportGlb, {id: 'export', disabled: !rows}),
       button('Weights', 'Weights as JSON', exportWeights, {disabled: !rows}),
       ...(session.flat ? [] : [button('Edits', 'What was changed by hand, for sinew bind --edits', exportEdits, {id: 'export-edits'})]),
       ...(history.doc.bones?.length ? [button('Skeleton', session.flat ? 'What was drawn, for sinew cutout --bones' : 'What was drawn, for sinew bind --skeleton', saveSkeleton)] : []),
       button('Picture', 'The view as PNG', exportPicture)),
    el('label', {htmlFor: 'command', class: 'dim'}, 'The same in a shell'),
    el('textarea', {id: 'command', rows: 4, readOnly: true, spellcheck: false}),
    el('div', {class: 'row'}, button('Copy', 'Copy the command', copy)),
  );
  void drawCommand();
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
  byId<HTMLButtonElement>('export-edits').disabled = !edits;
  try {
    box.value = commandLine(file.name, file.skeleton?.name, await client.command(settingsOf(history.doc)), edits);
  } catch (error) {
    showError(error);
  }
}

on(['character', 'bound', 'options'], draw);
history.listen(() => void drawCommand());

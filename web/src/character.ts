// The left panel: the character, its joints, and the settings of the selected joint.
import {button, byId, check, el, refill, slider} from './dom';
import {history, on, selectJoint, session, view} from './session';
import {valueOf} from './options';
import {factorOf, withFactor, type Edit} from './store';
import {colourOf, swatch} from './surface';
import {defectsOf, factsOf, inPage, reasonOf} from './words';

/** Joints with their depth in the hierarchy, each after its parent. */
function ordered(joints: readonly {parent: number}[]): {joint: number; depth: number}[] {
  const children = joints.map(() => [] as number[]);
  joints.forEach((j, i) => j.parent >= 0 && children[j.parent].push(i));
  const out: {joint: number; depth: number}[] = [];
  const walk = (joint: number, depth: number) => {
    out.push({joint, depth});
    for (const c of children[joint]) walk(c, depth + 1);
  };
  joints.forEach((j, i) => j.parent < 0 && walk(i, 0));
  return out;
}

let sought = '';  // in the search field, which a redraw keeps
let sliding = false;  // a redraw would take the slider away from the pointer

function draw() {
  const {info} = session;
  if (!info) return;
  const scrolled = document.getElementById('joint-list')?.scrollTop ?? 0;
  const defects = [...(session.flat ? [] : defectsOf(info)), ...info.warnings.map(inPage)];
  const filter = el('input', {type: 'search', placeholder: 'Find a joint', 'aria-label': 'Find a joint', style: 'width:100%'});
  const list = el('ul', {id: 'joint-list', role: 'listbox', tabIndex: 0, 'aria-label': 'Joints'});
  const order = ordered(info.joints);
  for (const {joint, depth} of order) {
    const {name, deforms, reason} = info.joints[joint];
    list.append(el('li', {
      role: 'option', id: `joint-${joint}`, 'data-joint': joint, 'aria-selected': joint === session.joint, class: deforms ? '' : 'idle',
      title: `${name}: ${reasonOf(reason)}`, style: `padding-left:${8 + 9 * Math.min(depth, 12)}px`,
      on: {click: () => selectJoint(joint)},
    }, swatch(deforms ? colourOf(joint) : [0.2, 0.2, 0.2]), el('span', {}, name),
       ...(history.doc.held.includes(name) ? [el('small', {}, 'locked')] : []),
       ...(history.doc.locked.includes(name) ? [el('small', {}, 'kept')] : [])));
  }
  filter.value = sought;
  const seek = () => {
    sought = filter.value;
    const word = sought.toLowerCase();
    for (const item of list.children as HTMLCollectionOf<HTMLElement>)
      item.hidden = !info.joints[Number(item.dataset.joint)].name.toLowerCase().includes(word);
  };
  filter.addEventListener('input', seek);
  seek();
  list.addEventListener('keydown', (event) => {
    const shown = order.filter(({joint}) => !byId(`joint-${joint}`).hidden);
    const now = shown.findIndex((o) => o.joint === session.joint);
    const to = {ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: shown.length - 1}[event.key];
    if (to === undefined || !shown.length) return;
    event.preventDefault();
    selectJoint(shown[Math.min(Math.max(to, 0), shown.length - 1)].joint);
  });
  const joint = el('div', {id: 'joint'});
  drawJoint(joint);
  refill(byId('left'),
    el('h2', {}, 'Character'),
    el('ul', {class: 'facts'}, ...factsOf(info).map((t) => el('li', {}, t))),
    ...(defects.length
      ? [el('details', {open: defects.length < 4}, el('summary', {}, `${defects.length} to know about the mesh`),
            el('ul', {class: 'facts'}, ...defects.map((t) => el('li', {}, t))))]
      : []),
    el('h2', {}, 'Joints'),
    filter,
    list,
    joint,
  );
  list.scrollTop = scrolled;
}

function drawJoint(box = document.getElementById('joint')) {
  const {info, joint} = session;
  if (!box || !info) return;
  if (session.tool === 'draw') return box.replaceChildren();
  if (joint < 0) {
    refill(box, el('p', {class: 'dim'}, 'Select a joint in the list or the view to see and change it.'));
    return;
  }
  const {name, deforms, reason} = info.joints[joint];
  const doc = history.doc;
  const parts: HTMLElement[] = [el('h2', {class: 'name'}, name), el('p', {class: 'dim'}, reasonOf(reason))];
  if (!session.flat) parts.push(check('Moves skin', 'Off: the joint gets no weight (--exclude, --include)', deforms, (yes) => {
    const without = (list: readonly string[]) => list.filter((n) => n !== name);
    // Taking back the opposite choice is enough where the joint is by itself as it is wanted.
    const usual = !doc.settings['deform-from'] && session.opened!.info.joints[joint]?.deforms === yes;
    const back = usual && (yes ? doc.exclude : doc.include).includes(name);
    history.change({
      exclude: yes || back ? without(doc.exclude) : [...without(doc.exclude), name],
      include: yes && !back ? [...without(doc.include), name] : without(doc.include),
    });
  }));
  if (session.opened?.ownRows && !session.flat)
    parts.push(check('Keeps the weights of the file', 'A bind leaves the weights of this joint as the file has them (--lock)',
                     doc.locked.includes(name), (yes) => {
      history.change({locked: yes ? [...history.doc.locked, name] : history.doc.locked.filter((n) => n !== name)});
      draw();
    }));
  if (deforms && !session.flat) parts.push(check('Lock weights', 'Painting leaves the weights of this joint as they are, like a locked vertex group or influence',
                                                 doc.held.includes(name), (yes) => {
    history.change({held: yes ? [...history.doc.held, name] : history.doc.held.filter((n) => n !== name)});
    draw();
  }));
  if (deforms && !session.flat) parts.push(...hardness(name), factor(name));
  if (doc.pose[joint])
    parts.push(button('Turn back', 'The joint as in the bind pose', () => {
      const {[joint]: _, ...rest} = history.doc.pose;
      history.change({pose: rest});
    }));
  refill(box, ...parts);
}

/** The list gets shorter if the details of a joint take more space. */
function showSelected() {
  document.getElementById(`joint-${session.joint}`)?.scrollIntoView({block: 'nearest'});
}

/** α of one joint. */
function hardness(name: string): HTMLElement[] {
  const own = history.doc.falloff[name];
  const move = slider('Hardness here', 'α of this joint instead of the general one', {min: 0, max: 1, step: 0.01},
                      own ?? Number(valueOf('falloff')),
                      (v) => history.change({falloff: {...history.doc.falloff, [name]: v}}, `falloff ${name}`), () => {
                        history.settle();
                        drawJoint();
                      });
  if (own === undefined) return [move];
  return [move, button('As all others', 'Removes the hardness of this joint', () => {
    const {[name]: _, ...rest} = history.doc.falloff;
    history.change({falloff: rest});
    drawJoint();
  })];
}

/** How much of the surface the joint takes: one number, which no rule can know for a character. */
function factor(name: string): HTMLElement {
  const change = (edits: Edit[]) => history.change({edits}, `factor ${name}`);
  const now = factorOf(history.doc, name);
  // In octaves: as far to a half as to twice. The factor of an edit list may be beyond the ends.
  const start = Math.min(4, Math.max(-4, Math.log2(now)));
  return slider('Takes', 'All weights of this joint times this number, before all weights of a vertex are divided by their sum. 1: as computed',
                {min: -4, max: 4, step: 0.125}, start, (octaves) => {
                  sliding = true;
                  change(withFactor(history.doc, name, Number((2 ** octaves).toPrecision(3))));
                }, () => {
                  if (factorOf(history.doc, name) === 1) change(withFactor(history.doc, name, null));
                  sliding = false;
                  history.settle();
                }, (octaves) => `× ${octaves === start ? now : Number((2 ** octaves).toPrecision(3))}`);
}

function markSelected() {
  const list = document.getElementById('joint-list');
  if (session.joint >= 0) list?.setAttribute('aria-activedescendant', `joint-${session.joint}`);
  else list?.removeAttribute('aria-activedescendant');
  for (const item of byId('left').querySelectorAll<HTMLElement>('#joint-list li'))
    item.setAttribute('aria-selected', String(Number(item.dataset.joint) === session.joint));
  showSelected();
}

on(['character'], () => {
  sought = '';
  document.getElementById('joint-list')?.scrollTo(0, 0);
});
on(['character', 'bound', 'options', 'joints'], draw);
on(['tool'], () => drawJoint());
on(['selection'], () => {
  drawJoint();
  markSelected();
});
history.listen((doc, before) => {
  if ((doc.pose !== before.pose && !view.turning) || (doc.edits !== before.edits && !sliding)) drawJoint();
});

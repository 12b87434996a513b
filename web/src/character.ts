// The left panel: the character, its joints, and the settings of the selected joint.
import {button, byId, check, el, refill, slider, type VNode} from './dom';
import {icon, type Icon} from './icons';
import {selectJoint, showOnly} from './showing';
import {history, on, session, view} from './state';
import {valueOf} from './options';
import {factorOf, withFactor, type Edit} from './store';
import {colourOf, swatch} from './surface';
import {count, defectsOf, factsOf, inPage, number, reasonOf} from './words';

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

let sought = '';  // in the search field
let collapsed = false;  // the table of joints
let owned: Uint32Array | null = null;  // by joint: the vertices that it has most of

function countOwned() {
  const {rows, info} = session;
  owned = rows && info && new Uint32Array(info.joints.length);
  for (let at = 0; owned && at < rows!.joints.length; at += rows!.width) if (rows!.shares[at] > 0) ++owned[rows!.joints[at]];
}

const toggled = (list: readonly string[], name: string, yes: boolean) => (yes ? [...list, name] : list.filter((n) => n !== name));

/** A row of the table: what the joint has, and what may be done with it at once. */
function rowOf(joint: number, depth: number): VNode {
  const {name, deforms, reason} = session.info!.joints[joint];
  const {held, locked} = history.doc;
  const here = joint === session.joint;
  const holds = held.includes(name), alone = session.only?.joints?.length === 1 && session.only.joints[0] === joint;
  const factor = factorOf(history.doc, name);
  const tool = (of: Icon, label: string, pressed: boolean, act: () => void) => el('button', {
    type: 'button', class: 'tool', tabIndex: -1, title: label, 'aria-label': `${label}: ${name}`, 'aria-pressed': pressed,
    onClick: (event: Event) => (event.stopPropagation(), act()),
  }, icon(of));
  return el('li', {
    key: joint, role: 'row', id: `joint-${joint}`, 'data-joint': joint, 'aria-selected': here, class: deforms ? '' : 'idle',
    title: `${name}: ${reasonOf(reason)}`, style: `padding-left:${8 + 6 * Math.min(depth, 10)}px`, onClick: () => selectJoint(joint),
  }, el('div', {role: 'gridcell'}, swatch(deforms ? colourOf(joint) : [0.2, 0.2, 0.2]), el('span', {}, name),
     holds && el('small', {}, 'locked'), locked.includes(name) && el('small', {}, 'kept'),
     factor !== 1 && !here && el('small', {}, `× ${factor}`),
     here && owned && deforms && el('input', {type: 'number', class: 'takes', min: 0, max: 16, step: 0.1, value: factor, title: 'Takes: all its weights times this', 'aria-label': `Takes: ${name}`,
       onClick: (event: Event) => event.stopPropagation(), onChange: (event: Event) => {
         const {valueAsNumber: value} = event.currentTarget as HTMLInputElement;
         if (value >= 0) history.change({edits: withFactor(history.doc, name, value === 1 ? null : value)});
       }}),
     owned && !here && el('small', {class: 'count', title: 'Vertices of which it has most'}, owned[joint] ? number(owned[joint]) : ''),
     owned && deforms && tool('eye', 'Only this joint in colour', alone, () => showOnly(alone ? null : {joints: [joint]})),
     owned && deforms && tool('lock', 'Lock its weights', holds, () => history.change({held: toggled(held, name, !holds)}))));
}

function draw() {
  const {info} = session;
  if (!info) return;
  const defects = [...(session.flat ? [] : defectsOf(info)), ...info.warnings.map(inPage)];
  const word = sought.toLowerCase();
  const order = ordered(info.joints).filter(({joint}) => info.joints[joint].name.toLowerCase().includes(word));
  const move = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const now = order.findIndex((o) => o.joint === session.joint);
    const to = {ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: order.length - 1}[event.key];
    if (to === undefined || !order.length) return;
    event.preventDefault();
    selectJoint(order[Math.min(Math.max(to, 0), order.length - 1)].joint);
  };
  refill(byId('character-panel'),
    el('details', {key: 'facts', class: 'first', open: !session.rows && defects.length > 0 && defects.length < 4},
      el('summary', {}, factsOf(info)[0]),
      el('ul', {class: 'facts'}, ...[...factsOf(info).slice(1), ...defects].map((t) => el('li', {}, t)))),
    el('div', {class: 'row'},
      el('button', {type: 'button', id: 'joints-toggle', class: 'plain', title: collapsed ? 'Show the table of joints' : 'Hide the table of joints', 'aria-expanded': !collapsed,
                    'aria-controls': 'joint-list', onClick: () => (collapsed = !collapsed, draw())}, icon(collapsed ? 'closed' : 'opened'), count(info.joints.length, 'joint')),
      el('input', {class: 'grow', hidden: collapsed, type: 'search', placeholder: 'Find', 'aria-label': 'Find a joint', value: sought, onInput: (event: Event) => {
      sought = (event.currentTarget as HTMLInputElement).value;
      draw();
    }})),
    el('ul', {id: 'joint-list', hidden: collapsed, role: 'grid', tabIndex: 0, 'aria-label': 'Joints', onKeyDown: move,
              ...(session.joint >= 0 ? {'aria-activedescendant': `joint-${session.joint}`} : {})}, ...order.map(({joint, depth}) => rowOf(joint, depth))),
    el('div', {id: 'joint'}, ...jointPanel()),
  );
}

/** The settings of the selected joint. */
function jointPanel(): VNode[] {
  const {info, joint} = session;
  if (!info || session.tool === 'draw') return [];
  if (joint < 0) return [el('p', {class: 'dim'}, 'Select a joint to see and change it.')];
  const {name, deforms, reason} = info.joints[joint];
  const doc = history.doc;
  const parts: VNode[] = [el('h2', {class: 'name'}, name), el('p', {class: 'dim'}, reasonOf(reason) + (owned?.[joint] ? `: most of ${count(owned[joint], 'vertex', 'vertices')}` : ''))];
  const file = doc.start === 'file';
  // As the document says: the core answers later.
  const byItself = doc.settings['deform-from'] ? deforms : session.opened!.info.joints[joint]?.deforms ?? deforms;
  const moves = !doc.exclude.includes(name) && (doc.include.includes(name) || byItself);
  if (!session.flat && !file) parts.push(check('Moves skin', 'Off: the joint gets no weight', moves, (yes) => {
    const without = (list: readonly string[]) => list.filter((n) => n !== name);
    // Taking back the opposite choice is enough where the joint is by itself as it is wanted.
    const usual = !doc.settings['deform-from'] && session.opened!.info.joints[joint]?.deforms === yes;
    const back = usual && (yes ? doc.exclude : doc.include).includes(name);
    history.change({
      exclude: yes || back ? without(doc.exclude) : [...without(doc.exclude), name],
      include: yes && !back ? [...without(doc.include), name] : without(doc.include),
    });
  }));
  if (session.opened?.ownRows && !session.flat && !file)
    parts.push(check('Keeps the weights of the file', 'A bind leaves the weights of this joint as the file has them',
                     doc.locked.includes(name), (yes) => history.change({locked: toggled(history.doc.locked, name, yes)})));
  if (deforms && !session.flat) {
    parts.push(check('Lock weights', 'Painting and answers leave the weights of this joint as they are, like a locked vertex group or influence',
                     doc.held.includes(name), (yes) => history.change({held: toggled(history.doc.held, name, yes)})));
    if (!file) parts.push(...hardness(name));
    parts.push(factor(name));
  }
  if (doc.pose[joint])
    parts.push(button('Turn back', 'The joint as in the bind pose', () => {
      const {[joint]: _, ...rest} = history.doc.pose;
      history.change({pose: rest});
    }));
  return parts;
}

/** α of one joint. */
function hardness(name: string): VNode[] {
  const own = history.doc.falloff[name];
  const move = slider('Hardness here', 'α of this joint instead of the general one', {min: 0, max: 1, step: 0.01},
                      own ?? Number(valueOf('falloff')),
                      (v) => history.change({falloff: {...history.doc.falloff, [name]: v}}, `falloff ${name}`), () => {
                        history.settle();
                        draw();
                      });
  if (own === undefined) return [move];
  return [move, button('As all others', 'Removes the hardness of this joint', () => {
    const {[name]: _, ...rest} = history.doc.falloff;
    history.change({falloff: rest});
  })];
}

/** How much of the surface the joint takes: one number, which no rule can know for a character. */
function factor(name: string): VNode {
  const change = (edits: Edit[]) => history.change({edits}, `factor ${name}`);
  const now = factorOf(history.doc, name);
  // In octaves: as far to a half as to twice. The factor of an edit list may be beyond the ends.
  const start = Math.min(4, Math.max(-4, Math.log2(now)));
  return slider('Takes', 'All weights of this joint times this number, before all weights of a vertex are divided by their sum. 1: as computed',
                {min: -4, max: 4, step: 0.125}, start, (octaves) => {
                  change(withFactor(history.doc, name, Number((2 ** octaves).toPrecision(3))));
                }, () => {
                  if (factorOf(history.doc, name) === 1) change(withFactor(history.doc, name, null));
                  history.settle();
                }, (octaves) => `× ${octaves === start ? now : Number((2 ** octaves).toPrecision(3))}`);
}

on(['character'], () => {
  sought = '';
  document.getElementById('joint-list')?.scrollTo(0, 0);
});
on(['character', 'bound', 'weights'], countOwned);
on(['character', 'bound', 'weights', 'options', 'joints', 'tool', 'mode'], draw);
on(['selection'], () => {
  draw();
  // The list alone scrolls, not the page of a phone.
  const row = document.getElementById(`joint-${session.joint}`), list = row?.parentElement;
  if (list) list.scrollTop = Math.min(Math.max(list.scrollTop, row.offsetTop + row.offsetHeight - list.clientHeight), row.offsetTop);
});
history.listen((doc, before) => {
  if ((doc.pose !== before.pose && !view.handle.turning) || doc.edits !== before.edits || doc.held !== before.held || doc.locked !== before.locked ||
      doc.falloff !== before.falloff) draw();
});

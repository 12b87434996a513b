// A drawn skeleton: adds, moves, renames, removes, mirrors and saves joints. No DOM, no three.js; values are never changed
// in place.
import type {Joint} from 'sinew-skin';

export type Point = readonly [number, number, number];

/** A joint as docs/formats.md writes it (skeleton JSON). A parent may come anywhere in the list; -1: none. */
export interface Bone {
  name: string;
  parent: number;
  head: Point;
  /** The end of the bone, independent of its children; if missing, the child joints. */
  tail?: Point;
  /** Has no length and is listed under "points". */
  point?: boolean;
  /** Keys of the file unknown to the page. */
  rest?: Readonly<Record<string, unknown>>;
}

/** A crossing of a ray and a surface: its distance, and whether the ray enters through the outer side. */
export interface Crossing {
  at: number;
  enters: boolean;
}

/** The middle of the first piece of the ray inside the character: from its entry to where it has left every part that it entered
 * (clothes over a body are one piece). On an open surface: the middle to the next crossing, otherwise the crossing itself. Null:
 * no crossing. */
export function firstMiddle(crossings: readonly Crossing[]): number | null {
  if (!crossings.length) return null;
  const sorted = [...crossings].sort((a, b) => a.at - b.at);
  const first = sorted[0];
  let depth = 0;
  for (const {at, enters} of sorted) {
    // The first crossing shows whether the mesh is inside out.
    depth += enters === first.enters ? 1 : -1;
    if (depth <= 0) return (first.at + at) / 2;
  }
  const next = sorted.find((c) => c.at > first.at);
  return next ? (first.at + next.at) / 2 : first.at;
}

const SIDES: readonly [RegExp, RegExp, (word: string) => string][] = [
  [/left/i, /right/i, (w) => (w[0] === 'l' ? 'right' : w === 'LEFT' ? 'RIGHT' : 'Right')],
  [/right/i, /left/i, (w) => (w[0] === 'r' ? 'left' : w === 'RIGHT' ? 'LEFT' : 'Left')],
  [/(?<=[_. -])l$|^l(?=[_. -])/i, /(?<=[_. -])r$|^r(?=[_. -])/i, (w) => (w === 'l' ? 'r' : 'R')],
  [/(?<=[_. -])r$|^r(?=[_. -])/i, /(?<=[_. -])l$|^l(?=[_. -])/i, (w) => (w === 'r' ? 'l' : 'L')],
];

/** "arm_L" to "arm_R", "LeftHand" to "RightHand"; null: the name has no side. */
export function otherSide(name: string): string | null {
  for (const [here, , swap] of SIDES) if (here.test(name)) return name.replace(here, swap);
  return null;
}

/** The name, with a number appended if it is taken. */
export function freeName(wanted: string, bones: readonly {name: string}[]): string {
  const taken = new Set(bones.map((b) => b.name));
  if (!taken.has(wanted)) return wanted;
  const stem = wanted.replace(/_\d+$/, '');
  for (let n = 2;; ++n) if (!taken.has(`${stem}_${n}`)) return `${stem}_${n}`;
}

/** Bones before points, as a file lists them, so that numbers here are those of the core. */
function inOrder(bones: readonly Bone[]): Bone[] {
  const order = [...bones.keys()].sort((a, b) => Number(!!bones[a].point) - Number(!!bones[b].point) || a - b);
  const place = new Map(order.map((old, now) => [old, now]));
  return order.map((i) => ({...bones[i], parent: place.get(bones[i].parent) ?? -1}));
}

/** Adds a joint as the last of the bones. */
export function added(bones: readonly Bone[], parent: number, head: Point): Bone[] {
  const name = freeName(bones.length ? `joint_${bones.length}` : 'root', bones);
  return inOrder([...bones, {name, parent, head}]);
}

const same = (a: Point, b: Point) => a.every((x, k) => x === b[k]);

/** Moves a joint with its tail, and with tails of other bones that end at it. */
export function moved(bones: readonly Bone[], bone: number, head: Point): Bone[] {
  return bones.map((b, i) => {
    if (i !== bone) return b.tail && same(b.tail, bones[bone].head) ? {...b, tail: head} : b;
    const tail = b.tail && same(b.tail, b.head) ? head : b.tail?.map((x, k) => x + head[k] - b.head[k]) as Point | undefined;
    return {...b, head, ...(tail ? {tail} : {})};
  });
}

/** A plane at right angles to an axis. */
export interface Plane {
  axis: 0 | 1 | 2;
  middle: number;
}
const across = (p: Point, {axis, middle}: Plane): Point => p.map((x, k) => (k === axis ? 2 * middle - x : x)) as unknown as Point;

/** The plane between the two sides: at right angles to the axis along which pairs of joints (arm.L and arm.R) are apart, at the median
 * of their middles. Null: there are no pairs. */
export function planeOf(bones: readonly Bone[]): Plane | null {
  const place = new Map(bones.map((b, i) => [b.name, i]));
  const pairs = bones.flatMap(({name, head}, i): [Point, Point][] => {
    const twin = place.get(otherSide(name) ?? '') ?? -1;
    return twin > i ? [[head, bones[twin].head]] : [];
  });
  if (!pairs.length) return null;
  const apart = [0, 1, 2].map((k) => pairs.reduce((sum, [a, b]) => sum + Math.abs(a[k] - b[k]), 0));
  const axis = apart.indexOf(Math.max(...apart)) as Plane['axis'];
  const middles = pairs.map(([a, b]) => (a[axis] + b[axis]) / 2).sort((a, b) => a - b);
  return {axis, middle: middles[middles.length >> 1]};
}

/** Moves a joint, and the joint of the other side to the mirrored place. One without a side that is within `near` of the plane stays
 * in it. */
export function movedAlike(bones: readonly Bone[], bone: number, head: Point, plane: Plane, near: number): Bone[] {
  const {name, head: from} = bones[bone];
  const other = otherSide(name);
  if (other === null) {
    const within = Math.abs(from[plane.axis] - plane.middle) <= near;
    return moved(bones, bone, within ? (head.map((x, k) => (k === plane.axis ? plane.middle : x)) as unknown as Point) : head);
  }
  const twin = bones.findIndex((b) => b.name === other);
  const out = moved(bones, bone, head);
  return twin < 0 ? out : moved(out, twin, across(head, plane));
}

/** Removes a joint; its children become children of its parent. */
export function removed(bones: readonly Bone[], bone: number): Bone[] {
  const up = bones[bone].parent;
  const place = (j: number) => (j > bone ? j - 1 : j);
  return bones.filter((_, i) => i !== bone).map((b) => ({...b, parent: place(b.parent === bone ? up : b.parent)}));
}

/** Sets the parent; null if the joint would become its own ancestor. */
export function hung(bones: readonly Bone[], bone: number, parent: number): Bone[] | null {
  for (let j = parent; j >= 0; j = bones[j].parent) if (j === bone) return null;
  return bones.map((b, i) => (i === bone ? {...b, parent} : b));
}

export const renamed = (bones: readonly Bone[], bone: number, name: string): Bone[] =>
  bones.map((b, i) => (i === bone ? {...b, name: freeName(name, bones.filter((_, k) => k !== bone))} : b));

/** Mirrors the joints of one side, +x (left) or -x, across the plane x = `middle`. Joints that exist there by name are moved. Joints
 * within `near` of the plane are moved onto it. A name without a side gets _L or _R. */
export function mirrored(bones: readonly Bone[], from: 'left' | 'right', middle: number, near: number): Bone[] {
  const sign = from === 'left' ? 1 : -1;
  const flip = (p: Point): Point => [2 * middle - p[0], p[1], p[2]];
  // Heads, and tails at the position of a head.
  const onto = (p: Point): Point => (Math.abs(p[0] - middle) <= near ? [middle, p[1], p[2]] : p);
  const out = bones.map((b) => ({
    ...b, head: onto(b.head),
    ...(b.tail ? {tail: bones.some((other) => same(other.head, b.tail!)) ? onto(b.tail) : b.tail} : {}),
  }));
  const sided = out.map((b, i) => (sign * (b.head[0] - middle) > 0 ? i : -1)).filter((i) => i >= 0);
  const partner = new Map<number, number>();
  for (const i of sided) {
    if (!otherSide(out[i].name)) out[i] = {...out[i], name: freeName(`${out[i].name}_${from === 'left' ? 'L' : 'R'}`, out)};
    const name = otherSide(out[i].name)!;
    const {tail, head} = out[i];
    const there = out.findIndex((b) => b.name === name);
    const made = {...out[i], name, head: flip(head), ...(tail ? {tail: flip(tail)} : {})};
    partner.set(i, there >= 0 ? there : out.length);
    if (there >= 0) out[there] = {...made, parent: out[there].parent};
    else out.push(made);
  }
  for (const [i, j] of partner) out[j] = {...out[j], parent: partner.get(out[i].parent) ?? out[i].parent};
  return inOrder(out);
}

/** The joints of a skeleton file, to continue drawing. `text`: the file, whose other keys are kept. */
export function bonesOf(joints: readonly Joint[], text: string): Bone[] {
  let entries: Record<string, unknown>[] = [];
  let bones = joints.length;
  try {
    const read = JSON.parse(text);
    bones = read.bones?.length ?? 0;
    entries = [...(read.bones ?? []), ...(read.points ?? [])];
  } catch {
    // TGF: an edge is a bone, and a vertex without outgoing edges is an end without a bone. A single edge is a tail;
    // several edges from one vertex are links to child joints in skeleton JSON.
    const below = (i: number) => joints.filter((joint) => joint.parent === i);
    if (text) return joints.map(({name, parent, position, tail, deforms}, i) => ({
      name, parent, head: position, ...(tail ? {tail} : below(i).length === 1 ? {tail: below(i)[0].position} : {}),
      ...(deforms ? {} : {rest: {deform: false}}),
    }));
  }
  return joints.map(({name, parent, position, tail}, i) => {
    const {name: _n, parent: _p, head: _h, tail: _t, position: _q, ...rest} = entries[i] ?? {};
    return {
      name, parent, head: position, ...(tail ? {tail} : {}), ...(i >= bones ? {point: true} : {}),
      ...(Object.keys(rest).length ? {rest} : {}),
    };
  });
}

/** A flat figure: its bones are in pixels of a picture of this height, y down, 100 pixels a unit. */
export interface Flat {
  height: number;
}
const PIXELS = 100;

/** Skeleton JSON; for a flat figure, bones JSON (docs/cutout.md). */
export function skeletonText(bones: readonly Bone[], flat: Flat | null = null): string {
  const number = (x: number) => Number(x.toPrecision(7));
  const place = (p: Point) => (flat ? [p[0] * PIXELS, flat.height - p[1] * PIXELS] : [...p]).map(number);
  const entry = ({name, parent, head, tail, point, rest}: Bone) =>
    `    ${JSON.stringify({
      name, parent: parent < 0 ? null : bones[parent].name, [point ? 'position' : 'head']: place(head),
      ...(tail ? {tail: place(tail)} : {}), ...rest,
    })}`;
  const list = (name: string, of: readonly Bone[]) => (of.length ? [`  "${name}": [\n${of.map(entry).join(',\n')}\n  ]`] : []);
  const parts = [...list('bones', bones.filter((b) => !b.point)), ...list('points', bones.filter((b) => b.point))];
  return `{\n${parts.join(',\n')}\n}\n`;
}

/** Skeleton JSON that the core has written; for a flat figure, bones JSON that it has accepted. */
export function bonesIn(text: string, flat: Flat | null = null): Bone[] {
  const read = JSON.parse(text);
  const lists = [read.bones ?? [], read.points ?? []] as Record<string, unknown>[][];
  const place = ([x, y, z]: Point): Point => (flat ? [x / PIXELS, (flat.height - y) / PIXELS, 0] : [x, y, z]);
  const bones = lists.flatMap((list, point) => list.map((entry, i): Bone & {under: unknown} => {
    const {name, parent, head, tail, position, ...rest} = entry;
    return {
      name: (name as string) || `${point ? 'point' : 'bone'}_${i}`, parent: -1, under: parent,
      head: place((head ?? position) as Point),
      ...(tail ? {tail: place(tail as Point)} : {}), ...(point ? {point: true} : {}),
      ...(Object.keys(rest).length ? {rest} : {}),
    };
  }));
  return bones.map(({under, ...bone}) => ({
    ...bone, parent: typeof under === 'string' ? bones.findIndex((b) => b.name === under) : typeof under === 'number' ? under : -1,
  }));
}

/** The joints as the core would describe them, without calling it. */
export function jointsOf(bones: readonly Bone[]): Joint[] {
  return bones.map(({name, parent, head, tail}) => ({
    name, parent, position: [...head], axes: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], deforms: true, reason: 'deforms',
    ...(tail ? {tail: [...tail] as [number, number, number]} : {}),
  }));
}

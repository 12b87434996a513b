import {describe, expect, it} from 'vitest';
import {bonesIn} from '../src/skeleton';
import {EMPTY, History, appliedOf, belowStrokes, stepsBetween, commandLine, cutoutLine, editsOf, factorOf, followsPose, outputName, poseNumbers, quoted, settingsOf, withBones,
        withFactor, withSkeleton, workOf} from '../src/store';

const groups = new Map([
  ['method', 'Method'],
  ['resolution', 'Method'],
  ['falloff', 'Weights'],
  ['max-influences', 'Weights'],
  ['deform-from', 'Joints'],
  ['weight-format', 'Output'],
]);

it('lists with the same names and numbers with the same value need no bind', () => {
  const of = (part: object) => ({...EMPTY, ...part});
  expect(workOf(of({exclude: ['b', 'a'], settings: {resolution: '064'}}), of({exclude: ['a', 'b'], settings: {resolution: '64'}}), groups)).toBe('none');
  expect(workOf(of({include: ['a']}), of({include: []}), groups)).toBe('bind');
});

it('the factor of a joint is one edit, which keeps its place and what else it says', () => {
  const stroke = {op: 'sharpen' as const, select: [{vertices: [3]}]};
  let doc = {...EMPTY, held: ['Jaw'], edits: withFactor({...EMPTY, held: ['Jaw']}, 'Arm*', 2)};
  expect(JSON.parse(editsOf(doc)).edits).toEqual([{op: 'multiply', joints: 'Arm?', value: 2, locked: ['Jaw']}]);
  expect(factorOf(doc, 'Arm*')).toBe(2);
  expect(factorOf(doc, 'Leg')).toBe(1);
  doc = {...doc, edits: [...doc.edits, stroke], held: []};
  for (const value of [1.5, 1, 0.5]) doc = {...doc, edits: withFactor(doc, 'Arm*', value)};
  expect(doc.edits).toEqual([{op: 'multiply', joints: 'Arm?', value: 0.5, locked: ['Jaw']}, stroke]);
  expect(factorOf(doc, 'Arm*')).toBe(0.5);
  expect(withFactor(doc, 'Arm*', null)).toEqual([stroke]);
  // Edits with a selection are no factor.
  expect(factorOf({...EMPTY, edits: [{op: 'multiply', joints: 'Leg', value: 3, select: [{mesh: 'Body'}]}]}, 'Leg')).toBe(1);
});

describe('History', () => {
  it('undoes and redoes', () => {
    const h = new History();
    h.change({settings: {falloff: '0.2'}});
    h.change({locked: ['Jaw']});
    h.undo();
    expect(h.doc).toEqual({...EMPTY, settings: {falloff: '0.2'}});
    h.undo();
    expect(h.doc).toBe(EMPTY);
    expect(h.canUndo).toBe(false);
    h.undo();
    h.redo();
    h.redo();
    expect(h.doc.locked).toEqual(['Jaw']);
    expect(h.canRedo).toBe(false);
  });

  it('makes one step of a dragged slider, and another of the next drag', () => {
    const h = new History();
    for (const v of ['0.2', '0.3', '0.4']) h.change({settings: {falloff: v}}, 'falloff');
    h.settle();
    for (const v of ['0.5', '0.6']) h.change({settings: {falloff: v}}, 'falloff');
    h.undo();
    expect(h.doc.settings.falloff).toBe('0.4');
    h.undo();
    expect(h.doc).toBe(EMPTY);
  });

  it('does not merge different sliders', () => {
    const h = new History();
    h.change({falloff: {a: 0.5}}, 'falloff a');
    h.change({falloff: {a: 0.5, b: 0.1}}, 'falloff b');
    h.undo();
    expect(h.doc.falloff).toEqual({a: 0.5});
  });

  it('drops undone steps after another change', () => {
    const h = new History();
    h.change({locked: ['a']});
    h.undo();
    h.change({locked: ['b']});
    expect(h.canRedo).toBe(false);
    h.redo();
    expect(h.doc.locked).toEqual(['b']);
  });

  it('passes listeners the old and the new document', () => {
    const h = new History();
    const seen: [number, number][] = [];
    h.listen((doc, before) => seen.push([before.locked.length, doc.locked.length]));
    h.change({locked: ['a']});
    h.undo();
    h.redo();
    h.reset();
    expect(seen).toEqual([[0, 1], [1, 0], [0, 1], [1, 0]]);
    expect(h.canUndo || h.canRedo).toBe(false);
  });

  it('keeps a limited number of steps', () => {
    const h = new History();
    for (let i = 0; i < 500; ++i) h.change({locked: [String(i)]});
    let steps = 0;
    while (h.canUndo) h.undo(), ++steps;
    expect(steps).toBe(200);
  });
});

describe('input of the core', () => {
  it('puts the method before options of its preset', () => {
    expect(settingsOf({...EMPTY, settings: {resolution: '64', 'as-published': 'on', method: 'geodesic-voxel'}})).toEqual([
      ['method', 'geodesic-voxel'], ['as-published', 'on'], ['resolution', '64'],
    ]);
    const doc = {...EMPTY, settings: {falloff: '0.3', method: 'voxel-heat'}, exclude: ['ik_*'], include: ['root']};
    expect(settingsOf(doc)).toEqual([
      ['method', 'voxel-heat'],
      ['falloff', '0.3'],
      ['exclude', 'ik_*'],
      ['include', 'root'],
    ]);
  });

  it('writes edits as in docs/edits.md, and nothing without edits', () => {
    expect(editsOf(EMPTY)).toBe('');
    expect(editsOf({...EMPTY, pose: {0: [0, 0, 0, 1]}})).toBe('');
    const text = editsOf({
      ...EMPTY,
      falloff: {Elbow: 0.5},
      locked: ['Jaw'],
      edits: [{op: 'add', joint: 'Head', value: 0.2, select: [{sphere: {center: [0, 1, 0], radius: 0.1}}]}],
    });
    expect(JSON.parse(text)).toEqual({
      sinew: 'edits',
      falloff: [{hardness: 0.5, joints: ['Elbow']}],
      lock: {joints: ['Jaw']},
      edits: [{op: 'add', joint: 'Head', value: 0.2, select: [{sphere: {center: [0, 1, 0], radius: 0.1}}]}],
    });
  });

  it('gives hardness and rigid regions their own lists', () => {
    const select = [{sphere: {center: [0, 1, 0] as [number, number, number], radius: 0.1}, material: 'Belt'}];
    const text = editsOf({
      ...EMPTY,
      falloff: {Elbow: 0.5},
      edits: [
        {op: 'set', joint: 'Head', value: 1, select},
        {op: 'rigid', joint: 'Head', select: [{mesh: 'Helmet'}]},
        {op: 'hardness', value: 0.9, select},
      ],
    });
    expect(JSON.parse(text)).toEqual({
      sinew: 'edits',
      rigid: [{joints: ['Head'], select: [{mesh: 'Helmet'}]}],
      falloff: [{hardness: 0.5, joints: ['Elbow']}, {value: 0.9, select}],
      edits: [{op: 'set', joint: 'Head', value: 1, select}],
    });
  });

  it('follows a joint that is renamed or removed', () => {
    const bones = [{name: 'b', parent: -1, head: [0, 0, 0] as const}];
    const doc = {...EMPTY, exclude: ['a', 'c'], held: ['a'], falloff: {a: 0.3}, pose: {0: [1, 0, 0, 0] as const},
                 edits: [{op: 'set' as const, joint: 'a', value: 1}, {op: 'mirror' as const, from: 'left' as const}]};
    expect(withBones(doc, bones, 'a', 'b')).toEqual({bones, pose: {}, poses: [], exclude: ['b', 'c'], include: [], locked: [], held: ['b'], falloff: {b: 0.3},
      edits: [{op: 'set', joint: 'b', value: 1}, {op: 'mirror', from: 'left'}]});
    expect(withBones(doc, bones, 'a', null)).toEqual({bones, pose: {}, poses: [], exclude: ['c'], include: [], locked: [], held: [], falloff: {},
      edits: [{op: 'mirror', from: 'left'}]});
    expect(withBones(doc, bones)).toEqual({bones, pose: {}, poses: []});
    const gives = {...doc, edits: [{op: 'replace', joints: 'a', with: 'b'}, {op: 'replace', joints: 'c', with: 'a'}] as const};
    expect(withBones(gives, bones, 'a', 'x').edits).toEqual([{op: 'replace', joints: 'x', with: 'b'}, {op: 'replace', joints: 'c', with: 'x'}]);
    expect(withBones(gives, bones, 'a', null).edits).toEqual([]);
  });

  it('adds the drawn skeleton to the file', () => {
    const file = {name: 'scan.obj', bytes: new Uint8Array(), skeleton: {name: 'old.json', bytes: new Uint8Array()}};
    const drawn = (bones: (typeof EMPTY)['bones']) => withSkeleton(file, {bones, smoothness: 0});
    expect(drawn(null)).toEqual(file);
    expect(drawn([]).skeleton).toBe(undefined);
    const {skeleton} = drawn([{name: 'a', parent: -1, head: [1, 2, 3]}]);
    expect(skeleton!.name).toBe('scan.skeleton.json');
    expect(JSON.parse(new TextDecoder().decode(skeleton!.bytes)).bones[0]).toEqual({name: 'a', parent: null, head: [1, 2, 3]});
  });

  it('gives bones of a flat figure in pixels', () => {
    const file = {name: 'hero.png', bytes: new Uint8Array(), picture: {rgba: new Uint8Array(), width: 100, height: 200, smoothness: 0}};
    const bones = [{name: 'a', parent: -1, head: [0.25, 1.5, 0] as const}, {name: 'b', parent: 0, head: [0.5, 1, 0] as const, rest: {smoothness: 4}}];
    const {skeleton, picture} = withSkeleton(file, {bones, smoothness: 7});
    expect(picture!.smoothness).toBe(7);
    expect(skeleton!.name).toBe('hero.bones.json');
    const text = new TextDecoder().decode(skeleton!.bytes);
    expect(JSON.parse(text)).toEqual({bones: [
      {name: 'a', parent: null, head: [25, 50]}, {name: 'b', parent: 'a', head: [50, 100], smoothness: 4}]});
    expect(bonesIn(text, picture!)).toEqual(bones);
    expect(cutoutLine('my hero.png', 'my hero.bones.json', 0)).toBe("sinew cutout 'my hero.png' --bones 'my hero.bones.json' -o 'my hero.glb'");
    expect(cutoutLine('a.png', 'a.bones.json', 9)).toBe('sinew cutout a.png --bones a.bones.json -o a.glb --smoothness 9');
  });

  it('maps each change to the work that it needs', () => {
    const change = (part: Partial<typeof EMPTY>) => workOf({...EMPTY, ...part}, EMPTY, groups);
    expect(workOf(EMPTY, EMPTY, groups)).toBe('none');
    expect(change({settings: {resolution: '128'}})).toBe('bind');
    expect(change({settings: {'deform-from': 'all'}})).toBe('bind');
    expect(change({exclude: ['a']})).toBe('bind');
    expect(change({bones: [], exclude: ['a']})).toBe('joints');
    expect(change({settings: {falloff: '0.4'}})).toBe('weigh');
    expect(change({falloff: {a: 1}})).toBe('weigh');
    expect(change({edits: [{op: 'mirror', from: 'left'}], pose: {1: [1, 0, 0, 0]}})).toBe('weigh');
    expect(change({pose: {1: [1, 0, 0, 0]}})).toBe('pose');
    expect(change({settings: {'weight-format': 'u8'}})).toBe('none');
    const bound = {...EMPTY, settings: {method: 'bone-heat'}};
    expect(workOf(EMPTY, bound, groups)).toBe('bind');
  });

  it('gives ten numbers a joint', () => {
    const numbers = poseNumbers({1: [0.5, 0.5, 0.5, 0.5]}, 2);
    expect([...numbers]).toEqual([0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0, 0, 0, 1, 1, 1]);
  });
});

describe('the command line', () => {
  it('quotes words for a shell', () => {
    expect(quoted('hero.glb')).toBe('hero.glb');
    expect(quoted("it's mine.glb")).toBe("'it'\\''s mine.glb'");
    expect(quoted('a;b')).toBe("'a;b'");
    expect(quoted('')).toBe("''");
  });

  it('names the output after the input', () => {
    expect(outputName('hero.glb')).toBe('hero.skinned.glb');
    expect(outputName('hero.VRM')).toBe('hero.skinned.vrm');
    expect(outputName('scan.obj')).toBe('scan.skinned.glb');
    expect(outputName('hero')).toBe('hero.skinned.glb');
    expect(outputName('hero.FBX')).toBe('hero.skinned.fbx');
    expect(outputName('hero.vrm', 'fbx')).toBe('hero.skinned.fbx');
    expect(outputName('hero.fbx', 'glb')).toBe('hero.skinned.glb');
  });

  it('is complete', () => {
    expect(commandLine('scan.obj', 'scan.json', '--resolution 128', true)).toBe(
      'sinew bind scan.obj -o scan.skinned.glb --skeleton scan.json --resolution 128 --edits scan.edits.json',
    );
    expect(commandLine('hero.glb', undefined, '', false)).toBe('sinew bind hero.glb -o hero.skinned.glb');
  });
});

it('goes from some edits to others by taking back and applying', () => {
  const [a, b, c] = ([0.1, 0.2, 0.3] as const).map((value) => ({op: 'add' as const, joint: 'Head', value}));
  const with_ = (...edits: (typeof a)[]) => appliedOf({...EMPTY, edits});
  expect(stepsBetween(null, with_(a))).toBe(null);
  expect(stepsBetween(with_(a, b), with_(a, b, c))).toEqual({back: 0, apply: [c]});
  expect(stepsBetween(with_(a, b), with_(a))).toEqual({back: 1, apply: []});
  expect(stepsBetween(with_(a, b, c), with_(a, c))).toEqual({back: 2, apply: [c]});
  expect(stepsBetween(with_(a), appliedOf({...EMPTY, falloff: {Head: 0.5}, edits: [a]}))).toBe(null);
  // Below the same strokes, the core replaces the weights. A limit and locks are read by strokes themselves.
  const below = (doc: Partial<typeof EMPTY>, ...edits: (typeof a)[]) => belowStrokes(with_(a, b), appliedOf({...EMPTY, ...doc, edits}));
  expect(below({falloff: {Head: 0.5}}, a, b)).toBe('other');
  expect(below({settings: {falloff: '0.5'}}, a, b)).toBe('other');
  expect(below({settings: {'max-influences': '2'}}, a, b)).toBe('anew');
  expect(below({locked: ['Head']}, a, b)).toBe('anew');
  expect(below({falloff: {Head: 0.5}}, a)).toBe(null);
  expect(belowStrokes(with_(), appliedOf({...EMPTY, falloff: {Head: 0.5}}))).toBe(null);
  // The lock of the brush is in the edits, and needs no other weights.
  expect(stepsBetween(with_(a), appliedOf({...EMPTY, held: ['Head'], edits: [a]}))).toEqual({back: 0, apply: []});
  // Another pose is another base, for falloffs by angle only.
  const angles = {op: 'other' as const, list: 'falloff' as const, entry: {angles: [[0, 0.1], [90, 0.9]], joints: 'Head'}};
  const posed = (x: number) => appliedOf({...EMPTY, edits: [angles, a]}, new Float64Array([x]));
  expect([stepsBetween(posed(1), posed(2)), belowStrokes(posed(1), posed(2))]).toEqual([null, 'other']);
  expect([{edits: [angles]}, {edits: [a]}, {edits: [angles], start: 'file' as const}].map((doc) => followsPose({...EMPTY, ...doc})))
    .toEqual([true, false, false]);
});

import {describe, expect, it} from 'vitest';
import {added, bonesIn, bonesOf, firstMiddle, freeName, hung, jointsOf, mirrored, moved, movedAlike, otherSide, planeOf, removed, renamed,
        skeletonText, type Bone} from '../src/skeleton';

const chain: Bone[] = [
  {name: 'hips', parent: -1, head: [0, 1, 0]},
  {name: 'leg_L', parent: 0, head: [0.1, 0.9, 0]},
  {name: 'foot_L', parent: 1, head: [0.1, 0.1, 0], tail: [0.1, 0, 0.2]},
];

describe('depth', () => {
  const ray = (...words: [number, boolean][]) => firstMiddle(words.map(([at, enters]) => ({at, enters})));
  it('is the middle of the first part on the ray', () => {
    expect(ray()).toBe(null);
    expect(ray([2, true], [4, false])).toBe(3);
    expect(ray([4, false], [2, true], [8, true], [9, false])).toBe(3);
  });
  it('takes clothes and body as one', () => {
    expect(ray([1, true], [2, true], [4, false], [5, false], [8, true], [9, false])).toBe(3);
  });
  it('takes a mesh that is inside out', () => {
    expect(ray([2, false], [4, true])).toBe(3);
  });
  it('has a fallback for open surfaces', () => {
    expect(ray([2, true])).toBe(2);
    expect(ray([2, true], [3, true])).toBe(2.5);
  });
});

describe('names', () => {
  it('have another side', () => {
    const pairs = [['arm_L', 'arm_R'], ['LeftHand', 'RightHand'], ['mixamorig:rightFoot', 'mixamorig:leftFoot'],
                   ['L_eye', 'R_eye'], ['toe.r', 'toe.l'], ['LEFT_ARM', 'RIGHT_ARM']];
    for (const [a, b] of pairs) {
      expect(otherSide(a)).toBe(b);
      expect(otherSide(b)).toBe(a);
    }
    for (const name of ['spine', 'pelvis', 'tail_1', 'roll']) expect(otherSide(name)).toBe(null);
  });
  it('are unique', () => {
    expect(freeName('a', [{name: 'b'}])).toBe('a');
    expect(freeName('a', [{name: 'a'}, {name: 'a_2'}])).toBe('a_3');
    expect(freeName('a_2', [{name: 'a'}, {name: 'a_2'}])).toBe('a_3');
    expect(renamed(chain, 1, 'hips')[1].name).toBe('hips_2');
    expect(renamed(chain, 1, 'leg_L')[1].name).toBe('leg_L');
  });
});

describe('a drawn skeleton', () => {
  it('grows from the joint that is selected', () => {
    const one = added([], -1, [0, 0, 0]);
    const two = added(one, 0, [0, 1, 0]);
    expect(two).toEqual([{name: 'root', parent: -1, head: [0, 0, 0]}, {name: 'joint_1', parent: 0, head: [0, 1, 0]}]);
  });
  it('lists bones before points, as the core does', () => {
    const point: Bone = {name: 'chin', parent: 0, head: [0, 2, 0], point: true};
    const next = added([chain[0], point], 1, [0, 3, 0]);
    expect(next.map((b) => [b.name, b.parent])).toEqual([['hips', -1], ['joint_2', 2], ['chin', 0]]);
  });
  it('moves a tail with its joint', () => {
    const next = moved(chain, 2, [0.2, 0.1, 0]);
    expect(next[2].tail![0]).toBeCloseTo(0.2);
    expect(chain[2].tail![0]).toBe(0.1);
  });
  it('moves tails of other bones that end at the joint', () => {
    const bones: Bone[] = [
      {name: 'a', parent: -1, head: [0, 0, 0], tail: [0, 1, 0]},
      {name: 'b', parent: 0, head: [0, 1, 0], tail: [0, 2, 0]},
      {name: 'point', parent: 1, head: [0, 2, 1], tail: [0, 2, 1]},
    ];
    const next = moved(bones, 1, [0.5, 1, 0]);
    expect(next.map((b) => b.tail)).toEqual([[0.5, 1, 0], [0.5, 2, 0], [0, 2, 1]]);
    expect(moved(bones, 0, [0, 0.25, 0])[0].tail).toEqual([0, 1.25, 0]);
    expect(moved(bones, 2, [0.1, 0.2, 0.3])[2].tail).toEqual([0.1, 0.2, 0.3]);
    // They also move onto the plane with this joint.
    const near: Bone[] = [
      {name: 'a', parent: -1, head: [0, 0, 0], tail: [0.004, 1, 0]}, {name: 'b', parent: 0, head: [0.004, 1, 0], tail: [0.003, 2, 0]},
    ];
    expect(mirrored(near, 'left', 0, 0.01).map((b) => b.tail)).toEqual([[0, 1, 0], [0.003, 2, 0]]);
  });
  it('connects the children of a removed joint to its parent', () => {
    const next = removed(chain, 1);
    expect(next.map((b) => [b.name, b.parent])).toEqual([['hips', -1], ['foot_L', 0]]);
    expect(removed(chain, 0).map((b) => b.parent)).toEqual([-1, 0]);
  });
  it('makes no joint its own ancestor', () => {
    expect(hung(chain, 0, 2)).toBe(null);
    expect(hung(chain, 1, 1)).toBe(null);
    expect(hung(chain, 2, 0)![2].parent).toBe(0);
    expect(hung(chain, 2, -1)![2].parent).toBe(-1);
  });
  it('is mirrored; mirroring again adds no joint', () => {
    const once = mirrored(chain, 'left', 0, 0.01);
    expect(once.map((b) => [b.name, b.parent, b.head[0]])).toEqual(
      [['hips', -1, 0], ['leg_L', 0, 0.1], ['foot_L', 1, 0.1], ['leg_R', 0, -0.1], ['foot_R', 3, -0.1]]);
    expect(once[4].tail).toEqual([-0.1, 0, 0.2]);
    const wider = mirrored(moved(once, 1, [0.3, 0.9, 0]), 'left', 0, 0.01);
    expect(wider.length).toBe(5);
    expect(wider[3].head[0]).toBeCloseTo(-0.3);
  });
  it('gets sides in its names, and joints near the plane move onto it', () => {
    const bones: Bone[] = [{name: 'root', parent: -1, head: [1.004, 0, 0]}, {name: 'arm', parent: 0, head: [0.5, 1, 0]}];
    const both = mirrored(bones, 'right', 1, 0.01);
    expect(both.map((b) => [b.name, b.parent, b.head[0]])).toEqual([['root', -1, 1], ['arm_R', 0, 0.5], ['arm_L', 0, 1.5]]);
  });
  it('moves both sides alike, in the plane between them', () => {
    const both = mirrored(chain, 'left', 0, 0.01);
    const plane = planeOf(both)!;
    expect(plane).toEqual({axis: 0, middle: 0});
    const next = movedAlike(both, 2, [0.3, 0.2, 0.1], plane, 0.01);
    expect(next.map((b) => b.head)).toEqual([[0, 1, 0], [0.1, 0.9, 0], [0.3, 0.2, 0.1], [-0.1, 0.9, 0], [-0.3, 0.2, 0.1]]);
    expect(next[4].tail!.map((x) => Number(x.toFixed(6)))).toEqual([-0.3, 0.1, 0.3]);
    // A joint without a side stays in the middle; one that is beside it does not.
    expect(movedAlike(both, 0, [0.2, 1.1, 0.3], plane, 0.01)[0].head).toEqual([0, 1.1, 0.3]);
    expect(movedAlike(both, 0, [0.2, 1.1, 0.3], {axis: 0, middle: 0.5}, 0.01)[0].head).toEqual([0.2, 1.1, 0.3]);
    // Not only about x = 0.
    const turned = both.map((b) => ({...b, head: [b.head[2], b.head[1], b.head[0] + 2] as Bone['head']}));
    expect(planeOf(turned)).toEqual({axis: 2, middle: 2});
    expect(movedAlike(turned, 4, [0, 0.5, 1.5], planeOf(turned)!, 0.01)[2].head).toEqual([0, 0.5, 2.5]);
    expect(planeOf(chain)).toBe(null);
  });
  it('is saved as skeleton JSON, and read back', () => {
    const text = skeletonText([...chain, {name: 'chin', parent: 0, head: [0, 1.6, 0.1], point: true}]);
    expect(JSON.parse(text)).toEqual({
      bones: [
        {name: 'hips', parent: null, head: [0, 1, 0]},
        {name: 'leg_L', parent: 'hips', head: [0.1, 0.9, 0]},
        {name: 'foot_L', parent: 'leg_L', head: [0.1, 0.1, 0], tail: [0.1, 0, 0.2]},
      ],
      points: [{name: 'chin', parent: 'hips', position: [0, 1.6, 0.1]}],
    });
    expect(bonesIn(text)).toEqual([...chain, {name: 'chin', parent: 0, head: [0, 1.6, 0.1], point: true}]);
    expect(JSON.parse(skeletonText([{name: 'a', parent: -1, head: [0.1 + 0.2, 0, 0]}])).bones[0].head[0]).toBe(0.3);
  });
  it('keeps other keys of the file', () => {
    const text = '{"bones":[{"name":"a","head":[0,0,0],"hardness":0.4}],"points":[{"name":"p","position":[0,1,0]}]}';
    const joints = jointsOf([{name: 'a', parent: -1, head: [0, 0, 0]}, {name: 'p', parent: -1, head: [0, 1, 0]}]);
    const bones = bonesOf(joints, text);
    expect(bones[0].rest).toEqual({hardness: 0.4});
    expect(bones[1].point).toBe(true);
    expect(JSON.parse(skeletonText(bones)).bones[0].hardness).toBe(0.4);
    expect(bonesOf(joints, '1 0 0 0\n#').length).toBe(2);
    // TGF: edges are bones, the last vertex is an end.
    const tgf = jointsOf(chain).map(({tail: _tail, ...joint}, j) => ({...joint, deforms: j < 2}));
    const drawn = bonesOf(tgf, '1 0 1 0\n2 0.1 0.9 0\n3 0.1 0.1 0\n#\n1 2\n2 3\n');
    expect(drawn.map((b) => b.tail)).toEqual([[0.1, 0.9, 0], [0.1, 0.1, 0], undefined]);
    expect(drawn.map((b) => b.rest)).toEqual([undefined, undefined, {deform: false}]);
    expect(bonesOf(tgf, '').every((b) => !b.tail)).toBe(true);
  });
});

// Finish, the start with the file's weights, and what an artist stumbled over: a part of e2e/studio.mjs, whose tools it gets.
import {execFileSync} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';

const require = createRequire(import.meta.url);

export const finishTests = (tools) => {
  const {open, bind, until, settled, drawn, shot, state, select, is, holds, picture, exported, byCommand, at, samples, sinew, fresh} = tools;
  const page = () => tools.page();
  const canvas = () => page().locator('#view canvas').last();
  const key = async (...keys) => {
    for (const k of keys) await page().keyboard.press(k);
  };
  const error = () => page().locator('#error:not([hidden]) p').textContent({timeout: 20_000});
  const give = (...files) => page().setInputFiles('#files', files);
  const cards = async () => {
    await until(() => document.querySelectorAll('.card').length > 0 && !window.studio.state().working);
    return page().locator('.card');
  };
  /** A place of the view, in pixels of the page. */
  const onPage = async (point) => {
    const box = await canvas().boundingBox();
    const {x, y} = await page().evaluate((p) => window.studio.pixelOf(p), point);
    return [box.x + x, box.y + y];
  };
  const joint = async (name) => (await page().evaluate(() => window.studio.joints())).findIndex((j) => j.name === name);
  /** For a joint, how many vertices have most of it. */
  const owned = async (name) => page().evaluate((j) => {
    const {rows} = window.studio.state();
    let n = 0;
    for (let i = 0; i < rows.joints.length; i += rows.width) if (rows.joints[i] === j) ++n;
    return n;
  }, await joint(name));
  const skinned = (name) => {
    const to = join(at, `${name}-own.glb`);
    execFileSync(sinew, ['bind', join(samples, `${name}.glb`), '-o', to, '--resolution', '32', '--quiet']);
    return to;
  };
  const openFile = async (path) => {
    await give(path);
    await until((n) => document.getElementById('file-name').value === n && !window.studio.state().working, path.slice(path.lastIndexOf('/') + 1));
  };
  const covered = async (what) => {
    const share = await page().evaluate(() => window.studio.coverage());
    holds(share > 0.985, `${what}: only ${(100 * share).toFixed(1)} % of the vertices are where the surface is drawn`);
  };

  return {
    async 'after Defects the skin still moves with its bones'() {
      await open('biped');
      await bind('32');
      await key('9');
      await settled();
      await drawn();
      await key('2');
      await drawn();
      await page().locator('.pose').nth(1).click();
      await settled();
      await drawn();
      await covered('after Defects');
    },
    async 'painting says what is missing'() {
      await open('biped');
      await bind('32');
      await page().getByLabel('Resolution', {exact: true}).selectOption('64');
      await select('head');
      await page().click('#tab-paint');
      await page().mouse.click(...(await onPage([0, 1.25, 0.1])));
      holds(/bind again/i.test(await page().locator('#notice').textContent()), 'a stroke on weights of other options says nothing');
      is((await state()).doc.edits.length, 0, 'strokes');
    },
    async 'a file that does not open says why, and what does'() {
      const text = '{"asset": {"version": "2.0"}, "meshes": [}  ';
      const head = Buffer.alloc(20);
      head.write('glTF');
      head.writeUInt32LE(2, 4);
      head.writeUInt32LE(20 + text.length, 8);
      head.writeUInt32LE(text.length, 12);
      head.write('JSON', 16);
      await give({name: 'bad.glb', mimeType: 'model/gltf-binary', buffer: Buffer.concat([head, Buffer.from(text)])});
      holds(/bad\.glb: not valid JSON: .*column 42/.test(await error()), `bad JSON: ${await error()}`);
      await give({name: 'hero.fbx', mimeType: 'application/octet-stream', buffer: Buffer.from('Kaydara')});
      await until(() => document.querySelector('#error p').textContent.startsWith('hero.fbx'));
      holds(/byte 0|FBX/.test(await error()), `FBX: ${await error()}`);
      await give({name: 'hero.dae', mimeType: 'model/vnd.collada+xml', buffer: Buffer.from('<COLLADA/>')});
      await until(() => document.querySelector('#error p').textContent.startsWith('hero.dae'));
      holds(/GLB.*sinew studio hero\.dae/.test(await error()), `DAE: ${await error()}`);
      const glb = readFileSync(join(samples, 'robot.glb'));
      await give(...['one.glb', 'two.glb'].map((name) => ({name, mimeType: 'model/gltf-binary', buffer: glb})));
      await until(() => document.getElementById('file-name').value === 'one.glb' && !window.studio.state().working);
      await page().locator('#notice', {hasText: 'two.glb was left out'}).waitFor();
    },
    async 'two tabs do not overwrite each other'() {
      await open('robot');
      await select('head');
      await page().getByLabel('Moves skin').uncheck();
      await until(() => window.studio.state().kept);
      const first = page();
      const second = await first.context().newPage();
      await second.goto(first.url());
      await second.locator('[data-earlier]').click();
      await second.locator('#notice', {hasText: 'another tab'}).waitFor();
      const change = (p, name) => p.evaluate((n) => window.studio.change({exclude: [n]}), name);
      const kept = (p) => p.waitForFunction ? (async () => { while (!(await p.evaluate(() => window.studio.state().kept))) await p.waitForTimeout(50); })() : null;
      await change(second, 'second');
      await kept(second);
      await change(first, 'first');
      await kept(first);
      await second.close();
      const third = await first.context().newPage();
      await third.goto(first.url());
      await third.locator('[data-earlier]').first().waitFor();
      is(await third.locator('[data-earlier]').count(), 2, 'works that are kept');
      await third.close();
    },
    async 'a typed angle ends with Enter, and the next key is a shortcut'() {
      await open('biped');
      await select('neck');
      await page().click('#tab-pose');
      await page().getByLabel('Turn x').fill('-50');
      await key('Enter', '1');
      await settled();
      is(await page().getByLabel('Turn x').inputValue(), '-50', 'the angle');
      is((await state()).mode, 'look', 'what the surface shows');
    },
    async 'against the file, the two sides differ; a painted vertex is called so'() {
      await openFile(skinned('biped'));
      await bind('64');
      await key('c', '6');
      await settled();
      await drawn();
      const sides = await Promise.all([0, 1].map((n) => page().locator('#view canvas').nth(n).screenshot()));
      holds(!sides[0].equals(sides[1]), 'both sides are one picture');
      await picture('against-file');
      await key('c', 's');
      await select('chest');
      await key('p');
      const place = await onPage([0, 1.25, 0.1]);
      await page().mouse.click(...place);
      await settled();
      await page().click('#tab-bind');
      await page().mouse.click(...(await onPage([0, 1.25, 0.1])));
      holds(/by hand: weights changed/.test(await page().locator('#probe').textContent()), `the painted vertex: ${await page().locator('#probe').textContent()}`);
    },
    async 'the list of keys begins at its top, and a flat figure has no empty steps'() {
      await page().setViewportSize({width: 1280, height: 600});
      await page().click('#help');
      is(await page().locator('#keys').evaluate((d) => d.scrollTop), 0, 'pixels it is scrolled by');
      await key('Escape');
      const png = await page().evaluate(async () => {
        const c = new OffscreenCanvas(60, 120);
        c.getContext('2d').fillRect(10, 10, 40, 100);
        return [...new Uint8Array(await (await c.convertToBlob()).arrayBuffer())];
      });
      await give({name: 'doll.png', mimeType: 'image/png', buffer: Buffer.from(png)});
      await until(() => document.getElementById('file-name').value === 'doll.png');
      is((await page().getByRole('tab').allTextContents()).join(), 'Bind,Pose,Export', 'steps');
    },
    async 'what is used most is in sight, wide screens are used, and names are whole'() {
      await open('caped');
      const box = await page().locator('#bind').boundingBox();
      holds(box.y + box.height < 300, `Bind is ${box.y} pixels down`);
      const rows = await page().evaluate(() => {
        const list = document.getElementById('joint-list').getBoundingClientRect();
        return [...document.querySelectorAll('#joint-list li')].filter((li) => li.getBoundingClientRect().bottom <= list.bottom).length;
      });
      holds(rows >= 12, `the list has ${rows} rows`);
      const narrow = (await page().locator('#left').boundingBox()).width;
      await page().setViewportSize({width: 1920, height: 1080});
      holds((await page().locator('#left').boundingBox()).width > 1.3 * narrow, 'the panel does not grow');
      is(await page().locator('#joint-list span:nth-child(2)').evaluateAll((all) => all.filter((s) => s.scrollWidth > s.clientWidth + 1).map((s) => s.textContent).join()), '', 'names that are cut');
      await page().locator('.splitter[data-side=right]').focus();
      const before = (await page().locator('#right').boundingBox()).width;
      await key('ArrowLeft', 'ArrowLeft');
      is((await page().locator('#right').boundingBox()).width, Math.round(before) + 32, 'the width after two arrows');
      await page().getByText('More options').click();
      const words = await page().locator('#bind-panel').evaluate((panel) => [...panel.querySelectorAll('label, option, [title]')].map((e) => `${e.textContent} ${e.title}`).filter((t) => /--|[a-z]-[a-z]+-|\bdocs\/|FROM/.test(t)).join('; '));
      is(words, '', 'words of the command line');
    },
    async 'on a phone the view has most of the height, and what a step needs is in sight'() {
      await tools.touched(390, 844);
      is(await page().locator('#empty p').evaluateAll((all) => all.filter((p) => p.clientHeight > 2.2 * parseFloat(getComputedStyle(p).lineHeight)).map((p) => p.textContent).join()), '', 'texts of more than two lines');
      await open('caped');
      const bottom = async (locator) => {
        const {y, height} = await locator.boundingBox();
        return y + height;
      };
      const {height} = await page().locator('#view').boundingBox();
      holds(height > 0.6 * 844, `the view has ${height} pixels`);
      const filled = await page().evaluate(() => window.studio.filled());
      holds(filled > 0.9, `the character fills ${filled} of it`);
      holds((await bottom(page().locator('#bind'))) <= 844, 'Bind is out of sight');
      await bind('32');
      await (await cards()).first().tap();
      await settled();
      holds((await bottom(page().locator('.chip').first())) <= 844, 'the answers are out of sight');
      holds((await bottom(page().locator('#view'))) > 0.6 * 844, 'the view is out of sight');
      await picture('phone');
      // Spread arms are wider than the phone: seen from further aside the character keeps its height.
      await open('biped');
      const tall = await page().evaluate(() => window.studio.shownHeight());
      holds(tall >= 0.6 * 844, `with spread arms the character has ${tall} of 844 pixels`);
      holds((await page().evaluate(() => window.studio.filled())) <= 1, 'the character is wider than the view');
      await picture('phone-spread');
    },
    async 'the page comes back without its host'() {
      const host = tools.plainHost();
      await new Promise((listening) => host.listen(0, '127.0.0.1', listening));
      await fresh(`http://127.0.0.1:${host.address().port}/`);
      await page().evaluate(() => navigator.serviceWorker.ready.then(() => true));
      host.closeAllConnections();
      await new Promise((closed) => host.close(closed));
      await page().reload();
      await until(() => document.documentElement.dataset.ready === 'yes');
      await give({name: 'robot.glb', mimeType: 'model/gltf-binary', buffer: readFileSync(join(samples, 'robot.glb'))});
      await until(() => document.getElementById('file-name').value === 'robot.glb' && !window.studio.state().working);
      tools.forgive(/ERR_CONNECTION_REFUSED|Failed to (fetch|load)/);
    },
    async 'an existing skin is finished, painted and exported without a bind, as by sinew apply'() {
      await openFile(skinned('caped'));
      await page().getByRole('button', {name: 'Start from the file’s weights'}).click();
      const all = await cards();
      holds((await all.count()) > 3, 'too few questions');
      await all.filter({hasText: 'Part:'}).first().click();
      await page().locator('.chip[aria-pressed=false]').first().click();
      await settled();
      is((await state()).doc.edits.length, 1, 'edits');
      await key('p');
      await select('chest');
      await page().evaluate(() => window.studio.frame());
      await page().mouse.click(...(await onPage([0, 1.25, 0.1])));
      await settled();
      is((await state()).doc.edits.length, 2, 'edits after a stroke');
      const made = await exported();
      holds(/^sinew apply /.test(await page().inputValue('#command')), 'the command is another one');
      holds(made.equals(await byCommand('caped-own', at)), 'the files differ');
      // Undo leads back to the weights of the file.
      await key('Control+z', 'Control+z', 'Control+z');
      await settled();
      is((await state()).doc.start, 'bind', 'the start');
    },
    async 'the first minute: open, bind, first card, answer, pose'() {
      let actions = 0;
      const act = async (what) => {
        ++actions;
        await what;
        await settled();
      };
      await act(open('caped'));
      await act(page().click('#bind'));
      await until(() => window.studio.state().bound && !window.studio.state().working);
      const all = await cards();
      await picture('finish-cards');
      await act(all.first().click());
      await picture('minute-2-card');
      const owners = () => page().evaluate(() => window.studio.state().rows.joints.reduce((sum, j, i) => (sum * 31 + j * (i % 7)) | 0, 0));
      const before = await owners();
      await act(page().locator('.chip[aria-pressed=false]').first().click());
      holds((await owners()) !== before, 'the answer changed nothing');
      await picture('minute-3-answer');
      await until(() => document.querySelectorAll('.pose canvas').length > 3);
      await act(page().locator('.pose').nth(1).click());
      await drawn();
      await covered('in the pose');
      await picture('finish-pose');
      holds(actions <= 6, `${actions} actions`);
    },
    async 'a hair lock is mended with one answer, a border and a pin with one each'() {
      await open('caped');
      await bind('64');
      const all = await cards();
      // A lock of hair, given to another joint; its twin follows.
      const lock = all.filter({hasText: 'Part: head'}).last();
      const [head, neck] = [await owned('head'), await owned('neck')];
      await lock.click();
      await picture('hair-before');
      await page().locator('.chip', {hasText: /^neck$/}).click();
      await settled();
      holds((await owned('head')) < head && (await owned('neck')) > neck, 'the part has its owner still');
      await picture('finish-part');
      is(await lock.textContent().then((t) => t[0]), '✓', 'the mark of the card');
      // The border is dragged on the skin.
      await open('quadruped');
      await bind('64');
      await (await cards()).filter({hasText: '|'}).first().click();
      await settled();
      await drawn();
      const grip = await page().evaluate(() => window.studio.border());
      const box = await canvas().boundingBox();
      await page().mouse.move(box.x + grip.x, box.y + grip.y);
      await page().mouse.down();
      for (let i = 1; i <= 5; ++i) await page().mouse.move(box.x + grip.x + 3 * i, box.y + grip.y + 6 * i);
      await page().mouse.up();
      await settled();
      const border = (await state()).doc.edits.at(-1);
      holds(border.op === 'border' && Math.abs(border.shift) > 0.005, `the border: ${JSON.stringify(border)}`);
      await key('Control+z');
      await settled();
      is((await state()).doc.edits.length, 0, 'edits after undo of the drag');
      // A pin, whose reach the wheel changes.
      await page().getByRole('button', {name: 'Ask again'}).click();
      const place = (await cards()).filter({hasNotText: 'Part'}).filter({hasNotText: '|'}).first();
      if (await place.count()) {
        await place.click();
        await page().locator('.chip[aria-pressed=false]').first().click();
        await settled();
        const {reach} = (await state()).doc.edits.at(-1);
        await page().locator('.pin[aria-pressed=true]').hover();
        await page().mouse.wheel(0, -100);
        await settled();
        holds((await state()).doc.edits.at(-1).reach > reach, 'the wheel changes no reach');
      }
    },
    async 'on characters of the corpora, one answer mends a lock of hair, and two a pelvis'() {
      const corpus = (process.env.SINEW_CORPUS ?? '').split(':')[0];
      const [hair, pelvis] = ['valid_black_f2_casual/Black_F_2_Casual.decoded.glb', 'm2m_human_bunny/human-bunny.glb'].map((path) => join(corpus, path));
      if (!corpus || !existsSync(hair) || !existsSync(pelvis)) return console.log('      skipped: it needs SINEW_CORPUS');
      /** The mean L1 distance to the artist's weights, of all vertices, and of some. */
      const distance = (some) => page().evaluate((list) => {
        const all = window.studio.difference();
        const mean = (values) => values.reduce((sum, x) => sum + x, 0) / values.length;
        return [mean([...all]), mean(list.map((v) => all[v]))];
      }, some);
      const owners = () => page().evaluate(() => {
        const of = ({width, joints}) => Array.from({length: joints.length / width}, (_, v) => joints[v * width]);
        return {now: of(window.studio.state().rows), artist: of(window.studio.own())};
      });
      const says = (what, [all, there], [allAfter, thereAfter]) => {
        console.log(`      ${what}: ${there.toFixed(3)} to ${thereAfter.toFixed(3)} there, ${all.toFixed(4)} to ${allAfter.toFixed(4)} on the whole surface`);
        holds(thereAfter < 0.8 * there && allAfter < all, `${what}: no better`);
      };
      await openFile(hair);
      await bind('128');
      await cards();
      await key('s');
      const before = await owners();
      let names = (await page().evaluate(() => window.studio.joints())).map((j) => j.name);
      // The artist gave the lock to the head, and the bind to an eye: a double click takes all of it.
      const runs = [[]];
      before.now.forEach((j, v) => (names[j] === 'LeftEye' && names[before.artist[v]] === 'Head' ? runs.at(-1).push(v) : runs.at(-1).length && runs.push([])));
      const wrong = new Set(runs.sort((a, b) => b.length - a.length)[0]);
      const frame = await canvas().boundingBox();
      let place = null;
      for (const v of wrong) {
        await page().evaluate((n) => window.studio.lookAt(n, 0.15), v);
        const {x, y} = await page().evaluate((n) => window.studio.pixelOfVertex(n), v);
        place = [frame.x + x, frame.y + y];
        if (wrong.has(await page().evaluate(([px, py]) => window.studio.hitAt(px, py)?.vertex, place))) break;
      }
      await settled();
      await drawn();
      await page().mouse.dblclick(...place);
      is(await page().locator('.question').first().textContent(), 'Who owns this part?', 'the question');
      await picture('corpus-hair-before');
      await page().locator('.chip', {hasText: /^Head$/}).click();
      await settled();
      const after = await owners();
      const lock = before.now.flatMap((j, v) => (j !== after.now[v] ? [v] : []));
      await picture('corpus-hair-after');
      is((await state()).doc.edits.length, 1, 'answers');
      const mended = await distance(lock);
      await key('Control+z');
      await settled();
      says('a lock of hair, one answer', await distance(lock), mended);

      await openFile(pelvis);
      await bind('128');
      await cards();
      await key('s');
      names = (await page().evaluate(() => window.studio.joints())).map((j) => j.name);
      const isPelvis = (j) => /pelvis|hips/i.test(names[j]);
      const at = await page().evaluate(() => [...window.studio.positions()]);
      let {now, artist} = await owners();
      const there = now.flatMap((j, v) => (isPelvis(j) || isPelvis(artist[v]) ? [v] : []));
      const first = await distance(there);
      for (let n = 1; n <= 2; ++n) {
        // As a person would: the middle of the largest patch that has another owner.
        ({now, artist} = await owners());
        const patches = new Map();
        for (const v of there) if (now[v] !== artist[v]) patches.set(artist[v], [...(patches.get(artist[v]) ?? []), v]);
        const patch = [...patches.values()].sort((a, b) => b.length - a.length)[0];
        const apart = (v, w) => Math.hypot(...[0, 1, 2].map((k) => at[3 * v + k] - at[3 * w + k]));
        const middle = patch.map((v) => [patch.reduce((sum, w) => sum + Math.min(apart(v, w), 0.1), 0), v]).sort((a, b) => a[0] - b[0])[0][1];
        await page().evaluate((v) => window.studio.lookAt(v, 0.35), middle);
        await settled();
        await drawn();
        if (n === 1) await picture('corpus-pelvis-before');
        const {x, y} = await page().evaluate((v) => window.studio.pixelOfVertex(v), middle);
        const box = await canvas().boundingBox();
        await page().mouse.click(box.x + x, box.y + y);
        const name = names[artist[middle]];
        const chip = page().locator('.chip', {hasText: new RegExp(`^${name}$`)}).last();
        if (await chip.count()) await chip.click();
        else await page().getByLabel('Another joint').last().selectOption(name);
        await settled();
      }
      await page().evaluate(() => window.studio.lookAt(window.studio.state().doc.edits.at(-1).pins[0].vertex, 0.35));
      await picture('corpus-pelvis-after');
      is((await state()).doc.edits.flatMap((e) => e.pins).length, 2, 'answers');
      says('a pelvis, two answers', first, await distance(there));
    },
    async 'the border is dragged by its line, and made softer or harder by its rails'() {
      await open('quadruped');
      await bind('64');
      await (await cards()).filter({hasText: '|'}).last().click();
      await settled();
      const [a, b] = await page().evaluate(async () => {
        const {joints} = (await window.studio.core.questions(10)).filter((q) => q.kind === 'border').at(-1);
        return joints.map((name) => window.studio.joints().findIndex((j) => j.name === name));
      });
      const lineOf = (line) => page().evaluate((n) => window.studio.border(n), line);
      /** Drags a line by pixels along the way from the middle to the first rail. */
      const drag = async (line, by) => {
        await drawn();
        const [grip, middle, rail] = [await lineOf(line), await lineOf(0), await lineOf(1)];
        const far = Math.hypot(rail.x - middle.x, rail.y - middle.y);
        const [dx, dy] = [((rail.x - middle.x) / far) * by, ((rail.y - middle.y) / far) * by];
        const box = await canvas().boundingBox();
        await page().mouse.move(box.x + grip.x, box.y + grip.y);
        await page().mouse.down();
        for (let i = 1; i <= 4; ++i) await page().mouse.move(box.x + grip.x + (dx * i) / 4, box.y + grip.y + (dy * i) / 4);
        await page().mouse.up();
        await settled();
        return (await state()).doc.edits.at(-1);
      };
      // A rail lies where its joint has most: the first has 0.9 of both there, and 0.1 at the other.
      const ratioAt = async (line) => page().evaluate(([n, a, b]) => {
        const box = document.querySelector('#view canvas').getBoundingClientRect();
        const {x, y} = window.studio.border(n);
        const {vertex} = window.studio.hitAt(box.x + x, box.y + y);
        const {rows: {width, joints, shares}} = window.studio.state();
        const of = (j) => shares.slice(vertex * width, (vertex + 1) * width).reduce((sum, w, k) => sum + (joints[vertex * width + k] === j ? w : 0), 0);
        return of(a) / (of(a) + of(b));
      }, [line, a, b]);
      const [first, second] = [await ratioAt(1), await ratioAt(2)];
      holds(first > 0.7 && second < 0.3, `the first joint has ${first} of both at its rail, and ${second} at the other`);
      const moved = await drag(0, 18);
      holds(moved?.op === 'border' && Math.abs(moved.shift) > 0.003 && moved.width === undefined, `the line: ${JSON.stringify(moved)}`);
      const softer = await drag(1, 25);
      holds(softer.shift === moved.shift && softer.width > 0, `a rail: ${JSON.stringify(softer)}`);
      const harder = await drag(1, -25);
      holds(harder.width < softer.width, `the rail dragged in: ${harder.width} and not less than ${softer.width}`);
      const other = await drag(2, -25);
      holds(other.width > harder.width, `the other rail dragged out: ${other.width} and not more than ${harder.width}`);
      is((await state()).doc.edits.length, 1, 'edits');
      await picture('finish-border');
    },
    async 'pins of one reach are one edit, in which each holds'() {
      await open('biped');
      await bind('64');
      await cards();
      await key('s');  // not a joint, but the skin below it
      const answered = [];
      const ownerOf = (vertex) => page().evaluate((v) => window.studio.joints()[window.studio.state().rows.joints[v * window.studio.state().rows.width]].name, vertex);
      for (const place of [[0.05, 1.2, 0.1], [-0.05, 1.12, 0.1], [0.1, 1.25, 0.1]]) {
        await page().mouse.click(...(await onPage(place)));
        const chip = page().locator('.chip[aria-pressed=false]').first();
        const name = await chip.textContent();
        await page().getByLabel('The other side too').uncheck();
        await chip.click();
        await settled();
        answered.push({vertex: (await state()).doc.edits.at(-1).pins.at(-1).vertex, name});
      }
      const edits = async () => (await state()).doc.edits.map((e) => `${e.op} ${e.pins.length}`).join();
      is(await edits(), 'pin 3', 'edits');
      for (const {vertex, name} of answered) is(await ownerOf(vertex), name, `the owner of vertex ${vertex}`);
      is(await page().locator('.pin').count(), 3, 'pins over the skin');
      const wheel = async (by) => {
        await page().locator('.pin[aria-pressed=true]').hover();
        await page().mouse.wheel(0, by);
        await settled();
      };
      await wheel(-100);
      is(await edits(), 'pin 2,pin 1', 'edits after the wheel');
      await picture('finish-pin');
      for (const {vertex, name} of answered.slice(2)) is(await ownerOf(vertex), name, `the owner of vertex ${vertex} after the wheel`);
      // Another answer at the same place replaces the first.
      const again = page().locator('.chip[aria-pressed=false]').first();
      await again.click();
      await settled();
      is(await edits(), 'pin 2,pin 1', 'edits after another answer');
    },
    async 'the table of joints collapses, and gives its room to the cards'() {
      await open('caped');
      await bind('32');
      await cards();
      const height = () => page().locator('#cards').evaluate((box) => box.clientHeight);
      const before = await height();
      await page().locator('#joints-toggle').click();
      holds(await page().locator('#joint-list').isHidden(), 'the list is shown');
      holds((await height()) > before, `the cards have ${await height()} pixels, before ${before}`);
      await page().locator('#joints-toggle').click();
      holds(await page().locator('#joint-list').isVisible(), 'the list is hidden');
      // How much the selected joint takes is a number in its row.
      await select('head');
      await page().getByLabel('Takes: head').fill('0.5');
      await key('Enter');
      await settled();
      const [edit] = (await state()).doc.edits;
      is(`${edit.op} ${edit.joints} ${edit.value}`, 'multiply head 0.5', 'the edit');
    },
    async 'the sweep moves through all poses, then each joint out and back, and the place of a card stays in sight'() {
      await fresh(undefined, undefined, 'no-preference');
      await page().clock.install();
      await page().reload();
      await until(() => document.documentElement.dataset.ready === 'yes');
      await open('robot');
      await bind('32');
      await cards();
      const {clock} = page();
      await clock.pauseAt((await page().evaluate(() => Date.now())) + 1000);
      const forward = async (milliseconds) => {
        if (milliseconds > 50) await clock.fastForward(milliseconds - 50);  // without the frames between
        await clock.runFor(50);
        await settled();
      };
      const matrices = () => page().evaluate(() => window.studio.joints().map((_, j) => window.studio.matrixOf(j)));
      const apart = (p, q) => Math.max(...p.flatMap((m, j) => m.map((x, k) => Math.abs(x - q[j][k]))));
      const stops = await page().locator('#sweep .bars button').evaluateAll((all) => all.map((b) => b.title.replace(/:.*/, '')));
      const poses = await page().locator('.pose canvas').count();
      holds(poses > 3 && stops.length > poses + 5, `${poses} poses, ${stops.length} stops`);
      const wanted = [];
      for (let i = 0; i < poses; ++i) {
        await page().locator('.pose:has(canvas)').nth(i).click();
        await forward(50);
        wanted.push(await matrices());
      }
      await key('r');
      await forward(50);
      const rest = await matrices();
      await page().click('#tab-finish');  // the sweep begins again
      // A pose is whole in the middle of its 1.4 seconds, and a joint is out after a quarter, and after three to the other side.
      await forward(700);
      for (let i = 0; i < poses; ++i) {
        const now = await matrices();
        holds(apart(now, wanted[i]) < 0.05 && apart(now, rest) > 0.1, `${stops[i]}: ${apart(now, wanted[i])} from the pose, ${apart(now, rest)} from rest`);
        await forward(i + 1 < poses ? 1400 : 700);
      }
      const joints = await page().evaluate(() => window.studio.joints().map((j) => j.name));
      for (const name of stops.slice(poses)) {
        const j = joints.indexOf(name);
        await forward(350);
        const out = await matrices();
        await forward(700);
        const back = await matrices();
        await forward(350);
        const angle = Math.acos((out[j][0] + out[j][5] + out[j][10] - 1) / 2);
        holds(Math.abs(angle - Math.PI / 4) < 0.05, `${name}: turned by ${angle}`);
        // The same turn to the other side: the transpose.
        const other = Math.max(...[[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]].map(([r, c]) => Math.abs(out[j][4 * c + r] - back[j][4 * r + c])));
        holds(other < 0.1, `${name}: not to the other side (${other})`);
      }
      const {vertex} = (await page().evaluate(() => window.studio.core.questions(10)))[0];
      await page().locator('.card').first().click();
      const {width, height} = await canvas().boundingBox();
      const seen = [];
      for (let i = 0; i < 24; ++i) {
        await forward(350);
        const {x, y} = await page().evaluate((v) => window.studio.pixelOfVertex(v), vertex);
        holds(Math.abs(x / width - 0.5) < 0.05 && Math.abs(y / height - 0.5) < 0.05, `the place of the card is at ${x}, ${y} of ${width}, ${height} after ${350 * (i + 1)} ms`);
        seen.push(await matrices());
      }
      holds(Math.max(...seen.map((m) => apart(m, rest))) > 0.1, 'nothing moves while a card is shown');
    },
    async 'axe-core finds nothing serious'() {
      const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
      const session = await page().context().newCDPSession(page());
      await session.send('Page.setBypassCSP', {enabled: true});
      await page().reload();
      await until(() => document.documentElement.dataset.ready === 'yes');
      const found = [];
      const look = async (where) => {
        const {violations} = await page().evaluate(() => window.axe.run());
        for (const v of violations) if (['serious', 'critical'].includes(v.impact)) found.push(`${where}: ${v.id} (${v.nodes.slice(0, 3).map((n) => n.target.join(' ')).join(', ')})`);
      };
      await page().addScriptTag({content: axe});
      await look('first page');
      await open('caped');
      await bind('32');
      await (await cards()).first().click();
      for (const step of ['finish', 'paint', 'pose', 'export', 'bind']) {
        await page().click(`#tab-${step}`);
        await settled();
        await look(step);
      }
      is(found.join('\n'), '', 'serious findings');
    },
    async 'a random walk of 200 actions leaves the skin on its bones, and shows what is painted'() {
      let seed = 20260730;
      const random = (n) => ((seed = (seed * 1103515245 + 12345) & 0x7fffffff) >> 8) % n;
      await open('robot');
      await bind('32');
      await cards();
      const names = (await page().evaluate(() => window.studio.joints())).filter((j) => j.deforms).map((j) => j.name);
      const view = async () => {
        const b = await canvas().boundingBox();
        return [b.x + b.width * (0.35 + random(30) / 100), b.y + b.height * (0.3 + random(50) / 100)];
      };
      const maybe = async (locator) => {
        const n = await locator.count(), chosen = random(1 << 20);
        if (n) await locator.nth(chosen % n).click({timeout: 5000, force: true}).catch(() => {});
      };
      const actions = [
        ['mode', () => key(String(1 + random(9)))],
        ['defects and joints', () => key('9', '2')],
        ['step', () => maybe(page().getByRole('tab'))],
        ['card', () => maybe(page().locator('.card'))],
        ['chip', () => maybe(page().locator('.chip'))],
        ['pose', () => maybe(page().locator('.pose:not([disabled])'))],
        ['bar', () => maybe(page().locator('#sweep .bars button'))],
        ['joint', () => maybe(page().locator('#joint-list li'))],
        ['undo', () => key('Control+z')],
        ['redo', () => key('Control+Shift+z')],
        ['key', () => key(['s', 'w', 'f', 'k', 't', 'Escape', 'c'][random(7)])],
        ['click', async () => page().mouse.click(...(await view()))],
        ['double click', async () => page().mouse.dblclick(...(await view()))],
        ['turn a joint', async () => page().evaluate(([n, x]) => window.studio.pose(n, [Math.sin(x), 0, 0, Math.cos(x)]), [await joint(names[random(names.length)]), random(60) / 100])],
        ['stroke', async () => {
          await select(names[random(names.length)]);
          await key('p');
          const [x, y] = await view();
          await page().mouse.move(x, y);
          await page().mouse.down();
          await page().mouse.move(x + random(40), y + random(40), {steps: 3});
          await page().mouse.up();
        }],
      ];
      const done = [];
      for (let n = 1; n <= 200; ++n) {
        const [name, act] = actions[random(actions.length)];
        done.push(name);
        await settled();  // the same walk on every machine
        await act();
        if (n % 20) continue;
        await settled();
        if ((await state()).mode === 'voxels') await key('2');
        if (await page().locator('#beside').isVisible()) await key('c');
        if (await page().getByRole('button', {name: 'Wire', pressed: true}).count()) await key('w');
        await settled();
        await drawn();
        const what = `after ${n} actions (${done.slice(-20).join(', ')})`;
        await covered(what);
        is(await page().evaluate(() => window.studio.wrongColours()), 0, `vertices in another colour than their weights ${what}`);
        is(tools.problems().join('; '), '', `errors ${what}`);
      }
    },
  };
};

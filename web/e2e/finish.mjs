// Finish, the start with the file's weights, and what an artist stumbled over: a part of e2e/studio.mjs, whose tools it gets.
import {execFileSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';

const require = createRequire(import.meta.url);

export const finishTests = (tools) => {
  const {open, bind, until, settled, drawn, state, select, is, holds, picture, exported, byCommand, at, samples, sinew, fresh} = tools;
  const page = () => tools.page();
  const canvas = () => page().locator('#view canvas').last();
  const shot = async () => (await settled(), await drawn(), canvas().screenshot());
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
      holds(/GLB.*sinew studio hero\.fbx/.test(await error()), `FBX: ${await error()}`);
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
      await picture('minute-1-bound');
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
      await picture('minute-4-pose');
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
      await picture('hair-after');
      is(await lock.textContent().then((t) => t[0]), '✓', 'the mark of the card');
      // The border is dragged on the skin.
      await all.filter({hasText: '|'}).first().click();
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
      is((await state()).doc.edits.length, 1, 'edits after undo of the drag');
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
    async 'a random walk of 500 actions leaves the skin on its bones, and shows what is painted'() {
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
        const n = await locator.count();
        if (n) await locator.nth(random(n)).click({timeout: 5000, force: true}).catch(() => {});
      };
      const actions = [
        () => key(String(1 + random(9))),
        () => key('9', '2'),
        () => maybe(page().getByRole('tab')),
        () => maybe(page().locator('.card')),
        () => maybe(page().locator('.chip')),
        () => maybe(page().locator('.pose:not([disabled])')),
        () => maybe(page().locator('#sweep .bars button')),
        () => maybe(page().locator('#joint-list li')),
        () => key('Control+z'),
        () => key('Control+Shift+z'),
        () => key(['s', 'w', 'f', 'k', 't', 'Escape', 'c'][random(7)]),
        async () => page().mouse.click(...(await view())),
        async () => page().mouse.dblclick(...(await view())),
        async () => page().evaluate(([n, x]) => window.studio.pose(n, [Math.sin(x), 0, 0, Math.cos(x)]), [await joint(names[random(names.length)]), random(60) / 100]),
        async () => {  // a stroke
          if (!(await state()).bound) return;
          await select(names[random(names.length)]);
          await key('p');
          const [x, y] = await view();
          await page().mouse.move(x, y);
          await page().mouse.down();
          await page().mouse.move(x + random(40), y + random(40), {steps: 3});
          await page().mouse.up();
        },
      ];
      for (let n = 1; n <= 500; ++n) {
        await actions[random(actions.length)]();
        if (n % 20) continue;
        await settled();
        await page().evaluate(() => window.studio.change({}));  // ends what is shown in passing
        if ((await state()).mode === 'voxels') await key('2');
        if (await page().locator('#beside').isVisible()) await key('c');
        if (await page().getByRole('button', {name: 'Wire', pressed: true}).count()) await key('w');
        await settled();
        await drawn();
        await covered(`after ${n} actions`);
        const wrong = await page().evaluate(() => window.studio.wrongColours());
        is(wrong, 0, `vertices in another colour than their weights after ${n} actions`);
        is(tools.problems().join('; '), '', `errors after ${n} actions`);
      }
    },
  };
};

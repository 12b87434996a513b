// The heavy part of stranger.mjs: other versions of node, a page bundled by Vite, and Chromium with and without threads.
import assert from 'node:assert/strict';
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {createRequire} from 'node:module';
import {extname, join, normalize} from 'node:path';

const TYPES = {'.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm', '.json': 'application/json'};

/** Files of a folder; isolated: pages may share memory. */
function host(folder, isolated) {
  const server = createServer((request, answer) => {
    const path = join(folder, normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname)));
    if (!existsSync(path) || !extname(path)) return answer.writeHead(404).end();
    answer.setHeader('Content-Type', TYPES[extname(path)] ?? 'application/octet-stream');
    if (isolated) {
      answer.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      answer.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    }
    answer.end(readFileSync(path));
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve({url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close()})));
}

const PAGE = `
import * as THREE from 'three';
import {bind, bindArrays, SinewError} from 'sinew-skin';
import {bindSkinnedMesh} from 'sinew-skin/three';

const bytes = async (name) => new Uint8Array(await (await fetch(name)).arrayBuffer());
async function all() {
  const said = {isolated: globalThis.crossOriginIsolated, stages: 0};
  const binding = await bind(await bytes('hero.glb'), {onProgress: () => ++said.stages});
  said.threads = (await binding.character.size()).threads;
  const [glb, want] = [await binding.glb(), await bytes(WANT)];
  said.same = glb.length === want.length && glb.every((b, i) => b === want[i]);
  binding.free();
  const file = new File([await bytes('hero.glb')], 'hero.glb');
  said.file = (await bind(file, {threads: false, method: 'closest-distance'})).report.counts.vertices;
  const control = new AbortController();
  said.cancelled = await bind(file, {method: 'voxel-heat', resolution: 256, signal: control.signal, onProgress: () => control.abort()})
    .then(() => 'no', (error) => error instanceof SinewError && error.status);
  said.error = await bind(new Uint8Array(9)).then(() => 'no', (error) => error.message);
  const [hips, chest] = [new THREE.Bone(), new THREE.Bone()];
  chest.position.y = 1;
  hips.add(chest);
  const mesh = new THREE.SkinnedMesh(new THREE.CylinderGeometry(0.2, 0.2, 2, 12, 20).translate(0, 1, 0), new THREE.MeshBasicMaterial());
  mesh.add(hips);
  mesh.scale.setScalar(100);
  mesh.updateWorldMatrix(true, true);
  const bound = await bindSkinnedMesh(mesh, new THREE.Skeleton([hips, chest]));
  const top = mesh.geometry.getAttribute('position').array.findIndex((y, i) => i % 3 === 1 && y > 1.9);
  chest.position.y = 2;
  mesh.updateWorldMatrix(true, true);
  said.moved = mesh.getVertexPosition((top - 1) / 3, new THREE.Vector3()).y;
  bound.free();
  return said;
}
all().then((said) => (window.said = said), (error) => (window.said = {failed: String(error.stack ?? error)}));
`;

export async function browsers({project, root, test, run, lend, inNode, expected}) {
  for (const version of [18, 20]) {
    if (process.versions.node.startsWith(`${version}.`)) continue;
    const folder = join(project, `node${version}`);
    mkdirSync(folder);
    try {
      run('npm', 'install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', `node@${version}`);
    } catch {
      console.log(`skipped: node ${version}: npm could not install it`);
      continue;
    }
    await inNode(join(folder, 'node_modules/node/bin/node'), `node ${version}`);
  }

  const chromiumPath = process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell';
  const {chromium} = createRequire(join(root, 'web/package.json'))('playwright-core');
  const want = expected('hero', []);
  writeFileSync(join(project, 'main.js'), PAGE.replace('WANT', JSON.stringify(want)));
  writeFileSync(join(project, 'index.html'), '<!doctype html><script type="module" src="./main.js"></script>');
  lend('three');
  const vite = join(root, 'web/node_modules/vite/bin/vite.js');
  await test('Vite bundles it without configuration', () => {
    run(process.execPath, vite, 'build', '--base', './', '--logLevel', 'warn');
    for (const name of ['hero.glb', want]) writeFileSync(join(project, 'dist', name), readFileSync(join(project, name)));
  });
  if (!existsSync(chromiumPath)) return console.log(`skipped: there is no ${chromiumPath}`);
  const browser = await chromium.launch({executablePath: chromiumPath, args: ['--no-sandbox']});
  const visit = async (folder, path, isolated, look) => {
    const site = await host(folder, isolated), page = await browser.newPage(), said = [];
    page.on('console', (message) => said.push(message.text()));
    page.on('pageerror', (error) => said.push(String(error)));
    try {
      await page.goto(site.url + path);
      return await look(page);
    } catch (error) {
      throw new Error(`${error.message}\n${said.join('\n')}`);
    } finally {
      await page.close();
      site.close();
    }
  };
  for (const isolated of [false, true])
    await test(`Chromium, the page of Vite, ${isolated ? 'isolated' : 'not isolated'}`, async () => {
      const said = await visit(join(project, 'dist'), 'index.html', isolated, async (page) =>
        (await page.waitForFunction(() => window.said, null, {timeout: 300_000})).jsonValue());
      assert.equal(said.failed, undefined);
      assert.equal(said.isolated, isolated);
      assert.equal(said.same, true, 'the bytes are those of the command line');
      assert.equal(said.threads > 1, isolated && existsSync(join(project, 'node_modules/sinew-skin/wasm/threads')));
      assert.equal(said.cancelled, 'cancelled');
      assert.match(said.error, /model\.glb/);
      assert.ok(said.stages > 3 && said.file > 1000, JSON.stringify(said));
      assert.ok(Math.abs(said.moved - 3) < 1e-4, `the top is at ${said.moved}`);
      return `${said.threads} threads`;
    });
  await test('Chromium, a plain script of type module', () =>
    visit(project, 'page.html', false, (page) => page.waitForFunction(() => / vertices$/.test(document.title), null, {timeout: 300_000})).then(() => {}));
  await test('vite dev, with the package excluded', async () => {
    const {createServer: serve} = await import(join(root, 'web/node_modules/vite/dist/node/index.js'));
    const server = await serve({root: project, logLevel: 'silent', configFile: false, optimizeDeps: {exclude: ['sinew-skin']}, server: {port: 0, host: '127.0.0.1'}});
    await server.listen();
    const page = await browser.newPage();
    try {
      await page.goto(`http://127.0.0.1:${server.httpServer.address().port}/index.html`);
      const said = await (await page.waitForFunction(() => window.said, null, {timeout: 300_000})).jsonValue();
      assert.equal(said.failed, undefined);
      assert.equal(said.same, true);
    } finally {
      await page.close();
      await server.close();
    }
  });
  await browser.close();
}

import {readFileSync} from 'node:fs';
import {defineConfig} from 'vite';

// The studio is bundled from the package that scripts/npm builds, as any other page would be. Tests in node take its sources.
const quick = process.env.SINEW_WEB === 'quick';
const at = (path: string) => new URL(path, import.meta.url).pathname;
const sinew = process.env.VITEST ? at('../js/src/index.ts') : at(quick ? '../build/web-quick/npm/dist/index.js' : '../build/npm/dist/index.js');

// Not every host knows that .mjs is a script.
const assetFileNames = ({names}: {names: string[]}) =>
  names.some((n) => n.endsWith('.mjs')) ? 'assets/[name]-[hash].js' : 'assets/[name]-[hash][extname]';

/** The files of the page, for its service worker. */
const offline = {
  name: 'offline',
  generateBundle(_: unknown, bundle: Record<string, unknown>) {
    const files = ['./', 'icon.svg', ...Object.keys(bundle).filter((name) => name !== 'index.html')];
    (this as unknown as {emitFile(file: object): void}).emitFile({
      type: 'asset', fileName: 'sw.js', source: readFileSync(at('src/offline.js'), 'utf8').replace('FILES', JSON.stringify(files)),
    });
  },
};

// Relative paths: the built folder works at any address, and offline once loaded. Nothing is inlined: the page's policy
// allows no data for scripts.
export default defineConfig({
  base: './',
  plugins: [offline],
  build: {
    target: 'es2022', outDir: quick ? '../build/web-quick/studio' : '../build/studio', emptyOutDir: true, chunkSizeWarningLimit: 900, assetsInlineLimit: 0,
    rollupOptions: {output: {assetFileNames}},
  },
  resolve: {alias: {'sinew-skin': sinew}},
  worker: {format: 'es', rollupOptions: {output: {assetFileNames}}},
  // No test may depend on how busy the machine is: these limits only end what hangs.
  test: {include: ['test/**/*.test.ts'], environment: 'node', testTimeout: 300_000, hookTimeout: 300_000},
} as Parameters<typeof defineConfig>[0]);

import {existsSync} from 'node:fs';
import {defineConfig} from 'vite';

// scripts/web builds two modules; scripts/web quick one, for tests, in a folder of its own.
const built = (folder: string) => new URL(`../build/${folder}`, import.meta.url).pathname;
const quick = process.env.SINEW_WEB === 'quick';
const one = built(quick ? 'web-quick/web/core' : 'web/web/core');
const threads = built('web-threads/web/core');
// A page without the module with threads: its addresses are empty.
const without = !quick && existsSync(threads) ? [] : [{name: 'one-thread', enforce: 'pre' as const,
  resolveId: (id: string) => (id.startsWith('sinew-threads/') ? '\0none' : null),
  load: (id: string) => (id === '\0none' ? "export default ''" : null)}];

// Not every host knows that .mjs is a script.
const assetFileNames = ({names}: {names: string[]}) =>
  names.some((n) => n.endsWith('.mjs')) ? 'assets/[name]-[hash].js' : 'assets/[name]-[hash][extname]';

// Relative paths: the built folder works at any address, and offline once loaded. Nothing is inlined: the page's policy
// allows no data for scripts.
export default defineConfig({
  base: './',
  build: {
    target: 'es2022', outDir: quick ? '../build/web-quick/studio' : '../build/studio', emptyOutDir: true, chunkSizeWarningLimit: 900, assetsInlineLimit: 0,
    rollupOptions: {output: {assetFileNames}},
  },
  resolve: {alias: [
    {find: 'sinew-one', replacement: one},
    ...(without.length ? [] : [{find: 'sinew-threads', replacement: threads}]),
    // Draco's decoder asks for these where it finds itself in node.
    {find: /^(fs|path)$/, replacement: new URL('./src/nothing.ts', import.meta.url).pathname},
  ]},
  worker: {format: 'es', plugins: () => without, rollupOptions: {output: {assetFileNames}}},
  // No test may depend on how busy the machine is: these limits only end what hangs.
  test: {include: ['test/**/*.test.ts'], environment: 'node', testTimeout: 300_000, hookTimeout: 300_000},
} as Parameters<typeof defineConfig>[0]);

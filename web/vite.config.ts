import {defineConfig} from 'vite';

// Not every host knows that .mjs is a script.
const assetFileNames = ({names}: {names: string[]}) =>
  names.some((n) => n.endsWith('.mjs')) ? 'assets/[name]-[hash].js' : 'assets/[name]-[hash][extname]';

// Relative paths: the built folder works at any address, and offline once loaded. Nothing is inlined: the page's policy
// allows no data for scripts.
export default defineConfig({
  base: './',
  build: {
    target: 'es2022', outDir: '../build/studio', emptyOutDir: true, chunkSizeWarningLimit: 900, assetsInlineLimit: 0,
    rollupOptions: {output: {assetFileNames}},
  },
  // Draco's decoder asks for these where it finds itself in node.
  resolve: {alias: [{find: /^(fs|path)$/, replacement: new URL('./src/nothing.ts', import.meta.url).pathname}]},
  worker: {format: 'es', rollupOptions: {output: {assetFileNames}}},
  test: {include: ['test/**/*.test.ts'], environment: 'node'},
} as Parameters<typeof defineConfig>[0]);

import {defineConfig} from 'vite';

// Relative paths: the built folder works at any address, and offline once loaded.
export default defineConfig({
  base: './',
  build: {target: 'es2022', outDir: '../build/studio', emptyOutDir: true, chunkSizeWarningLimit: 900},
  worker: {format: 'es'},
  test: {include: ['test/**/*.test.ts'], environment: 'node'},
} as Parameters<typeof defineConfig>[0]);

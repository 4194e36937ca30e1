/** Builds the console. `npm run build` puts it beside the compiled package. */
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/console/',
  plugins: [react()],
  build: {
    outDir: fileURLToPath(new URL('../dist/console', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    // Everything is a file of its own, which the content security policy names.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The packages in it are not installed with ours, and their licences ask for their text.
    license: { fileName: 'licenses.md' },
  },
});

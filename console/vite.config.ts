import react from '@vitejs/plugin-react';
import { defaultClientConditions, defineConfig } from 'vite';
import { compressFiles } from './compress-files.ts';
import { kitStyles } from './kit-styles.ts';

export default defineConfig({
  base: '/console/',
  plugins: [react(), kitStyles(), compressFiles()],
  // The client's sources: its build is made when it is packed.
  resolve: { conditions: ['carillon-source', ...defaultClientConditions] },
  // An inlined script would need a hole in the content security policy.
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 1000 },
});

import { defineConfig } from '@kubb/core';
import { pluginOas } from '@kubb/plugin-oas';
import { pluginTs } from '@kubb/plugin-ts';
export default defineConfig({
  root: '.',
  input: { path: './openapi.json' },
  output: { path: './all/kubb', clean: true, format: false },
  plugins: [pluginOas({ generators: [], validate: false }), pluginTs({ output: { path: 'types' } })],
});

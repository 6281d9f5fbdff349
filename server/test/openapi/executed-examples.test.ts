import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { walkExamples } from './walk-examples.ts';

const file = join(import.meta.dirname, '../../src/http/openapi/examples.json');

let bundle: CarillonBundle;
beforeAll(async () => {
  // Its receiver stands on this machine.
  bundle = await startCarillonBundle({ CARILLON_ALLOWED_NETWORKS: '127.0.0.0/8' });
});
afterAll(() => bundle?.stop());

test('every example of the document is what a node says to that request; npm run openapi:examples writes them', async () => {
  const examples = await walkExamples(bundle);
  await expect(`${JSON.stringify(examples, null, 2)}\n`).toMatchFileSnapshot(file);
});

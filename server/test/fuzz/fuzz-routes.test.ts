import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { fuzzRoutes } from './fuzz-routes.ts';
import { measureUsage } from '../rig/measure-usage.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle?.stop());

// Twice round the routes, with a seed that is told; `npm run test:fuzz` goes on from here.
const requests = 142;

test('no hostile request is answered with a fault of ours, or in another shape than the documented one', async () => {
  const seed = Number(process.env.FUZZ_SEED ?? '7');
  const { findings, statuses, routes } = await fuzzRoutes(
    { ...bundle, measure: measureUsage },
    { seed, first: 0, requests },
  );
  const told = findings.map(({ number, what, request }) => `${request.operation.name}: ${what} (request ${number})`);
  expect(told, `npm run test:fuzz -- --seed ${seed} --first <request> --requests 1`).toEqual([]);
  expect(routes.size).toBeGreaterThan(60);
  // The walk reaches what is behind the credentials, and what refuses.
  for (const status of [200, 400, 401]) expect(statuses.get(status), String(status)).toBeGreaterThan(5);
});

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hostileLiterals, hostileTexts } from '../fuzz/hostile-values.ts';
import { bodyOf } from '../http/body-arbitrary.ts';
import type { Shape } from '../http/body-arbitrary.ts';
import { propertyRuns } from '../property-runs.ts';
import { makeAccountsBundle } from './accounts-bundle.ts';
import type { AccountsBundle, ConsoleRoute } from './accounts-bundle.ts';

let bundle: AccountsBundle;
let cookie: string;
beforeAll(async () => {
  bundle = await makeAccountsBundle();
  cookie = await bundle.createOwner();
});
afterAll(() => bundle.end());

const id = 'a'.repeat(24);
const hostile = fc.constantFrom(...hostileTexts.map((text) => text.toWellFormed().replaceAll('\0', '')));
const literal = fc.constantFrom(...hostileLiterals.map((text) => JSON.parse(text) as unknown));

/** Mostly of the shape, so that what is behind it is reached; a text may be any that it does not rule out. */
function valueOf(shape: Shape & { pattern?: string }): fc.Arbitrary<string> {
  const words =
    shape.anyOf?.map((one) => String(one.const)) ?? (shape.const === undefined ? undefined : [String(shape.const)]);
  if (words) return fc.constantFrom(...words);
  if (shape.pattern === undefined) return hostile;
  const known = [
    id,
    '7',
    '2026-03-01',
    '2026-03-01T10:00:00.000Z',
    `2026-03-01T10:00:00.000Z~${id}`,
    `7~${id}~${id}`,
    '2xx',
  ];
  const fitting = known.filter((text) => new RegExp(shape.pattern!, 'u').test(text));
  return fitting.length > 0 ? fc.constantFrom(...fitting) : hostile;
}

function queryOf({ shapes: { querystring } }: ConsoleRoute): fc.Arbitrary<Record<string, string>> {
  const { workspaceId: _workspaceId, ...others } = querystring?.properties ?? {};
  const members = Object.entries(others).map(([name, shape]) => [name, valueOf(shape)] as const);
  return fc.record(
    {
      workspaceId: fc.oneof(
        { arbitrary: fc.constant(bundle.workspaceId), weight: 4 },
        { arbitrary: fc.constantFrom('NOSUCHWORKSPACE', '', '\u00e9'), weight: 1 },
      ),
      ...Object.fromEntries(members),
    },
    { requiredKeys: ['workspaceId', ...(querystring?.required ?? []).filter((name) => name in others)] as never },
  );
}

/** A body of the shape with one of its members, at any depth, in the place of which another thing stands. */
function spoiled(body: unknown): fc.Arbitrary<unknown> {
  if (body === null || typeof body !== 'object') return fc.oneof(hostile, literal);
  const names = Object.keys(body);
  if (names.length === 0) return literal;
  return fc
    .constantFrom(...names)
    .chain((name) =>
      spoiled((body as Record<string, unknown>)[name]).map((value) =>
        Array.isArray(body) ? body.with(Number(name), value) : { ...body, [name]: value },
      ),
    );
}

/** Their reader is the API's, behind a shape that says little. */
const ofCity = { filter_type: 'user_attributes', name: 'city', data_type: 'string', operator: 'in', value: ['Porto'] };
const filterBodies = [[ofCity], [ofCity, { filter_type: 'custom_segments', id }], []].flatMap((filters) => {
  const included = { included_filters: { filter_operator: 'and', filters } };
  return [included, { ...included, name: 'Of a walk' }, { ...included, name: 'Of another walk' }];
});

function bodiesOf({ url, shapes: { body } }: ConsoleRoute): fc.Arbitrary<unknown> {
  if (body === undefined) return fc.constant(undefined);
  const made = url.includes('/filter')
    ? fc.constantFrom(...filterBodies)
    : bodyOf(body, { '*': hostileTexts.slice(0, 30) });
  return fc.oneof(made, made.chain(spoiled));
}

test('answers no console call with an internal error, whatever its texts are', async () => {
  const faults: string[] = [];
  const statuses = new Map<number, number>();
  for (const route of bundle.routes) {
    const { method, url, permission, shapes } = route;
    // They would end the walk, or take the time of a password for each call.
    if (permission === 'none' || url.endsWith('/session') || url.endsWith('/clock') || url.includes('/upload'))
      continue;
    const path = fc.record(
      Object.fromEntries(
        Object.entries(shapes.params?.properties ?? {}).map(([name, shape]) => [name, valueOf(shape)]),
      ),
    );
    const calls = fc.sample(fc.record({ path, query: queryOf(route), body: bodiesOf(route) }), {
      numRuns: propertyRuns(100, 6),
      seed: 7,
    });
    for (const call of calls) {
      const at = url
        .replace('/console/api/', '')
        .replace(/:([A-Za-z]+)/g, (_, name: string) => encodeURIComponent(call.path[name] ?? id));
      const asked = `${at}?${new URLSearchParams(call.query as Record<string, string>).toString()}`;
      const { status } = await bundle.call(method as 'GET', asked, { cookie, body: call.body });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status >= 500)
        faults.push(`${status} ${method} ${asked.slice(0, 300)} ${JSON.stringify(call.body)?.slice(0, 400)}`);
    }
  }
  expect(faults).toEqual([]);
  // The walk reaches what is behind the shapes, and what refuses.
  for (const status of [200, 400, 404]) expect(statuses.get(status), String(status)).toBeGreaterThan(5);
}, 300_000);

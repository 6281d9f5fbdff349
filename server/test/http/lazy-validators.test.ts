import fastify from 'fastify';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { listConsoleRoutes } from '../../../scripts/list-console-routes.ts';
import { makeLazyValidators } from '../../src/http/server/build-server.ts';

test('compiles the shape of every request of the console', async () => {
  const compile = makeLazyValidators();
  const taken = (await listConsoleRoutes()).flatMap((route) => route.taken.map((schema) => ({ ...route, schema })));
  expect(taken.length).toBeGreaterThan(60);
  for (const { method, path, schema } of taken)
    expect(() => compile({ schema, method, url: path })('not an object'), `${method} ${path}`).not.toThrow();
});

test('names the invalid member each time; a shape that does not compile fails only its own request', async () => {
  const server = fastify({ logger: false });
  server.setValidatorCompiler(makeLazyValidators());
  const body = Type.Object({ count: Type.Integer({ minimum: 1 }) });
  server.post('/right', { schema: { body } }, async () => 'taken');
  server.post('/wrong', { schema: { body: { type: 'no such type' } } }, async () => 'taken');
  const post = async (url: string, payload: object): Promise<unknown> =>
    (await server.inject({ method: 'POST', url, payload })).body;
  for (let time = 0; time < 2; time += 1) {
    expect(await post('/right', { count: 0 })).toContain('body/count must be >= 1');
    expect(await post('/right', { count: '1' })).toContain('body/count must be integer');
    expect(await post('/right', { count: 1 })).toBe('taken');
    expect(await post('/wrong', {})).toContain('FST_ERR_VALIDATION');
  }
  await server.close();
});

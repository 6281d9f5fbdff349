import Fastify from 'fastify';
import swagger from '@fastify/swagger';
import { expect, test } from 'vitest';
import { errorRegistry } from '../../src/domain/errors.ts';
import { gatewayErrors } from '../../src/http/route/gateway-errors.ts';
import { tokenErrors, tokenRoutes } from '../../src/http/tokens.ts';
import type { TokenRouteDependencies } from '../../src/http/tokens.ts';

test('the OpenAPI description names the three operations, their forms and the shape of every answer', async () => {
  const server = Fastify();
  await server.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'test', version: '1' } } });
  // Describing calls no use case.
  await server.register(tokenRoutes({} as TokenRouteDependencies));
  await server.ready();
  const paths = JSON.parse(JSON.stringify(server.swagger())).paths;
  expect(Object.keys(paths)).toEqual(['/v1/oauth/token', '/v1/oauth/refresh', '/v1/oauth/revoke']);
  for (const path of Object.values(paths) as Record<string, unknown>[]) expect(Object.keys(path)).toEqual(['post']);
  const { post } = paths['/v1/oauth/token'];
  const form = post.requestBody.content['application/x-www-form-urlencoded'].schema;
  expect(form.required).toEqual(['grant_type', 'client_id', 'client_secret']);
  expect(Object.keys(post.responses)).toEqual(['200', '400', '401', '409', '413', '415', '421', '429', '500', '503']);
  const answer = post.responses['200'].content['application/json'].schema;
  expect(answer.required).toEqual(['status', 'data', 'access_token', 'token_type', 'expires_in', 'refresh_token']);
  const refreshed = paths['/v1/oauth/refresh'].post.responses['200'].content['application/json'].schema;
  expect(Object.keys(refreshed.properties)).not.toContain('refresh_token');
  await server.close();
});

test('every token error and gateway error of the registry has a code and a status', () => {
  const isToken = (name: string) => name.startsWith('TOKEN_');
  expect(Object.keys(tokenErrors).filter(isToken).sort()).toEqual(Object.keys(errorRegistry).filter(isToken).sort());
  expect(Object.keys(errorRegistry)).toEqual(expect.arrayContaining(Object.keys(gatewayErrors)));
});

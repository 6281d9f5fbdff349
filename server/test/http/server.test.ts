import { parseYaml } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listRoutes } from '../../../scripts/list-routes.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import { refuseInserts } from '../refuse-inserts.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle({ CARILLON_SERVICE_DOMAIN: 'svc.test' });
});
afterAll(() => bundle.stop());

describe('the service', () => {
  test('returns 200 for /livez and /readyz while the database responds', async () => {
    expect((await bundle.call('GET', '/livez')).status).toBe(200);
    expect((await bundle.call('GET', '/readyz')).status).toBe(200);
  });

  test('returns a retryable 503 for a write that fails for lack of disk space, and is not ready', async () => {
    const accept = await refuseInserts(bundle.database, 'users');
    const customer = { type: 'customer', customer_id: 'new', attributes: { u_fn: 'New' } };
    const path = `/v1/customer/${bundle.workspaceId}`;
    const refused = await bundle.call('POST', path, { headers: bundle.basic(), body: customer });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
    expect(refused.text).toContain('cannot store anything');
    expect((await bundle.call('GET', '/readyz')).json().troubles).toEqual(['writes']);
    await accept();
  });

  test('serves /openapi.json as valid OpenAPI 3.1 with every public route, and the right families on each host', async () => {
    const document = (await bundle.call('GET', '/openapi.json')).json();
    const result = await new Validator().validate(document);
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(document.openapi).toBe('3.1.0');
    const names = Object.entries(document.paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(names.sort()).toEqual((await listRoutes()).map(({ method, path }) => `${method} ${path}`).sort());
    const hostOf = (path: string) => document.paths[path].post.servers[0].url;
    expect(hostOf('/v1/oauth/token')).toBe('https://oauth2-{dc}.svc.test');
    expect(hostOf('/v2/custom-segments/file-segment')).toBe('https://api-{dc}.svc.test');
    expect(hostOf('/v2.1/transaction/sendpush')).toBe('https://pushapi-{dc}.svc.test');
    expect(document.servers).toEqual([{ url: '/', description: 'This installation' }]);
  });

  test('serves the same document at /openapi.yaml', async () => {
    const answer = await bundle.call('GET', '/openapi.yaml');
    expect(answer.headers.get('content-type')).toBe('application/yaml; charset=utf-8');
    expect(parseYaml(answer.text)).toEqual((await bundle.call('GET', '/openapi.json')).json());
  });

  test('returns 404 for an unknown path, without internal details', async () => {
    const answer = await bundle.call('GET', '/v9/nothing');
    expect(answer.status).toBe(404);
    expect(answer.text).not.toMatch(/node_modules|at \w+ \(|\.ts/);
  });
});

/** fetch does not let the host be chosen. */
function callHost(host: string, path: string, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { host, 'content-type': 'application/x-www-form-urlencoded', 'content-length': body.length };
    request(`${bundle.url}${path}`, { method: 'POST', headers }, (answer) => {
      let text = '';
      answer.on('data', (piece) => (text += piece)).on('end', () => resolve({ status: answer.statusCode!, text }));
    })
      .on('error', reject)
      .end(body);
  });
}

describe('a host of a data center (decision D1)', () => {
  const form = () =>
    `grant_type=client_credentials&client_id=${bundle.workspaceId}&client_secret=${encodeURIComponent(bundle.keys.oauth)}`;

  test.each(['oauth2-01.svc.test', 'OAUTH2-01.SVC.TEST:8080', 'other.example', 'localhost'])(
    'serves %s',
    async (host) => {
      expect((await callHost(host, '/v1/oauth/token', form())).status).toBe(200);
    },
  );

  test.each(['oauth2-07.svc.test', 'oauth2-1.svc.test', 'OAuth2-102.svc.test.:8080'])('rejects %s', async (host) => {
    const answer = await callHost(host, '/v1/oauth/token', form());
    expect(answer.status).toBe(421);
    expect(JSON.parse(answer.text)).toMatchObject({ status: 'FAILURE', error_type: 'HOST_NOT_SERVED' });
  });

  test('reports unknown credentials on the host of another data center', async () => {
    const answer = await callHost('oauth2-03.svc.test', '/v1/oauth/token', form());
    expect(answer.status).toBe(401);
    expect(JSON.parse(answer.text).error_type).toBe('ER011');
  });
});

describe('the API log', () => {
  test('contains no key that a caller sent, whether valid or not', async () => {
    // The four tokens above leave one within the minute's limit; time is moved to have more.
    await bundle.call('POST', '/sandbox/clock', { body: { advanceSeconds: 61 } });
    const { accessToken } = await bundle.token();
    await bundle.call('POST', `/v1/customer/${bundle.workspaceId}`, {
      headers: { authorization: `Bearer ${accessToken}` },
      body: { type: 'customer', customer_id: 'canary' },
    });
    await bundle.call('POST', `/v1/device/${bundle.workspaceId}`, {
      headers: bundle.basic('wrong-CANARY-secret'),
      body: {},
    });
    await bundle.carillon.stop();
    const rows = await bundle.database`select to_jsonb(api_log)::text as text from api_log`;
    const all = rows.map((row) => row.text).join('\n');
    expect(rows.length).toBeGreaterThan(3);
    for (const secret of [...Object.values(bundle.keys), accessToken, 'wrong-CANARY-secret'])
      expect(all).not.toContain(secret);
  });
});

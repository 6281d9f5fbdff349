import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { makeBoundedFetch } from '../../../src/engine/company-account.ts';
import type { OutgoingAnswer, OutgoingRequest } from '../../../src/outgoing/client.ts';

type Given = { status?: number; headers?: OutgoingAnswer['headers']; parts?: Buffer[] };

function openFetch({ status = 200, headers = {}, parts = [Buffer.from('{"a":'), Buffer.from('1}')] }: Given = {}) {
  const asked: OutgoingRequest[] = [];
  const fetchBounded = makeBoundedFetch({
    async open(request) {
      asked.push(request);
      return { status, headers, body: Readable.from(parts), url: new URL(request.url) };
    },
    close: async () => {},
  });
  const ask = (more: Partial<Parameters<typeof fetchBounded>[1]> = {}) =>
    fetchBounded('https://issuer.example/x', {
      method: 'GET',
      headers: { a: 'b' },
      body: undefined,
      redirect: 'manual',
      ...more,
    });
  return { asked, ask };
}
const megabyte = 1024 * 1024;

test('an answer of the issuer is what fetch would give', async () => {
  const { ask, asked } = openFetch({
    status: 201,
    headers: { 'x-list': ['b', 'c'], 'x-one': 'd', 'x-none': undefined },
  });
  const answer = await ask();
  expect([answer.status, await answer.json(), Object.fromEntries(answer.headers)]).toEqual([
    201,
    { a: 1 },
    { 'x-list': 'b, c', 'x-one': 'd' },
  ]);
  expect(asked).toEqual([
    { url: 'https://issuer.example/x', method: 'GET', headers: { a: 'b' }, totalMilliseconds: 10_000 },
  ]);
});

test.each([
  ['POST', new URLSearchParams({ a: 'b c' }), 'POST', 'a=b+c'],
  ['POST', 'text', 'POST', 'text'],
  ['DELETE', null, 'GET', undefined],
])('%s with the body %s leaves as %s', async (...[method, body, sent, text]) => {
  const { ask, asked } = openFetch();
  const { signal } = new AbortController();
  await ask({ method, body: body as never, signal });
  expect([asked[0]!.method, asked[0]!.body, 'body' in asked[0]!, asked[0]!.signal]).toEqual([
    sent,
    text,
    text !== undefined,
    signal,
  ]);
});

test.each([204, 304])('an answer %d has no body', async (status) => {
  const answer = await openFetch({ status, parts: [] }).ask();
  expect([answer.status, answer.body]).toEqual([status, null]);
});

test('an answer of a megabyte is read, and not one byte more', async () => {
  const whole = await openFetch({ parts: [Buffer.alloc(megabyte - 1), Buffer.alloc(1)] }).ask();
  expect((await whole.arrayBuffer()).byteLength).toBe(megabyte);
  await expect(openFetch({ parts: [Buffer.alloc(megabyte), Buffer.alloc(1)] }).ask()).rejects.toThrow('too long');
});

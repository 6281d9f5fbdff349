import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startClientNode } from './client-node.ts';
import type { ClientNode } from './client-node.ts';
import { dataClients } from './data-clients.ts';
import { pushClients } from './push-clients.ts';
import { readingClients } from './reading-clients.ts';

let node: ClientNode;
beforeAll(async () => {
  node = await startClientNode();
});
afterAll(() => node?.stop());

const clients = [...dataClients, ...pushClients, ...readingClients];

describe('a public client of the interface works whole', () => {
  test.each(clients.map((client) => [client.kind, client] as const))('%s', (_kind, client) => client.replay(node));
});

test('each kind of client is listed once', () => {
  expect(new Set(clients.map(({ kind }) => kind)).size).toBe(clients.length);
});

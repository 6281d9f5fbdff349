import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cdpClients } from './cdp-clients.ts';
import { startClientNode } from './client-node.ts';
import type { ClientNode, PublicClient } from './client-node.ts';
import { dashboardClients } from './dashboard-clients.ts';
import { dataClients } from './data-clients.ts';
import { loaderClients } from './loader-clients.ts';
import { pushClients } from './push-clients.ts';
import { readingClients } from './reading-clients.ts';
import { webPushClients } from './web-push-clients.ts';

let node: ClientNode;
beforeAll(async () => {
  node = await startClientNode();
});
afterAll(() => node?.stop());

const clients: readonly PublicClient[] = [
  ...[...cdpClients, ...dataClients, ...loaderClients],
  ...[...pushClients, ...webPushClients],
  ...[...readingClients, ...dashboardClients],
];
const calls = new Map<PublicClient, string[]>();

async function replay(client: PublicClient): Promise<void> {
  node.takeCalled();
  try {
    await client.replay(node);
  } finally {
    calls.set(client, node.takeCalled());
  }
}

describe('a public client of the interface', () => {
  const whole = clients.filter(({ differs }) => !differs);
  test.each(whole.map((client) => [client.kind, client] as const))('works whole: %s', (_kind, client) =>
    replay(client),
  );

  const stopped = clients.flatMap((client) => (client.differs ? [[client.kind, client, client.differs] as const] : []));
  test.each(stopped)('stops where the report says: %s', async (_kind, client, { answer }) => {
    await expect(replay(client)).rejects.toThrow(answer);
  });
});

test('each kind of client is listed once', () => {
  expect(new Set(clients.map(({ kind }) => kind)).size).toBe(clients.length);
});

test('docs/reports/replay.md lists the clients, their calls and their results; RECORD=1 writes it', async () => {
  const path = join(import.meta.dirname, '../../../docs/reports/replay.md');
  const report = describeClients();
  if (process.env.RECORD === '1') await writeFile(path, report);
  expect(await readFile(path, 'utf8')).toBe(report);
});

function describeClients(): string {
  const rows = clients.map((client) => [
    client.kind,
    calls
      .get(client)!
      .map((route) => `\`${route}\``)
      .join('<br>'),
    client.differs ? `**stops**: ${client.differs.because}` : 'whole',
  ]);
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  const stops = clients.filter(({ differs }) => differs).length;
  return [
    '# Public clients\n\n',
    `\`RECORD=1 npm run test:only -- server/test/replay\`\n\n`,
    `${clients.length} kinds of public client, with only base URL, keys and abbreviation changed: ${clients.length - stops} work whole, `,
    `${stops} stop. A client is whole if\nit accepts the answers, and if what it asked for happened.\n\n`,
    ...[line(['Client', 'Calls', 'Result']), line(['---', '---', '---']), ...rows.map(line)],
  ].join('');
}

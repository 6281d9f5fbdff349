import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exportRows, toCsvLine } from '../../src/app/export.ts';
import type { ExportSubject } from '../../src/app/export.ts';
import { importFile } from '../../src/app/import/import-file.ts';
import { makeLog } from '../../src/log.ts';
import type { ImportKind } from '../../src/storage/users/user-import.ts';
import { addHistory, addMember, addSegment } from '../data/add-history.ts';
import type { History } from '../data/add-history.ts';
import { makeDataBundle, start } from '../data/data-bundle.ts';
import type { DataBundle } from '../data/data-bundle.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

let bundle: DataBundle;
let folder: string;
let history: History;
beforeAll(async () => {
  bundle = await makeDataBundle({ requestsPerMinute: 1_000_000 });
  folder = await mkdtemp(join(tmpdir(), 'carillon-export-'));
  await bundle.addUser('=cmd|calc', { u_mb: '+41790000000', n: -7.5, quoted: 'a "b", c\nd', list: [{ x: null }] });
  await bundle.addUser('Zoë');
  await bundle.addDevice('Zoë', 'blocked', { push_id: 'zoe-token', svc_push_opted: false, model: '-model' });
  await bundle.call('/v1/devices/manage', {
    user_identifier_type: 'customer_id',
    user_identifier_value: 'Zoë',
    action_type: 'block',
    reason: '@reason',
  });
  await bundle.database`update devices set locale = 'pt-BR', badge_count = 3`;
  history = await addHistory(bundle, 'person');
  // Another workspace has the same and more.
  const other = await insertTestWorkspace(bundle.database, new Date(start.getTime() + 1));
  await bundle.database`
    insert into users select ${other}, bucket, id, customer_id, attributes, created_at, updated_at from users`;
});
afterAll(async () => {
  await bundle.end();
  await rm(folder, { recursive: true });
});

async function write(subject: ExportSubject, format: 'ndjson' | 'csv' = 'ndjson', workspaceId = bundle.workspaceId) {
  let text = '';
  let pieces = 0;
  const { rows } = await exportRows(bundle.database, {
    workspaceId,
    subject,
    format,
    at: start,
    write: async (piece) => {
      pieces += 1;
      text += piece;
    },
  });
  return { text, rows, pieces };
}
const parse = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('what is exported can be imported, and is the same', () => {
  test.each(['ndjson', 'csv'] as const)('as %s', async (format) => {
    const copy = await insertTestWorkspace(bundle.database, new Date(start.getTime() + (format === 'csv' ? 2 : 3)));
    const kinds = ['users', 'devices', 'events'] as const;
    for (const kind of kinds) {
      const { text, rows } = await write({ kind }, format);
      const path = join(folder, `${kind}.${format}`);
      await writeFile(path, text);
      const result = await importFile(
        {
          database: bundle.database,
          clock: bundle.clock,
          log: makeLog({ level: 'silent', pretty: false }),
          prefixes: ['svc'],
        },
        { workspaceId: copy, kind: kind as ImportKind, path, onProgress: () => {} },
      );
      expect([kind, result.rejected, result[kind]]).toEqual([kind, 0, rows]);
    }
    for (const kind of kinds) {
      // Ids and the times of storing are new; a block is not carried over.
      const plain = (text: string) =>
        parse(text)
          .map(({ id: _id, created_at: _c, updated_at: _u, received_at: _r, registered_at: _g, ...row }) => row)
          .map(({ state: _s, block_reason: _b, ...row }) => JSON.stringify(row))
          .sort();
      expect(plain((await write({ kind }, 'ndjson', copy)).text)).toEqual(plain((await write({ kind })).text));
    }
    const identifiers = async (workspace: string) => [
      ...(await bundle.database`
        select attribute, type, value from identifiers where workspace_id = ${workspace} order by 1, 2, 3`),
    ];
    expect(await identifiers(copy)).toEqual(await identifiers(bundle.workspaceId));
  });
});

test('a device says its state, what it would be without the block, and why it is blocked', async () => {
  const [device] = parse((await write({ kind: 'devices' })).text).filter((row) => row.customer_id === 'Zoë');
  expect(device).toMatchObject({ state: 'BLOCKED', svc_push_opted: 'False', block_reason: '@reason' });
});

describe('segments', () => {
  test('of members are who is in them now', async () => {
    const segmentId = await addSegment(bundle, 'Members');
    await addMember(bundle, segmentId, 'person');
    await addMember(bundle, segmentId, 'Zoë');
    await bundle.database`
      update segment_members set removed_in = 2 where segment_id = ${segmentId}
        and user_id = (select id from users where customer_id = 'Zoë' and workspace_id = ${bundle.workspaceId})`;
    await bundle.database`update segments set version = 2 where id = ${segmentId}`;
    expect((await write({ kind: 'segment', name: 'Members' })).text).toBe('{"customer_id":"person"}\n');
  });

  test('of filters are who passes them now', async () => {
    const filters = {
      filter_operator: 'and',
      filters: [
        {
          filter_type: 'user_attributes',
          name: 'n',
          data_type: 'double',
          operator: 'lessThan',
          value: 0,
          negate: false,
        },
      ],
    };
    await bundle.database`
      insert into segments (id, workspace_id, name, kind, state, source, included_filters, filters_digest, created_by,
        created_at, updated_at)
      values ('aaaaaaaaaaaaaaaaaaaaaaaa', ${bundle.workspaceId}, 'Filtered', 'FILTER', 'READY', 'API',
        ${JSON.stringify(filters)}::text::jsonb, ${Buffer.alloc(32)}, 'test', ${start}, ${start})`;
    expect((await write({ kind: 'segment', name: 'Filtered' }, 'csv')).text).toBe('customer_id\r\n"\'=cmd|calc"\r\n');
  });

  test('that are not there are refused', async () => {
    await expect(write({ kind: 'segment', name: 'None' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

test('the ledger of a campaign is one row per run and device, of this workspace only', async () => {
  const rows = parse((await write({ kind: 'ledger', campaignId: history.campaignId })).text);
  expect(rows).toEqual([
    {
      run_id: history.runId,
      customer_id: 'person',
      device_id: expect.any(String),
      platform: 'ANDROID',
      app_id: 'default',
      push_provider: 'fcm',
      outcome: 'ACCEPTED',
      code: null,
      provider_message_id: 'message-of-person',
      attempts: 1,
      variation: null,
      locale: null,
      sent_at: start.toISOString(),
    },
  ]);
  const other = await insertTestWorkspace(bundle.database, new Date(start.getTime() + 9));
  await expect(write({ kind: 'ledger', campaignId: history.campaignId }, 'csv', other)).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
});

test.each([
  ['=1+1', `"'=1+1"`],
  ['+41', `"'+41"`],
  ['-x', `"'-x"`],
  ['@x', `"'@x"`],
  ['\tx', `"'\tx"`],
  ["'=x", `"''=x"`],
  ['a,b', '"a,b"'],
  ['a"b', '"a""b"'],
  [' a', '" a"'],
  [-7, '-7'],
  [true, 'true'],
  [null, ''],
  [{ a: 1 }, '"{""a"":1}"'],
])('the CSV cell of %j runs nothing in a spreadsheet and is read back: %s', (value, cell) => {
  expect(toCsvLine({ c: value }, ['c'])).toBe(`${cell}\r\n`);
});

test('50,000 rows are handed over page by page, each taken before the next is read', async () => {
  const workspaceId = await insertTestWorkspace(bundle.database, new Date(start.getTime() + 20));
  await bundle.database`
    insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
    select ${workspaceId}, n % 256, lpad(to_hex(n), 24, '0'), 'many-' || n, ${start}, ${start}
    from generate_series(1, 50000) as n`;
  let open = 0;
  let most = 0;
  let lines = 0;
  const { rows } = await exportRows(bundle.database, {
    workspaceId,
    subject: { kind: 'users' },
    format: 'ndjson',
    at: start,
    async write(piece) {
      open += 1;
      most = Math.max(most, open);
      lines += piece.split('\n').length - 1;
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
    },
  });
  expect({ rows, lines, most }).toEqual({ rows: 50_000, lines: 50_000, most: 1 });
});

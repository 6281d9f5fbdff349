import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { openSignedInClient } from '../console/signed-in-client.ts';
import { runCommand } from './run-command.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle?.stop());

const run = (...parameters: string[]) => runCommand(bundle, parameters);
const rowsOf = (stdout: string): string[] => stdout.trim().split('\n').slice(1);

test('workspaces list shows all of 1,001, in the order in which they were created; so does the console', async () => {
  await bundle.database`
    insert into workspaces (id, db_name, name, created_at)
    select 'W' || lpad(number::text, 5, '0'), 'w' || number, 'Workspace ' || number,
      now() + number / 10 * interval '1 microsecond' + interval '1 minute'
    from generate_series(1, 1000) as number`;
  const ids = rowsOf((await run('workspaces', 'list')).stdout).map((row) => row.split(' ', 1)[0]);
  const made = Array.from({ length: 1000 }, (_, index) => `W${String(index + 1).padStart(5, '0')}`);
  expect(ids).toEqual([bundle.workspaceId, ...made]);
  const json = (await run('workspaces', 'list', '--json')).stdout.trim().split('\n');
  expect(json).toHaveLength(1001);
  const { client } = await openSignedInClient(bundle);
  expect((await client.accounts.readSession()).workspaces.map(({ id }) => id)).toEqual(ids);
});

describe('a list of the newest rows says on standard error that there are more, and says nothing when there are not', () => {
  const id = (letter: string) => bundle.database`${letter} || lpad(to_hex(number), 23, '0')`;

  test.each([
    { table: 'campaigns', shown: 50, words: ['campaigns', 'list'], hint: 'carillon campaigns search' },
    { table: 'callbacks', shown: 100, words: ['callbacks', 'list'], hint: 'API log' },
    { table: 'erasures', shown: 100, words: ['erasures', 'list'], hint: '--customer' },
    { table: 'event_stream_batches', shown: 100, words: ['event-streams', 'dead', 'e'.repeat(24)], hint: 'resend' },
    { table: 'runs', shown: 20, words: ['campaigns', 'show', `c${'1'.padStart(23, '0')}`], hint: 'runs' },
  ])('$table: $shown', async ({ table, shown, words, hint }) => {
    await fill(table, shown);
    const whole = await run(...words);
    expect([whole.code, whole.stderr]).toEqual([0, '']);
    await fill(table, shown + 1);
    for (const more of [await run(...words), ...(table === 'runs' ? [] : [await run(...words, '--json')])]) {
      expect([more.code, more.stderr]).toEqual([
        0,
        expect.stringMatching(new RegExp(`^Only the newest ${shown} .*${hint}.*\\.\\n$`)),
      ]);
      const lines = more.stdout.split('\n').filter((line) => /[0-9a-f]{24}/.test(line));
      if (table !== 'runs') expect(lines).toHaveLength(shown);
    }
  });

  /** Makes that many rows of a table, and what they belong to. */
  async function fill(table: string, count: number): Promise<void> {
    const { database, workspaceId } = bundle;
    const at = new Date('2026-01-01');
    const numbers = database`generate_series(1, ${count}) as number`;
    if (table === 'campaigns' || table === 'runs')
      await database`
        insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing,
          status, created_by, created_at, updated_at)
        select ${id('c')}, ${workspaceId}, 'Campaign ' || number, 'PUSH_API', 'ONE_TIME', 'ALL_USERS', '{ANDROID}', '{}',
          '{}', 'SENT', 'test', ${at}, ${at}
        from ${numbers} on conflict do nothing`;
    if (table === 'runs')
      await database`
        insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at, started_at, ended_at)
        select ${id('d')}, ${workspaceId}, ${`c${'1'.padStart(23, '0')}`}, 1, 'SENT', '2026-01-01', '2026-01-02', ${at},
          ${at}, ${at}
        from ${numbers} on conflict do nothing`;
    if (table === 'callbacks') {
      await database`
        insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, expiry_days,
          created_by, created_at, updated_at)
        values (${'5'.repeat(24)}, ${workspaceId}, 'Read', 'FILE', 'READY', 'API', 'u_em', 'string', 30, 'test', ${at},
          ${at})
        on conflict do nothing`;
      await database`
        insert into segment_operations (id, workspace_id, segment_id, number, kind, request_id, state, not_before, status,
          counted_users, requested_by, created_at, ended_at)
        values (${'6'.repeat(24)}, ${workspaceId}, ${'5'.repeat(24)}, 1, 'CREATE', ${'6'.repeat(32)}, 'SUCCEEDED', ${at},
          201, 1, 'test', ${at}, ${at})
        on conflict do nothing`;
      await database`
        insert into callbacks (id, workspace_id, operation_id, url, body, state, attempts, created_at, ended_at)
        select ${id('f')}, ${workspaceId}, ${'6'.repeat(24)}, 'https://example.com/', '{}', 'DELIVERED', 1, ${at}, ${at}
        from ${numbers} on conflict do nothing`;
    }
    if (table === 'erasures')
      await database`
        insert into erasures (id, workspace_id, customer_digest, state, bucket, user_ids, requested_at, due_at)
        select ${id('a')}, ${workspaceId}, sha256(number::text::bytea), 'PENDING', 0, jsonb_build_array(number), ${at}, '2099-01-01'
        from ${numbers} on conflict do nothing`;
    if (table === 'event_stream_batches') {
      await database`
        insert into event_streams (id, workspace_id, url, events, user_attributes, device_attributes, secret_sealed,
          created_at, updated_at)
        values (${'e'.repeat(24)}, ${workspaceId}, 'https://example.com/', '{delivered}', '{}', '{}', '', ${at}, ${at})
        on conflict do nothing`;
      await insertDeadBatches(count);
    }
  }

  const insertDeadBatches = (count: number) => bundle.database`
    insert into event_stream_batches (id, workspace_id, stream_id, events, state, attempts, created_at, ended_at)
    select ${id('b')}, ${bundle.workspaceId}, ${'e'.repeat(24)}, '[]', 'GIVEN_UP', 1, '2026-01-01', '2026-01-01'
    from generate_series(1, ${count}) as number on conflict do nothing`;
});

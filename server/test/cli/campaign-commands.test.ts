import { createHash } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeReportFile } from '../../src/cli/commands/report-files.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { openSignedInClient } from '../console/signed-in-client.ts';
import { runCommand, runProcess } from './run-command.ts';

describe('send and search commands', () => {
  let bundle: CarillonBundle;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
  });
  afterAll(() => bundle?.stop());

  const run = (...parameters: string[]) => runCommand(bundle, parameters);

  test('campaigns are searched by the filters of the API, a page at a time; what is no filter value is said', async () => {
    for (const name of ['Spring sale one', 'Spring sale two', 'Autumn'])
      await bundle.push({
        ...{ campaignName: name, targetAudience: 'All Users', targetPlatform: ['ANDROID'], campaignTags: ['sale'] },
        payload: { ANDROID: { title: 'Title', message: 'Text' } },
        campaignDelivery: { type: 'later', date: '01/31/2037', time: '09:00 AM' },
      });
    const first = await run(
      'campaigns',
      'search',
      '--name',
      'SPRING',
      '--tag',
      'sale',
      'other',
      '--limit',
      '1',
      '--json',
    );
    expect(first).toMatchObject({ code: 0, stderr: 'There are more: --page 2\n' });
    expect(JSON.parse(first.stdout)).toMatchObject({ basic_details: { name: 'Spring sale two' }, status: 'SCHEDULED' });
    const second = await run('campaigns', 'search', '--name', 'spring', '--limit', '1', '--page', '2');
    expect([second.stderr, second.stdout]).toEqual([
      'That is all.\n',
      expect.stringMatching(/^ID .*\n.* Spring sale one\n$/),
    ]);
    const wrong = await run('campaigns', 'search', '--created-from', 'yesterday', '--limit', '16');
    expect([wrong.code, wrong.stdout]).toEqual([2, '']);
    expect(wrong.stderr).toMatch(/limit .*15.*created_date\.from_date must be a date/);
  });

  const texts = ['--title', "Hi {{UserAttribute['nickname']|default('you')}}", '--message', 'Text'];
  const stored = async () => {
    const { database } = bundle;
    const [row] = await database`
      select (select count(*) from campaigns) as campaigns, (select count(*) from push_requests) as requests,
        (select string_agg(limit_marks::text, ' ' order by limit_marks::text) from limit_marks) as marks`;
    return row;
  };

  test('a dry run shows what each platform gets and how many devices it is for, and stores nothing', async () => {
    const before = await stored();
    const shown = await run('send', '--name', 'Looked at', '--users', 'ada', '--dry-run', '--json', ...texts);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(shown.stdout)).toMatchObject({
      ...{ campaign: 'Looked at', timing: 'soon', customerId: 'ada' },
      platforms: [
        { platform: 'ANDROID', devices: 1, credentials: 'simulated', outcome: 'RENDERED' },
        { platform: 'IOS', devices: 0, content: { basic_details: { title: 'Hi you', message: 'Text' } } },
      ],
    });
    const all = await run('send', '--name', 'Looked at', '--all', '--dry-run', '--platform', 'IOS', ...texts);
    expect(all.stdout).toMatch(/^Audience   all users, up to 1 device \(IOS 1\)$/m);
    expect(all.stdout).toMatch(/basic_details\.title: Hi you\n[^]*Nothing was sent\.\n$/);
    expect(await stored()).toEqual(before);
  });

  test('a push is sent and watched to its end; its name is then taken, as the API says it', async () => {
    const link = ['--deep-link', 'shop://parcel/7', '--tag', 'parcels'];
    const sent = await run('send', '--name', 'By hand', '--all', '--watch', '--json', ...texts, ...link);
    const answer = JSON.parse(sent.stdout);
    expect([sent.code, answer]).toMatchObject([0, { status: 'Success', campaignStatus: 'SENT', warnings: [] }]);
    expect(answer.outcomes).toContainEqual({ platform: 'ANDROID', outcome: 'ACCEPTED', devices: 1 });
    expect(JSON.stringify(await bundle.inbox())).toContain('shop://parcel/7');
    const [row] = await bundle.database`select created_by, tags from campaigns where id = ${answer.cid}`;
    expect(row).toEqual({ created_by: 'Command line', tags: ['parcels'] });

    const again = await run('send', '--name', 'By hand', '--all', ...texts);
    const refused = await bundle.push({ campaignName: 'By hand', targetAudience: 'All Users' });
    expect([again.code, again.stderr]).toEqual([2, `carillon: ${refused.json().Error_Message}\n`]);
  });

  test('a file is a body of the push API; all users of a workspace that is no rehearsal need --yes', async () => {
    expect((await run('workspaces', 'create', '--name', 'Shop', '--id', 'SHOP')).code).toBe(0);
    const path = join(bundle.config.dataFolder!, 'push.json');
    const body = {
      ...{ appId: 'SHOP', signature: 'x', campaignName: 'From a file', colour: 'red' },
      ...{ targetAudience: 'All Users', targetPlatform: ['WEB'], campaignDelivery: { type: 'soon' } },
      payload: {
        WEB: { title: 'T', message: 'M', redirectURL: 'https://shop.example/', iconURL: 'https://shop.example/i' },
      },
    };
    await writeFile(path, JSON.stringify(body));
    const asked = await run('send', '--file', path);
    expect([asked.code, asked.stdout]).toEqual([2, '']);
    expect(asked.stderr).toContain(
      'Note: signature is not needed here and was not checked\nNote: unknown field colour\n' +
        'carillon: This goes to all users of Shop, up to 0 devices (WEB 0). Preview it with --dry-run, or send it with --yes.\n',
    );
    const sent = await run('send', '--file', path, '--name', 'Another name', '--yes');
    expect([sent.code, sent.stdout]).toEqual([0, expect.stringMatching(/^Campaign {3}[0-9a-f]{24}\nAccepted/)]);
    const elsewhere = await run('send', '--file', path, '--workspace', bundle.workspaceId);
    expect([elsewhere.code, elsewhere.stderr]).toEqual([2, 'carillon: Invalid appId\n']);
  });

  test.each([
    ['{"campaignName":"One name","campaignName":"Another name"}', 'member campaignName appears twice'],
    ['{"campaignName":"A NUL \\u0000"}', 'NUL is not allowed'],
    ['{"campaignName":', 'Unexpected end of JSON input'],
    ['', 'A request body is required.'],
  ])('a file that is no body of the API, %s, is refused by its name, also by a dry run', async (text, why) => {
    const path = join(bundle.config.dataFolder!, 'no-push.json');
    await writeFile(path, text);
    const refused = await run('send', '--file', path, '--dry-run');
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining(`The file ${path} cannot be read: ${why}`),
    ]);
  });

  test.each([
    [['--name', 'To nobody'], 'Give one audience'],
    [['--all', '--users', 'ada', '--name', 'Two audiences'], 'Give one audience'],
    [['--file', 'push.json', '--title', 'T'], 'cannot be used with'],
    [['--name', 'Not shown', '--users', 'ada', '--preview-for', 'ada', ...texts], "needs '--dry-run'"],
    [['--name', 'Not sent', '--users', 'ada', '--dry-run', '--watch', ...texts], 'cannot be used with'],
  ])('%j is refused: 2', async (options, reason) => {
    const refused = await run('send', ...options);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(reason)]);
  });
});

describe('watch commands', () => {
  let bundle: CarillonBundle;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'carillon-watch-'));
    bundle = await startCarillonBundle({ CARILLON_SEGMENT_USERS_PER_DAY: '3' });
  });
  afterAll(async () => {
    await bundle?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const create = (name: string, ...from: string[]) => {
    const what = ['--attribute', 'uid', '--type', 'string', '--expiry-days', '5'];
    return runCommand(bundle, ['segments', 'create', '--name', name, ...what, ...from, '--watch']);
  };

  test('a segment is watched until it is filled, and a file with too many users for the day ends with 2', async () => {
    const file = join(folder, 'users.csv');
    await writeFile(file, 'ada\nnobody\n');
    const filled = await create('Watched', '--file', file);
    expect([filled.code, filled.stdout]).toEqual([0, expect.stringMatching(/Lines +2\nProcessed +2\nUsers +1\n$/)]);
    expect(filled.stderr).toContain('SUCCEEDED, 2 lines\n');
    await writeFile(file, 'ada\ngrace\nlinus\ntim\n');
    const failed = await create('Watched in vain', '--file', file);
    expect([failed.code, failed.stderr]).toEqual([2, expect.stringContaining('The segment could not be filled: ')]);
  });

  test('a campaign is watched until it sends nothing any more; one that is not there is refused', async () => {
    const cid = await pushNow('Watched campaign');
    const watched = await runProcess(bundle, ['campaigns', 'watch', cid]);
    expect(watched).toMatchObject({ code: 0, stdout: `Campaign   ${cid}\nStatus     SENT\n` });
    expect(watched.stderr).toMatch(/^SENT, run [0-9a-f]{24} SENT$/m);
    const unknown = await runCommand(bundle, ['campaigns', 'watch', 'x']);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('There is no campaign x')]);
  });

  test('a campaign that is paused is watched no longer: it waits for somebody', async () => {
    const cid = await pushNow('Paused campaign');
    await runCommand(bundle, ['campaigns', 'watch', cid]);
    await bundle.database`update campaigns set status = 'PAUSED', status_reason = 'Somebody said so' where id = ${cid}`;
    const watched = await runCommand(bundle, ['campaigns', 'watch', cid]);
    expect(watched).toMatchObject({ code: 0, stdout: `Campaign   ${cid}\nStatus     PAUSED: Somebody said so\n` });
  });

  test('a campaign that failed is shown, and its watch ends with 2', async () => {
    const cid = await pushNow('Failed campaign');
    await runCommand(bundle, ['campaigns', 'watch', cid]);
    await bundle.database`update campaigns set status = 'FAILED', status_reason = 'No credential' where id = ${cid}`;
    expect(await runCommand(bundle, ['campaigns', 'watch', cid])).toMatchObject({
      code: 2,
      stdout: `Campaign   ${cid}\nStatus     FAILED: No credential\n`,
      stderr: expect.stringContaining('carillon: The campaign failed: No credential'),
    });
  });

  test('a report file is asked for, waited for and written, with its size and SHA-256; its signature opens it', async () => {
    const cid = await pushNow('Reported campaign');
    await runCommand(bundle, ['campaigns', 'watch', cid]);
    const out = join(folder, 'report.jsonl.gz');
    const today = new Date().toISOString().slice(0, 10);
    const days = ['--from', today, '--to', today];
    const made = await runCommand(bundle, ['report-files', 'create', ...days, '--out', out]);
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('is READY\n')]);
    const told = Object.fromEntries(made.stdout.split('\n').map((line) => line.split(/ {2,}/)));
    const bytes = await readFile(out);
    expect(told).toMatchObject({ Written: out, Bytes: String(bytes.length) });
    expect(told['SHA-256']).toBe(createHash('sha256').update(bytes).digest('hex'));
    const lines = gunzipSync(bytes).toString().trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).campaign_name)).toContain('Reported campaign');
    const read = await fetch(`${bundle.url}${told.Path}`, { headers: { Signature: told.Signature } });
    expect(Buffer.from(await read.arrayBuffer())).toEqual(bytes);
    expect((await fetch(`${bundle.url}${told.Path}`, { headers: { Signature: '0'.repeat(64) } })).status).toBe(401);

    const listed = await runCommand(bundle, ['report-files', 'list', '--json']);
    expect(JSON.parse(listed.stdout)).toMatchObject({ file: told.File, state: 'READY', bytes: String(bytes.length) });
    const again = join(folder, 'again.gz');
    const written = await runCommand(bundle, ['report-files', 'download', told.File!, '--out', again, '--json']);
    expect(JSON.parse(written.stdout)).toEqual({
      ...{ file: told.File, out: again, bytes: bytes.length, sha256: told['SHA-256'] },
    });
    expect(await readFile(again)).toEqual(bytes);
  });

  test('a report file that is not there, or of too many days, is refused, and a file that is cut leaves nothing', async () => {
    const out = join(folder, 'none.gz');
    const unknown = await runCommand(bundle, ['report-files', 'download', 'none', '--out', out]);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('no such file, or it is gone')]);
    const days = ['--from', '2026-01-01', '--to', '2026-04-02'];
    const many = await runCommand(bundle, ['report-files', 'create', ...days]);
    expect([many.code, many.stderr]).toEqual([2, expect.stringContaining('must be at most 90 days after start_date')]);
    const pieces = (async function* () {
      yield Buffer.from('half');
    })();
    await expect(writeReportFile({ bytes: 8, pieces }, out)).rejects.toThrow('8 bytes, and 4 could be read');
    expect(await readdir(folder)).not.toContain('none.gz');
    expect(await readdir(folder)).not.toContain('none.gz.part');
  });

  async function pushNow(campaignName: string): Promise<string> {
    const answer = await bundle.push({
      ...{ campaignName, targetAudience: 'All Users', targetPlatform: ['ANDROID'] },
      payload: { ANDROID: { title: 'Title', message: 'Text' } },
      campaignDelivery: { type: 'soon' },
    });
    return answer.json().cid;
  }
});

describe('long lists', () => {
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
});

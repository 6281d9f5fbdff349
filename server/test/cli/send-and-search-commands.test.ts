import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { runCommand } from './run-command.ts';

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

const texts = ['--title', "Hi {{UserAttribute['first_name']|default('you')}}", '--message', 'Text'];
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
      'carillon: This goes to all users of Shop, up to 0 devices (WEB 0). Look at it with --dry-run, send it with --yes.\n',
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
  [['--name', 'To nobody'], 'Say to whom'],
  [['--all', '--users', 'ada', '--name', 'Two audiences'], 'Say to whom'],
  [['--file', 'push.json', '--title', 'T'], 'cannot be used with'],
  [['--name', 'Not shown', '--users', 'ada', '--preview-for', 'ada', ...texts], "needs '--dry-run'"],
  [['--name', 'Not sent', '--users', 'ada', '--dry-run', '--watch', ...texts], 'cannot be used with'],
])('%j is refused: 2', async (options, reason) => {
  const refused = await run('send', ...options);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(reason)]);
});

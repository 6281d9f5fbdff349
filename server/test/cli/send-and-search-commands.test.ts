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

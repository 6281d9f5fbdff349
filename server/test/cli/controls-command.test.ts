import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { runCommand } from './run-command.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle?.stop());

const run = (...parameters: string[]) => runCommand(bundle, parameters);

test('workspaces set and show take caps, quiet hours and delays, and say what is possible', async () => {
  const { workspaceId } = bundle;
  const set = (...options: string[]) => run('workspaces', 'set', workspaceId, ...options);
  const refused = await set('--frequency-caps', '2 a day');
  expect([refused.code, refused.stderr]).toEqual([
    2,
    'carillon: Frequency caps are up to 5 rules such as 2/1d,5/7d, of different lengths: ' +
      '1 to 100 messages in 1 to 720 hours (h) or 1 to 30 days (d), or none.\n',
  ]);
  const changed = await set(
    ...['--frequency-caps', '1/1d', '--quiet-hours', '22:00-08:00', '--quiet-mode', 'drop', '--minimum-delay', '90'],
    ...['--control-group', '5'],
  );
  expect(changed.code).toBe(0);
  const shown = await run('workspaces', 'show', workspaceId);
  const lines = ['Frequency caps  1/1d', 'Quiet hours     22:00-08:00, drop', 'Minimum delay   90 minutes'];
  for (const line of [...lines, 'Control group   5 % of the users']) expect(shown.stdout).toContain(line);
  expect((await set('--quiet-hours', 'none', '--minimum-delay', 'none')).code).toBe(0);
  expect((await run('workspaces', 'show', workspaceId)).stdout).toContain('Quiet hours     none');
  expect(JSON.parse((await run('workspaces', 'show', workspaceId, '--json')).stdout)).toMatchObject({
    id: workspaceId,
    controls: {
      caps: [{ messages: 1, hours: 24 }],
      quietHours: null,
      minimumDelayMinutes: null,
      controlGroupPercent: 5,
    },
  });
  expect((await run('workspaces', 'show', 'nowhere')).code).toBe(2);
});

test('workspaces set and show take what Android messages are made of, and say what is possible', async () => {
  const { workspaceId } = bundle;
  const set = (...options: string[]) => run('workspaces', 'set', workspaceId, ...options);
  const show = async () => (await run('workspaces', 'show', workspaceId)).stdout;
  expect(await show()).toContain(
    'Android mode    data\npush_from       carillon\nData prefix     that of the installation\n',
  );
  const refused = await set('--data-prefix', 'gcm');
  expect([refused.code, refused.stderr]).toEqual([
    2,
    'carillon: The prefix of data keys takes 1 to 16 lower-case letters and digits, a letter first, and is not gcm, ' +
      'google or kv; none means that of the installation.\n',
  ]);
  expect(
    (await set('--android-mode', 'both', '--push-bodies', 'strict', '--push-from', 'shop', '--data-prefix', 'acme'))
      .code,
  ).toBe(0);
  expect(await show()).toContain('Android mode    both\npush_from       shop\nData prefix     acme\n');
  expect(await show()).toContain('Push bodies     strict\n');
  expect((await set('--android-mode', 'data', '--push-from', 'carillon', '--data-prefix', 'none')).code).toBe(0);
  expect(await show()).toContain('Data prefix     that of the installation');
});

test('explain tells of each run and device what decided', async () => {
  const { database, workspaceId } = bundle;
  const push = async (campaignName: string): Promise<string> => {
    const text = { title: 'T', message: 'M' };
    const web = { ...text, redirectURL: 'https://shop.example/', iconURL: 'https://shop.example/i.png' };
    const answer = await bundle.push({
      ...{ campaignName, targetAudience: 'All Users', targetPlatform: ['ANDROID', 'IOS', 'WEB'] },
      ...{ payload: { ANDROID: text, IOS: text, WEB: web }, campaignDelivery: { type: 'soon' } },
    });
    const { cid } = answer.json() as { cid: string };
    await until(async () => {
      const [campaign] = await database`select status from campaigns where id = ${cid}`;
      return campaign?.status === 'SENT';
    });
    return cid;
  };
  const [first, second] = [await push('The first of the day'), await push('One too many')];
  const explain = async (id: string, user: string) =>
    run('explain', '--campaign', id, '--user', user, '--workspace', workspaceId);
  const [user] = await database`select customer_id from users where workspace_id = ${workspaceId} order by customer_id`;
  const customerId = user!.customer_id as string;
  expect((await explain(first, customerId)).stdout).toMatch(/: ACCEPTED\. The provider accepted the message at /);
  expect((await explain(second, customerId)).stdout).toMatch(/: FREQUENCY_CAP\. The person had got as many messages/);
  expect((await explain(second, 'nobody')).stdout).toContain('Nobody in this workspace has that customer id.');
  const lines = await run('explain', '--campaign', second, '--user', customerId, '--json');
  expect(JSON.parse(lines.stdout)).toMatchObject({
    campaign: { id: second, name: 'One too many' },
    customerId,
    runs: [{ step: 'FREQUENCY_CAP', devices: [{ step: 'FREQUENCY_CAP' }] }],
  });
  const unknown = await explain('0'.repeat(24), customerId);
  expect([unknown.code, unknown.stderr]).toEqual([2, 'carillon: Campaign not found.\n']);
});

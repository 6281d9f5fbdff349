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
const ofCourier = ['--platform', 'android'];
const settings = async () => {
  const [row] = await bundle.database`select settings from apps where app_id = 'courier'`;
  return row!.settings;
};

test('an app is added with settings of its own; what a change does not name stays, and none takes it away', async () => {
  const identifier = ['--identifier', 'com.example.courier'];
  const own = ['--mode', 'notification', '--channel', 'orders', '--color', '#0a7d5a', '--data-prefix', 'cou'];
  const added = await run('apps', 'add', 'courier', ...ofCourier, ...identifier, ...own);
  expect([added.code, added.stdout]).toEqual([0, expect.stringContaining('courier is added')]);
  const defaults = { channelId: 'orders', color: '#0a7d5a' };
  expect(await settings()).toEqual({ mode: 'notification', dataPrefix: 'cou', defaults });

  await run('apps', 'change', 'courier', ...ofCourier, '--name', 'Couriers', '--sound', 'bell');
  expect(await settings()).toEqual({
    mode: 'notification',
    dataPrefix: 'cou',
    defaults: { ...defaults, sound: 'bell' },
  });
  const listed = (await run('apps', 'list')).stdout;
  expect(listed).toContain('mode notification, dataPrefix cou, color #0a7d5a, sound bell, channelId orders');
  const none = ['--channel', 'none', '--color', 'none', '--sound', 'none', '--mode', 'none'];
  expect((await run('apps', 'change', 'courier', ...ofCourier, ...none)).code).toBe(0);
  expect(await settings()).toEqual({ dataPrefix: 'cou' });
});

test('critical alerts of an app are switched on and off, and stay while others change', async () => {
  const ofPager = ['--platform', 'ios'];
  const stored = async () => (await bundle.database`select settings from apps where app_id = 'pager'`)[0]!.settings;
  const added = await run('apps', 'add', 'pager', ...ofPager, '--identifier', 'com.example.pager', '--critical-alerts');
  expect(added.code).toBe(0);
  await run('apps', 'change', 'pager', ...ofPager, '--sound', 'siren');
  expect(await stored()).toEqual({ criticalAlerts: true, defaults: { sound: 'siren' } });
  expect((await run('apps', 'list')).stdout).toContain('criticalAlerts, sound siren');
  await run('apps', 'change', 'pager', ...ofPager, '--critical-alerts', 'off');
  expect(await stored()).toEqual({ defaults: { sound: 'siren' } });
  await run('apps', 'change', 'pager', ...ofPager, '--critical-alerts', 'on');
  expect(await stored()).toMatchObject({ criticalAlerts: true });
  const refused = await run('apps', 'change', 'courier', ...ofCourier, '--critical-alerts', 'on');
  expect([refused.code === 0, refused.stderr]).toEqual([false, expect.stringContaining('is of apps on IOS')]);
});

test('a setting that is unknown, or is of another platform, is refused and changes nothing', async () => {
  const before = await settings();
  const refusalOf = async (...options: string[]) => {
    const { code, stderr } = await run('apps', 'change', 'courier', ...ofCourier, ...options);
    return [code === 0 ? 'taken' : 'refused', stderr];
  };
  expect(await refusalOf('--mode', 'v2')).toEqual(['refused', expect.stringContaining('data, notification, both')]);
  expect(await refusalOf('--declarative', 'auto')).toEqual(['refused', expect.stringContaining('is of apps on WEB')]);
  expect(await settings()).toEqual(before);
});

test('another VAPID key is stored only where the one in use is named', async () => {
  const set = (...more: string[]) => run('credentials', 'set', 'webpush', '--subject', 'mailto:a@example.com', ...more);
  const keyIn = (stdout: string) => /^Public key for subscribing browsers: (\S+)$/m.exec(stdout)![1]!;
  // The key of the sandbox's own phones is nobody's loss.
  const first = keyIn((await set()).stdout);
  const refused = await set();
  expect([refused.code === 0, refused.stderr]).toEqual([false, expect.stringContaining(first.slice(0, 8))]);
  expect(keyIn((await set('--in-place-of', first.slice(0, 8))).stdout)).not.toBe(first);
});

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseUserRow } from '../src/app/import/parse-rows.ts';

const root = join(import.meta.dirname, '..', '..');
const hasPython = spawnSync('python3', ['--version']).status === 0;

/** Runs the script of a page in docs/moving as its reader does, and parses its lines as `carillon import` does. */
function convert(page: string, input: string): { users: unknown[]; report: string } {
  const text = readFileSync(join(root, 'docs', 'moving', `${page}.md`), 'utf8');
  const [, script] = new RegExp(`\`\`\`python ${page}\\.py\\n([^]*?)\`\`\``).exec(text)!;
  const { status, stdout, stderr } = spawnSync('python3', ['-c', script!], { input, encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as unknown);
  const rules = { zoneAttribute: 'time_zone', prefixes: ['svc'], isApp: () => true };
  const users = lines.map((line) => {
    const parsed = parseUserRow(line, rules);
    if (!('user' in parsed)) throw new Error(`${parsed.reason}: ${JSON.stringify(line)}`);
    const { customerId, attributes, devices } = parsed.user;
    return {
      customerId,
      attributes,
      devices: devices.map(({ deviceId, platform, provider, pushId, isOptedOut }) => ({
        ...{ deviceId, platform, provider, pushId, isOptedOut },
      })),
    };
  });
  return { users, report: stderr };
}

describe.skipIf(!hasPython)('the scripts of the pages about moving', () => {
  const p256dh = 'BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM';
  const auth = 'tBHItJI5svbpez7KI4CCXg';
  const iphone = 'a1'.repeat(32);

  test('turn an export of OneSignal into users with their devices', () => {
    const header =
      'id,identifier,device_type,tags,invalid_identifier,external_user_id,notification_types,web_auth,web_p256';
    const rows = [
      `s1,fcm-token-1,1,"{""plan"":""gold""}",f,ada,1,,`,
      `s2,${iphone},0,{},f,ada,-2,,`,
      `s3,https://fcm.googleapis.com/fcm/send/abc,5,{},f,ben,1,${auth},${p256dh}`,
      `s4,huawei-token,13,{},f,ben,1,,`,
      `s5,fcm-token-2,1,{},f,,1,,`,
      `s6,ada@shop.example,11,{},f,ada,1,,`,
      `s7,https://fcm.googleapis.com/fcm/send/def,5,{},f,ben,1,,`,
    ];
    const { users, report } = convert('onesignal', [header, ...rows].join('\n'));
    expect(users).toEqual([
      {
        customerId: 'ada',
        attributes: { plan: 'gold' },
        devices: [
          { deviceId: 's1', platform: 'ANDROID', provider: null, pushId: 'fcm-token-1', isOptedOut: false },
          { deviceId: 's2', platform: 'IOS', provider: null, pushId: iphone, isOptedOut: true },
        ],
      },
      {
        customerId: 'ben',
        attributes: {},
        devices: [
          expect.objectContaining({ deviceId: 's3', platform: 'WEB', isOptedOut: false }),
          { deviceId: 's4', platform: 'ANDROID', provider: 'hms', pushId: 'huawei-token', isOptedOut: false },
        ],
      },
    ]);
    expect(report.trim().split('\n').sort()).toEqual([
      '1 subscriptions skipped: no external_user_id',
      '1 subscriptions skipped: no push token',
      '1 subscriptions skipped: web without keys',
    ]);
  });

  test('turn pages of the channel listing of Airship into users with their devices', () => {
    const channel = (members: object) => ({ channel_id: 'c1', device_type: 'android', opt_in: true, ...members });
    const pages = [
      { ok: true, channels: [channel({ named_user_id: 'ada', push_address: 'fcm-token', tags: ['gold'] })] },
      {
        ok: true,
        channels: [
          channel({ channel_id: 'c2', device_type: 'ios', named_user_id: 'ada', push_address: iphone, opt_in: false }),
          channel({ channel_id: 'c3', device_type: 'web', named_user_id: 'ada', push_address: 'https://x.example' }),
          channel({ channel_id: 'c4', push_address: 'fcm-token-2' }),
        ],
      },
    ];
    const { users, report } = convert('airship', pages.map((page) => JSON.stringify(page)).join('\n'));
    expect(users).toEqual([
      {
        customerId: 'ada',
        attributes: { tags: ['gold'] },
        devices: [
          { deviceId: 'c1', platform: 'ANDROID', provider: null, pushId: 'fcm-token', isOptedOut: false },
          { deviceId: 'c2', platform: 'IOS', provider: null, pushId: iphone, isOptedOut: true },
        ],
      },
    ]);
    expect(report).toContain('1 channels skipped: no named user');
    expect(report).toContain('1 channels skipped: web without a usable address');
  });

  test('turn an export of Braze into users with their devices', () => {
    const lines = [
      {
        external_id: 'ada',
        first_name: 'Ada',
        time_zone: 'Europe/Paris',
        custom_attributes: { plan: 'gold' },
        push_tokens: [
          { app: 'Shop', platform: 'Android', token: 'fcm-token' },
          { app: 'Shop', platform: 'iOS', token: iphone },
          { app: 'Site', platform: 'Web', token: 'https://x.example' },
        ],
      },
      {
        external_id: 'ben',
        push_subscribe: 'unsubscribed',
        push_tokens: [{ platform: 'ios', token: 'b2'.repeat(32) }],
      },
      { braze_id: 'anonymous' },
    ];
    const { users, report } = convert('braze', lines.map((line) => JSON.stringify(line)).join('\n'));
    expect(users).toMatchObject([
      {
        customerId: 'ada',
        attributes: { u_fn: 'Ada', time_zone: 'Europe/Paris', plan: 'gold' },
        devices: [
          { platform: 'ANDROID', pushId: 'fcm-token' },
          { platform: 'IOS', pushId: iphone },
        ],
      },
      { customerId: 'ben', devices: [{ platform: 'IOS', isOptedOut: true }] },
    ]);
    expect(report).toContain('1 skipped: no external_id');
    expect(report).toContain('1 skipped: token of Web');
  });
});

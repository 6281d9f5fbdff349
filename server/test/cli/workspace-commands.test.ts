import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { goodPassword } from '../console/accounts-bundle.ts';
import { runCommand, runProcess } from './run-command.ts';

/** One node for all sections, because a start takes a second of processor time. */
let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle?.stop());

describe('accounts command', () => {
  const run = (...parameters: string[]) => runCommand(bundle, parameters);

  test('an owner who forgot the password gets back in by a link of the command line', async () => {
    const post = (path: string, body: unknown, cookie = '') =>
      bundle.call('POST', `/console/api/${path}`, { body, headers: { cookie } });
    const code = bundle.block.console.split('#sign-in=')[1]!;
    const cookie = (await post('session', { code })).headers.get('set-cookie')!.split(';')[0]!;
    const invited = await post('invitations', { email: 'olga@example.com', role: 'owner' }, cookie);
    const invitation = (invited.json().link as string).split('#invitation=')[1]!;
    await post('invitation/acceptance', { code: invitation, name: 'Olga', password: 'forgotten by now' });

    expect((await run('accounts', 'list')).stdout).toMatch(/olga@example\.com +Olga +owner/);
    const made = await run('accounts', 'password-link', 'Olga@example.com');
    const link = /#new-password=(\S+)/.exec(made.stdout)![1]!;
    expect((await post('new-password', { code: link, password: goodPassword })).status).toBe(204);
    const credentials = { email: 'olga@example.com', password: goodPassword };
    expect((await post('session/password', credentials)).status).toBe(204);
    const refused = await run('accounts', 'password-link', 'nobody@example.com');
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('There is no account with this address'),
    ]);
  });

  test('a user who lost the second factor gets in with the password alone after a reset on the command line', async () => {
    const sql = bundle.database;
    const id = 'a'.repeat(24);
    await sql`insert into accounts (id, email, name, role, created_at) values (${id}, 'lost@example.com', 'Lou', 'owner', now())`;
    await sql`
      insert into account_passkeys (id, account_id, credential_id, public_key, sign_count, name, created_at)
      values (${id}, ${id}, 'x', 'x', 0, 'Phone', now())`;
    expect((await run('accounts', 'list')).stdout).toMatch(/lost@example\.com +Lou +owner +yes/);
    const reset = await run('accounts', 'reset-second-factor', 'Lost@example.com');
    expect([reset.code, reset.stdout]).toEqual([0, expect.stringContaining('lost@example.com are removed')]);
    expect(await sql`select id from account_passkeys where account_id = ${id}`).toEqual([]);
    const lines = await sql`select actor_name from audit_log where action = 'account.second-factor-reset'`;
    expect(lines).toHaveLength(1);
    for (const email of ['lost@example.com', 'nobody@example.com'])
      expect((await run('accounts', 'reset-second-factor', email)).code).toBe(2);
  });
});

describe('apps command', () => {
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
    const added = await run(
      'apps',
      'add',
      'pager',
      ...ofPager,
      '--identifier',
      'com.example.pager',
      '--critical-alerts',
    );
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
    const set = (...more: string[]) =>
      run('credentials', 'set', 'webpush', '--subject', 'mailto:a@example.com', ...more);
    const keyIn = (stdout: string) => /^Public key for subscribing browsers: (\S+)$/m.exec(stdout)![1]!;
    // The key of the sandbox's own phones is nobody's loss.
    const first = keyIn((await set()).stdout);
    const refused = await set();
    expect([refused.code === 0, refused.stderr]).toEqual([false, expect.stringContaining(first.slice(0, 8))]);
    expect(keyIn((await set('--in-place-of', first.slice(0, 8))).stdout)).not.toBe(first);
  });
});

describe('console link command', () => {
  let bundle: CarillonBundle;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
  });
  afterAll(() => bundle?.stop());

  const run = (...parameters: string[]) => runCommand(bundle, parameters);
  const post = (path: string, body: unknown) => bundle.call('POST', `/console/api/${path}`, { body });
  const linkIn = (text: string) => /\S+\/console\/#\S+/.exec(text)![0];

  test('status and console-link each print a new link, which opens the console of a sandbox once', async () => {
    const printed = [
      linkIn((await run('status')).stdout),
      linkIn((await runProcess(bundle, ['console-link'])).stdout),
      (JSON.parse((await run('console-link', '--json')).stdout) as { link: string }).link,
    ];
    expect(new Set([bundle.block.console, ...printed]).size).toBe(4);
    for (const link of printed) {
      expect(link.startsWith(`${bundle.url}/console/#sign-in=`)).toBe(true);
      expect(await open(link)).toEqual([204, 200]);
      expect(await open(link)).toEqual([401, 401]);
    }
    // For programs, which may ask each second: no link, and no row for one.
    const links = () => bundle.database<{ links: number }[]>`select count(*)::int as links from account_links`;
    const before = await links();
    expect((await run('status', '--json')).stdout).not.toContain('sign-in');
    expect(await links()).toEqual(before);
  });

  test('a clock that is moved by 30 days signs nobody out, and leaves links that were printed before', async () => {
    const [earlier, later] = [linkIn((await run('status')).stdout), linkIn((await run('console-link')).stdout)];
    const opened = await post('session', { code: earlier.split('=')[1]! });
    const cookie = opened.headers.get('set-cookie')!.split(';')[0]!;
    expect((await bundle.call('POST', '/sandbox/clock', { body: { advanceSeconds: 30 * 86_400 } })).status).toBe(200);
    expect((await bundle.call('GET', '/console/api/session', { headers: { cookie } })).status).toBe(200);
    expect(await open(later)).toEqual([204, 200]);
    expect(await open(linkIn((await run('console-link')).stdout))).toEqual([204, 200]);
  });

  test('the public URL is that of every link, also where no node runs', async () => {
    const environment = { CARILLON_PUBLIC_URL: 'https://push.example.com' };
    const made = await runCommand({ ...bundle, environment }, ['console-link']);
    expect(linkIn(made.stdout)).toMatch(/^https:\/\/push\.example\.com\/console\/#sign-in=\S{43}$/);
  });

  test('elsewhere than in a sandbox the link creates the first owner, and there is none after that', async () => {
    await bundle.database`update installation set demo_workspace_id = null`;
    const link = linkIn((await run('console-link')).stdout);
    expect(link.startsWith(`${bundle.url}/console/#first-owner=`)).toBe(true);
    // Output that is no terminal may be kept, as by whatever runs a service.
    expect((await run('status')).stdout).not.toContain('#first-owner');
    const owner = { code: link.split('=')[1]!, email: 'olga@example.com', name: 'Olga', password: goodPassword };
    expect((await post('first-owner', owner)).status).toBe(204);
    const refused = await run('console-link');
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('carillon accounts password-link')]);
  });

  /** Opens a link as a browser would. @returns the status, and that of a call with the session */
  async function open(link: string): Promise<number[]> {
    const opened = await post('session', { code: link.split('#sign-in=')[1]! });
    const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
    return [opened.status, (await bundle.call('GET', '/console/api/session', { headers: { cookie } })).status];
  }
});

describe('controls command', () => {
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
    const [user] =
      await database`select customer_id from users where workspace_id = ${workspaceId} order by customer_id`;
    const customerId = user!.customer_id as string;
    expect((await explain(first, customerId)).stdout).toMatch(/: ACCEPTED\. The provider accepted the message at /);
    expect((await explain(second, customerId)).stdout).toMatch(/: FREQUENCY_CAP\. The person had got as many messages/);
    expect((await explain(second, 'nobody')).stdout).toContain('No user in this workspace has that customer id.');
    const lines = await run('explain', '--campaign', second, '--user', customerId, '--json');
    expect(JSON.parse(lines.stdout)).toMatchObject({
      campaign: { id: second, name: 'One too many' },
      customerId,
      runs: [{ step: 'FREQUENCY_CAP', devices: [{ step: 'FREQUENCY_CAP' }] }],
    });
    const unknown = await explain('0'.repeat(24), customerId);
    expect([unknown.code, unknown.stderr]).toEqual([2, 'carillon: Campaign not found.\n']);
  });
});

describe('keys and sandbox commands', () => {
  const run = (...parameters: string[]) => runCommand(bundle, parameters);
  const listKeys = async () =>
    (await run('keys', 'list', '--json')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; kind: string; state: string; name: string; lastUsed: unknown });
  const bearsToken = async (secret: string): Promise<number> => {
    const form = { grant_type: 'client_credentials', client_id: bundle.workspaceId, client_secret: secret };
    return (await fetch(`${bundle.url}/v1/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })).status;
  };

  test('keys are listed without secrets, rotated with an overlap, and revoked for good', async () => {
    const before = await listKeys();
    const old = before.find(({ kind }) => kind === 'oauth')!;
    expect(old).toMatchObject({ state: 'active', lastUsed: null });
    expect(JSON.stringify(before)).not.toContain(bundle.keys.oauth);

    const rotated = await run('keys', 'rotate', old.id, '--overlap-hours', '2');
    const [, secret] = /^Secret +(\S+)$/m.exec(rotated.stdout)!;
    expect([await bearsToken(secret!), await bearsToken(bundle.keys.oauth)]).toEqual([200, 200]);
    expect((await listKeys()).find(({ id }) => id === old.id)!.state).toMatch(/^until 20/);

    expect((await run('keys', 'revoke', old.id)).code).toBe(0);
    expect([await bearsToken(secret!), await bearsToken(bundle.keys.oauth)]).toEqual([200, 401]);
    const again = await run('keys', 'rotate', old.id);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining(`There is no key ${old.id}`)]);
  });

  test('the clock and the faults of the running node are those of the command line', async () => {
    const moved = await run('sandbox', 'clock', '--advance', '2d');
    expect([moved.code, moved.stdout]).toEqual([0, expect.stringMatching(/^Moved by +172800 s$/m)]);
    expect((await run('sandbox', 'clock', '--freeze')).stdout).toContain('It is stopped until it is moved');
    expect((await run('sandbox', 'clock', '--reset')).stdout).toMatch(/^Moved by +0 s$/m);

    expect((await run('sandbox', 'faults', '--set', '{"api":{"route":"/v1/*","status":500}}')).code).toBe(0);
    expect(await bearsToken('any')).toBe(500);
    const refused = await run('sandbox', 'faults', '--set', '{"gcm":{}}');
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('gcm')]);
    expect(await bearsToken('any')).toBe(500);
    expect((await run('sandbox', 'reset')).stdout).toContain('without counters and faults');
    expect(await bearsToken('any')).toBe(401);
  });

  test.each([
    [['sandbox', 'clock', '--advance', '2 days'], 's, m, h or d'],
    [['sandbox', 'clock', '--advance', '2d', '--reset'], 'cannot be used with'],
    [['sandbox', 'faults', '--set', '[]'], 'an object in JSON'],
    [['sandbox', 'faults'], "one of '--set <json>' and '--clear' is needed"],
    [['keys', 'rotate', 'x', '--overlap-hours', '721'], '0 to 720'],
  ])('%j is refused before anything is opened: 2', async (parameters, reason) => {
    const refused = await run(...parameters);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(reason)]);
  });

  test('credentials check says how the outgoing proxy does, where there is one', async () => {
    const check = async (environment: Record<string, string>, ...more: string[]) => {
      const beside = { config: bundle.config, environment };
      return (await runCommand(beside, ['credentials', 'check', '--workspace', bundle.workspaceId, ...more])).stdout;
    };
    // The simulators are on this machine, which no proxy is asked for.
    const proxy = { CARILLON_OUTGOING_PROXY: 'http://127.0.0.1:1' };
    expect(await check(proxy)).toMatch(/\noutgoing proxy: UNUSED\n$/);
    expect(JSON.parse((await check(proxy, '--json')).split('\n')[0]!)).toMatchObject({ proxy: 'UNUSED' });
    expect(await check({})).not.toContain('proxy');
  });
});

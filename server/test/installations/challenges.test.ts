import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeDropOldRecords } from '../../src/engine/housekeeping/old-records.ts';
import { makeOutcomeBuffer } from '../../src/engine/jobs/outcome-buffer.ts';
import { makeSendTokenChallenges } from '../../src/engine/token-challenges.ts';
import { makeLog } from '../../src/log.ts';
import type { DeliveryRequest, Outcome } from '../../src/providers/provider.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { makeRecordingGovernor } from '../engine/governor/recording-governor.ts';
import { makeAppOf } from '../sdk/web-site.ts';
import { makeInstallationBundle, secretOf } from './installation-bundle.ts';
import type { InstallationBundle, Phone } from './installation-bundle.ts';

let phones = 0;
const newPhone = (): Phone => ({ id: `challenged-phone-${(phones += 1)}`, secret: secretOf(String(phones % 10)) });

describe('a push token that another device holds', () => {
  let bundle: InstallationBundle;
  const log = makeLog({ level: 'silent', pretty: false });
  const sent: DeliveryRequest[] = [];
  let outcome: Outcome;

  beforeAll(async () => {
    bundle = await makeInstallationBundle();
  });
  afterAll(() => bundle?.stop());
  beforeEach(async () => {
    sent.length = 0;
    outcome = { kind: 'accepted' };
    await bundle.database`delete from push_token_challenges`;
  });

  /** Sends what is due. @returns the codes that reached the tokens, in order */
  async function sendDue(): Promise<string[]> {
    const { database, clock } = bundle;
    const before = sent.length;
    const job = makeSendTokenChallenges({
      ...{ database, clock, log, random: () => 0.5, phoneDefaults: { dataPrefix: 'svc' } as never },
      delivery: { deliver: async (request) => (sent.push(request), outcome) },
      loadCredentials: async () => ({ apps: [], find: () => ({ credentials: { fcm: { projectId: 'p' } } }) }) as never,
      governor: {
        ...makeRecordingGovernor(clock.now()).governor,
        acquire: (_account, { onTurn }) => onTurn(undefined),
      },
      outcomes: makeOutcomeBuffer({ log, pause: async () => {} }),
    });
    await job.runOnce(clock.now());
    await job.settled();
    return sent.slice(before).map(({ message }) => message.challenge!.code);
  }

  const owner = async (): Promise<Phone> => {
    const phone = newPhone();
    await bundle.register(phone);
    return phone;
  };
  const claim = (phone: Phone, holder: Phone, code?: string) =>
    bundle.register(phone, {
      push_token: `token-${holder.id}`,
      ...(code === undefined ? {} : { push_token_challenge: code }),
    });
  const states = async () => {
    const rows = await bundle.database`select state, code, attempts from push_token_challenges order by id`;
    return rows.map(({ state, code, attempts }) => `${state} ${code} ${attempts}`);
  };

  test('moves to the app that sends the code back, once', async () => {
    const [holder, phone] = [await owner(), newPhone()];
    expect((await claim(phone, holder)).status).toBe(409);
    const [code] = await sendDue();
    expect(sent[0]).toMatchObject({
      message: { platform: 'ANDROID', isSilent: true, challenge: { installationId: phone.id } },
      device: { pushId: `token-${holder.id}`, platform: 'ANDROID' },
    });
    expect((await claim(phone, holder, code)).body).toMatchObject({ can_receive: true });
    expect(await states()).toEqual([]);
    // The earlier app cannot take it back with the same code, and is challenged itself.
    expect((await claim(holder, holder, code)).status).toBe(409);
    expect(await sendDue()).toHaveLength(1);
  });

  test('does not move for a guessed code, another installation’s code, or one that is ten minutes old', async () => {
    const [holder, phone, stranger] = [await owner(), newPhone(), newPhone()];
    await claim(phone, holder);
    const [code] = await sendDue();
    expect((await claim(phone, holder, secretOf('z'))).status).toBe(409);
    expect((await claim(stranger, holder, code)).status).toBe(409);
    expect((await claim(stranger, await owner(), code)).body).toMatchObject({ code: 'PUSH_TOKEN_HELD' });
    bundle.clock.advance(10 * 60_000);
    expect((await claim(phone, holder, code)).status).toBe(409);
  });

  test('gets at most three challenges an hour, and one at a time for an installation', async () => {
    const holder = await owner();
    const claimants = [newPhone(), newPhone(), newPhone(), newPhone()];
    for (const phone of [...claimants, ...claimants]) expect((await claim(phone, holder)).status).toBe(409);
    expect(await sendDue()).toHaveLength(3);
    expect(await states()).toEqual(['ACCEPTED null 1', 'ACCEPTED null 1', 'ACCEPTED null 1']);
    bundle.clock.advance(3_600_000 + 1);
    await claim(claimants[3]!, holder);
    expect(await sendDue()).toHaveLength(1);
  });

  test('is challenged exactly three times by registrations that arrive together', async () => {
    const holder = await owner();
    await Promise.all(Array.from({ length: 12 }, () => claim(newPhone(), holder)));
    expect(await states()).toHaveLength(3);
  });

  test('keeps no code, and neither does the API log', async () => {
    const [holder, phone] = [await owner(), newPhone()];
    await claim(phone, holder);
    const [code] = await sendDue();
    const rows = await bundle.database`select to_jsonb(push_token_challenges)::text as text from push_token_challenges`;
    expect(rows).toHaveLength(1);
    expect(String(rows[0]!.text)).not.toContain(code);
    bundle.calls.length = 0;
    await claim(phone, holder, code);
    expect(JSON.stringify(bundle.calls)).toContain('[redacted]');
    expect(JSON.stringify(bundle.calls)).not.toContain(code);
  });

  test('is challenged again, with another code, after a failure that passes; the first code no longer works', async () => {
    const [holder, phone] = [await owner(), newPhone()];
    await claim(phone, holder);
    outcome = { kind: 'wait', code: '503', scope: 'device' };
    const [first] = await sendDue();
    expect(await states()).toEqual(['WAITING 503 1']);
    outcome = { kind: 'accepted' };
    bundle.clock.advance(120_000);
    const [second] = await sendDue();
    expect((await claim(phone, holder, first)).status).toBe(409);
    expect((await claim(phone, holder, second)).status).toBe(200);
  });

  test.each([
    [{ kind: 'gone', code: 'UNREGISTERED' }, 'GONE UNREGISTERED 1'],
    [{ kind: 'ambiguous', code: 'INVALID', detail: '', ifDevice: 'suspect', ifAccount: 'hold' }, 'REJECTED INVALID 1'],
  ] as const)('is not challenged again after %o, which is no evidence against a credential', async (given, settled) => {
    const [holder, phone] = [await owner(), newPhone()];
    await claim(phone, holder);
    outcome = given;
    await sendDue();
    expect(await states()).toEqual([settled]);
    bundle.clock.advance(120_000);
    expect(await sendDue()).toEqual([]);
    expect(await bundle.database`select 1 from provider_evidence`).toEqual([]);
  });

  test('leaves no challenge behind after an hour', async () => {
    const { database, clock } = bundle;
    const holder = await owner();
    await claim(newPhone(), holder);
    const clean = makeDropOldRecords({ database, clock, inboxMessages: 10 });
    await clean.runOnce(clock.now());
    expect(await states()).toHaveLength(1);
    clock.advance(3_600_000 + 1);
    await clean.runOnce(clock.now());
    expect(await states()).toEqual([]);
  });
});

describe('on a node, a device that a server registered', () => {
  let bundle: CarillonBundle;
  let appKey: string;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
    ({ appKey } = await makeAppOf(bundle));
  });
  afterAll(() => bundle?.stop());

  test.each([
    ['ANDROID', (payload: any) => [payload.data.svc_installation_id, payload.data.svc_challenge]],
    ['IOS', (payload: any) => [payload.svc.installation_id, payload.svc.challenge]],
    ['WEB', (payload: any) => [payload.installation_id, payload.challenge]],
  ])('gives its %s token to the app that receives the code, which nobody sees', async (platform, codeOf) => {
    const [held] = await bundle.database<{ pushId: string; customer: string }[]>`
      select devices.push_id as "pushId", users.customer_id as customer from devices
      join users on users.bucket = devices.bucket and users.id = devices.user_id
      where devices.platform = ${platform} and not devices.is_from_app limit 1`;
    const phone = newPhone();
    const register = (more: object = {}) =>
      bundle.call('POST', '/v1/app/installations', {
        headers: { authorization: `Bearer ${appKey}`, 'carillon-installation-secret': phone.secret },
        body: {
          ...{ installation_id: phone.id, platform, ...more },
          push_token: platform === 'WEB' ? JSON.parse(held!.pushId) : held!.pushId,
        },
      });
    expect((await register()).status).toBe(409);
    const message = await until(async () =>
      (await bundle.inbox()).find((one) => one.platform === platform && codeOf(one.payload)[0] === phone.id),
    );
    expect(message).toMatchObject({ title: '', body: '', screen: { shownBy: 'nobody', reports: [] } });
    const [, code] = codeOf(message.payload);
    expect((await register({ push_token_challenge: code })).json()).toMatchObject({ can_receive: true });
    const [now] = await bundle.database`
      select is_from_app from devices where push_id = ${held!.pushId} and device_id = ${phone.id}`;
    expect(now).toEqual({ is_from_app: true });
  });
});

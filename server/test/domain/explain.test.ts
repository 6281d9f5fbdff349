import { describe, expect, test } from 'vitest';
import { describeDelivery, describeNoRun, describeRun, explainRun, steps } from '../../src/domain/explain.ts';
import type {
  DeviceExplanation,
  ExplainedDelivery,
  ExplainedDevice,
  ExplainedRun,
  RunFacts,
  Step,
} from '../../src/domain/explain.ts';

type Given = Partial<Omit<RunFacts, 'run'>> & { run?: Partial<ExplainedRun> };

describe('explain run', () => {
  const run: ExplainedRun = {
    ...{ id: 'r', status: 'SENT', statusReason: null, startedAt: new Date('2026-03-01T09:00:00Z') },
    ...{ platforms: ['ANDROID', 'IOS'], iosProvisional: null, audienceBound: null, isLedgerDropped: false },
  };
  const phone: ExplainedDevice = {
    ...{ id: 'd5', deviceId: 'phone', platform: 'ANDROID', state: 'ACTIVE', isProvisional: false, appId: null },
    suspicion: null,
  };
  const iphone: ExplainedDevice = { ...phone, id: 'd6', deviceId: 'iphone', platform: 'IOS' };
  const noVariant = { variation: null, locale: null };
  const delivery = (more: Partial<ExplainedDelivery> = {}): ExplainedDelivery => ({
    ...{ deviceId: 'd5', platform: 'ANDROID', outcome: 'ACCEPTED', code: null, attempts: 1, ...noVariant },
    ...{ sentAt: new Date('2026-03-01T09:00:05Z'), retryAt: null, ...more },
  });
  const explain = ({ run: more, ...rest }: Given) =>
    explainRun({
      ...{ run: { ...run, ...more }, membership: 'member', devices: [phone], deliveries: [], chunk: { state: 'DONE' } },
      ...rest,
    });

  describe('a run that had not started', () => {
    test.each([
      ['QUEUED', 'RUN_NOT_STARTED'],
      ['PAUSED', 'RUN_NOT_STARTED'],
      ['SENDING', 'RUN_NOT_STARTED'],
      ['SENT', 'RUN_NOT_STARTED'],
      ['MISSED', 'RUN_MISSED'],
      ['FAILED', 'RUN_FAILED'],
      ['STOPPED', 'RUN_STOPPED'],
    ] as const)('decides by itself: %s', (status, step) => {
      expect(explain({ run: { status, startedAt: null, statusReason: 'why' } })).toEqual({
        ...{ runId: 'r', runStatus: status, reason: 'why', step, devices: [], inbox: null },
      });
    });
  });

  test('reports no users for a run whose ledger day was removed', () => {
    const given = { run: { isLedgerDropped: true }, deliveries: [delivery()] };
    expect(explain(given)).toMatchObject({ step: 'LEDGER_DROPPED', devices: [] });
  });

  describe('a device that is not in the ledger', () => {
    type Row = [Step, Partial<ExplainedDevice>, Given];
    const rows: Row[] = [
      ['DEVICE_TOO_NEW', {}, { run: { audienceBound: 'd4', platforms: [] } }],
      ['CHANGED_SINCE', {}, { run: { audienceBound: 'd5' } }],
      ['PLATFORM_NOT_MEANT', { platform: 'WEB', state: 'GONE' }, {}],
      ['TRIAL_NOT_MEANT', { platform: 'IOS', isProvisional: true, state: 'GONE' }, { run: { iosProvisional: false } }],
      ['TRIAL_NOT_MEANT', { platform: 'IOS' }, { run: { iosProvisional: true } }],
      ['CHANGED_SINCE', { platform: 'IOS', isProvisional: true }, { run: { iosProvisional: true } }],
      ['CHANGED_SINCE', { platform: 'IOS', isProvisional: true }, {}],
      ['CHANGED_SINCE', { isProvisional: true }, { run: { iosProvisional: false } }],
      ['APP_NOT_MEANT', { appId: 'lite', state: 'GONE' }, { run: { appIds: ['pro'] } }],
      ['APP_NOT_MEANT', {}, { run: { appIds: ['pro'] } }],
      ['CHANGED_SINCE', {}, { run: { appIds: ['pro', 'default'] } }],
      ['CHANGED_SINCE', { appId: 'pro' }, { run: { appIds: ['pro'] } }],
      ['DEVICE_OPTED_OUT', { state: 'OPTED_OUT' }, { chunk: { state: 'QUARANTINED' } }],
      ['DEVICE_BLOCKED', { state: 'BLOCKED' }, { chunk: { state: 'QUARANTINED' } }],
      ['DEVICE_GONE', { state: 'GONE' }, { chunk: { state: 'QUARANTINED' } }],
      ['CHUNK_SET_ASIDE', {}, { chunk: { state: 'QUARANTINED' }, run: { status: 'STOPPED' } }],
      ['RUN_STOPPED', {}, { chunk: { state: 'READY' }, run: { status: 'STOPPED' } }],
      ['NOT_REACHED_YET', {}, { chunk: { state: 'READY' } }],
      ['NOT_REACHED_YET', {}, { chunk: { state: 'CLAIMED' } }],
      ['CHANGED_SINCE', {}, { chunk: undefined }],
    ];

    test.each(rows)('has the step %s with %j', (step, ...[more, given]) => {
      const device = { ...phone, ...more };
      const nothing = { code: null, attempts: 0, at: null, until: null, ...noVariant };
      expect(explain({ ...given, devices: [device] })).toMatchObject({
        ...{ step, devices: [{ deviceId: 'phone', platform: device.platform, step, ...nothing }] },
      });
    });
  });

  describe('a device that is in the ledger', () => {
    const rows: [string, string | null, Step][] = [
      ...(['WAITING', 'EXPIRED', 'GONE', 'REJECTED', 'FAILED', 'ACCEPTED'] as const).map(
        (outcome): [string, null, Step] => [outcome, null, outcome],
      ),
      ['WAITING', 'FCM_503', 'WAITING'],
      ...(
        [
          ...['GLOBAL_CONTROL_GROUP', 'CAMPAIGN_CONTROL_GROUP', 'BEST_TIME', 'USER_TIME_ZONE', 'QUIET_HOURS'],
          ...['CAMPAIGN_SEND_LIMIT', 'MINIMUM_DELAY', 'FREQUENCY_CAP', 'CAMPAIGN_AUDIENCE_LIMIT'],
        ] as Step[]
      ).flatMap((code): [string, string, Step][] => [
        ['WITHHELD', code, code],
        ['WAITING', code, code],
      ]),
      ['EXPIRED', 'QUIET_HOURS', 'EXPIRED'],
      ['FAILED', 'TIME_ZONE_UNKNOWN', 'TIME_ZONE_UNKNOWN'],
      ['REJECTED', 'TIME_ZONE_UNKNOWN', 'REJECTED'],
      ['FAILED', 'TEMPLATE_USER_ATTRIBUTE', 'TEMPLATE_FAILED'],
      ['REJECTED', 'TEMPLATE_USER_ATTRIBUTE', 'REJECTED'],
      ['FAILED', 'NO_TEMPLATE_', 'FAILED'],
      ['EXPIRED', 'STOPPED', 'RUN_STOPPED'],
      ['FAILED', 'STOPPED', 'FAILED'],
      ['EXPIRED', 'UNAVAILABLE', 'EXPIRED'],
    ];

    test.each(rows)('has for %s %s the step %s', (outcome, code, step) => {
      expect(explain({ deliveries: [delivery({ outcome, code })] }).devices).toMatchObject([{ step, code }]);
    });

    test('is described with the known facts of its message', () => {
      const retryAt = new Date('2026-03-01T10:00:00Z');
      const told = { code: 'FCM_503', attempts: 3, variation: 'variation_2', locale: 'de' };
      const deliveries = [delivery({ outcome: 'WAITING', retryAt, ...told })];
      expect(explain({ deliveries }).devices).toEqual([
        {
          deviceId: 'phone',
          platform: 'ANDROID',
          step: 'WAITING',
          at: deliveries[0]!.sentAt,
          until: retryAt,
          suspicion: null,
          ...told,
        },
      ]);
    });

    test('is described with its suspicion if that may have decided, by the id that can keep it', () => {
      const since = new Date('2026-03-01T09:00:00Z');
      const suspicion = { code: 'BadDeviceToken', sends: 1, since, lastAt: since, hasLeft: false };
      const of = (outcome: string, code: string) =>
        explain({ devices: [{ ...phone, suspicion }], deliveries: [delivery({ outcome, code })] }).devices[0]!
          .suspicion;
      expect(of('REJECTED', 'BadDeviceToken')).toEqual({ ...suspicion, id: 'd5' });
      expect(of('FAILED', 'HOST_NOT_FOUND')).toEqual({ ...suspicion, id: 'd5' });
      expect(of('FAILED', 'FCM_503')).toBeNull();
      expect(of('ACCEPTED', 'FALLBACK')).toBeNull();
      const gone = (hasLeft: boolean) =>
        explain({ devices: [{ ...phone, state: 'GONE', suspicion: { ...suspicion, hasLeft } }] }).devices[0];
      expect(gone(true)).toMatchObject({ step: 'DEVICE_GONE', suspicion: { id: 'd5', hasLeft: true } });
      expect(gone(false)).toMatchObject({ step: 'DEVICE_GONE', suspicion: null });
    });

    test('has no name if it was removed', () => {
      expect(explain({ devices: [iphone], deliveries: [delivery()] }).devices).toMatchObject([
        { deviceId: null, platform: 'ANDROID', step: 'ACCEPTED' },
        { deviceId: 'iphone', platform: 'IOS', step: 'CHANGED_SINCE' },
      ]);
    });

    test('is a fault if its outcome is unknown', () => {
      for (const one of [{ outcome: 'LOST' }, { outcome: 'WITHHELD', code: 'X' }, { outcome: 'WITHHELD' }])
        expect(() => explain({ deliveries: [delivery(one)] })).toThrow(`unknown outcome ${one.outcome}`);
    });
  });

  describe('a user', () => {
    test('has the step of the device that got furthest, in the order in which the service decides', () => {
      const devices = [
        { ...phone, state: 'BLOCKED' as const },
        { ...iphone, state: 'OPTED_OUT' as const },
      ];
      expect(explain({ devices }).step).toBe('DEVICE_BLOCKED');
      const both = [
        delivery({ outcome: 'GONE' }),
        delivery({ deviceId: 'd6', platform: 'IOS', outcome: 'WITHHELD', code: 'QUIET_HOURS' }),
      ];
      expect(explain({ devices, deliveries: both })).toMatchObject({
        ...{ step: 'GONE', devices: [{ step: 'GONE' }, { step: 'QUIET_HOURS' }] },
      });
      expect(steps.indexOf('ACCEPTED')).toBe(steps.length - 1);
    });

    test('has no device step without a device in the audience', () => {
      expect(explain({ devices: [] })).toMatchObject({ step: 'NO_DEVICE', devices: [] });
    });

    test('was not in the audience if not matched', () => {
      expect(explain({ membership: 'stranger' })).toMatchObject({ step: 'NOT_IN_AUDIENCE', devices: [] });
      expect(explain({ membership: 'stranger', devices: [] })).toMatchObject({ step: 'NOT_IN_AUDIENCE', devices: [] });
    });

    test('was not in the audience if the membership was removed and a device was reachable', () => {
      const blocked = { ...iphone, state: 'BLOCKED' as const };
      expect(explain({ membership: 'forgotten', devices: [blocked, phone] })).toMatchObject({
        ...{ step: 'NOT_IN_AUDIENCE', devices: [] },
      });
      expect(explain({ membership: 'forgotten', devices: [blocked] })).toMatchObject({
        ...{ step: 'AUDIENCE_FORGOTTEN', devices: [{ step: 'DEVICE_BLOCKED' }] },
      });
    });

    test('was in the audience if the ledger has an entry, whatever the audience is now', () => {
      for (const membership of ['stranger', 'forgotten'] as const)
        expect(explain({ membership, deliveries: [delivery()] })).toMatchObject({
          ...{ step: 'ACCEPTED', devices: [{ step: 'ACCEPTED' }] },
        });
    });
  });
});

describe('sentences of an explanation', () => {
  const at = new Date('2026-03-01T09:00:05Z');
  const until = new Date('2026-03-01T10:00:00Z');
  const explained = (step: Step, more: Partial<DeviceExplanation> = {}): DeviceExplanation => ({
    ...{ deviceId: 'phone', platform: 'ANDROID', step, code: null, attempts: 0, at: null, until: null },
    suspicion: null,
    ...{ variation: null, locale: null, ...more },
  });
  const run = (step: Step, reason: string | null, devices: DeviceExplanation[]) =>
    describeRun({ runId: 'r', runStatus: 'SENT', step, reason, devices, inbox: null });

  describe('the sentence about a device', () => {
    test.each<[string, DeviceExplanation]>([
      ['The device is blocked.', explained('DEVICE_BLOCKED')],
      ['The provider accepted the message at 2026-03-01T09:00:05.000Z.', explained('ACCEPTED', { at })],
      ['The provider accepted the message.', explained('ACCEPTED')],
      ['The message was rejected (BadTopic).', explained('REJECTED', { at, code: 'BadTopic' })],
      ['It was within the quiet hours of the person.', explained('QUIET_HOURS', { code: 'QUIET_HOURS' })],
      [
        'The message waits for another attempt (FCM_503) (variation_2, de) and is waiting until 2026-03-01T10:00:00.000Z.',
        explained('WAITING', { code: 'FCM_503', until, variation: 'variation_2', locale: 'de' }),
      ],
      ['The message was rejected (variation_2).', explained('REJECTED', { variation: 'variation_2' })],
      ['The message was rejected (de).', explained('REJECTED', { locale: 'de' })],
    ])('is: %s', (sentence, device) => expect(describeDelivery(device)).toBe(sentence));

    const strikes = { id: 'd5', code: 'BadDeviceToken', since: at, lastAt: until };
    test.each<[string, DeviceExplanation]>([
      [
        'The message was rejected (BadDeviceToken). The device is suspected: 2 sends since 2026-03-01T09:00:05.000Z failed like a dead address (BadDeviceToken). It leaves the audience after 3 such sends over 72 hours; to prevent that, press Keep on the user’s page or run carillon devices keep d5.',
        explained('REJECTED', { code: 'BadDeviceToken', suspicion: { ...strikes, sends: 2, hasLeft: false } }),
      ],
      [
        'The device left the audience after 3 sends since 2026-03-01T09:00:05.000Z that failed like a dead address (BadDeviceToken); to take it back, press Keep on the user’s page or run carillon devices keep d5.',
        explained('DEVICE_GONE', { suspicion: { ...strikes, sends: 3, hasLeft: true } }),
      ],
      [
        'The message failed after all its attempts (HOST_NOT_FOUND). The device is suspected: 1 send since 2026-03-01T09:00:05.000Z failed like a dead address (HOST_NOT_FOUND). It leaves the audience after 3 such sends over 72 hours; to prevent that, press Keep on the user’s page or run carillon devices keep d5.',
        explained('FAILED', {
          code: 'HOST_NOT_FOUND',
          suspicion: { ...strikes, code: 'HOST_NOT_FOUND', sends: 1, hasLeft: false },
        }),
      ],
    ])('has its suspicion and how to undo it: %s', (sentence, device) =>
      expect(describeDelivery(device)).toBe(sentence),
    );

    test('exists for each step', () => {
      const sentences = steps.map((step) => describeDelivery(explained(step)));
      for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z].+[^.]\.$/);
      // What the device is now, and what the provider said of this message.
      const same = steps.filter((step) => describeDelivery(explained(step)) === describeDelivery(explained('GONE')));
      expect(same).toEqual(['DEVICE_GONE', 'GONE']);
      expect(new Set(sentences).size).toBe(steps.length - 1);
    });
  });

  test('describes a run by the device that got furthest, or by itself and its reason', () => {
    const devices = [explained('DEVICE_BLOCKED'), explained('ACCEPTED', { at }), explained('ACCEPTED', { code: 'X' })];
    expect(run('ACCEPTED', 'ignored', devices)).toBe('The provider accepted the message at 2026-03-01T09:00:05.000Z.');
    expect(run('RUN_FAILED', null, [])).toBe('The run failed before it reached anyone.');
    expect(run('RUN_FAILED', 'no audience', [explained('GONE')])).toBe(
      'The run failed before it reached anyone: no audience.',
    );
  });

  test('describes a user without a run by the newest event that started one', () => {
    expect(describeNoRun(undefined)).toBe('The campaign has no run: it has not been sent yet, or too long ago.');
    expect(describeNoRun([])).toBe(
      'No event of the person has started the campaign. A message of a journey is sent when the person comes to its step.',
    );
    const trigger = { eventName: 'Bought', occurredAt: at, receivedAt: at, dueAt: until, reason: null, runId: null };
    const [newest, older] = [
      { ...trigger, state: 'WAITING' as const },
      { ...trigger, state: 'SENT' as const, runId: 'r' },
    ];
    expect(describeNoRun([newest, older])).toBe(
      '"Bought" at 2026-03-01T09:00:05.000Z is due at 2026-03-01T10:00:00.000Z.',
    );
  });
});

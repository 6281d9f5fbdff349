import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  campaignDeliveryTypes,
  campaignStatuses,
  campaignTransitions,
  isEditable,
  selectCampaigns,
  statusAfter,
  whyNotAllowed,
} from '../../../src/domain/campaigns/campaign.ts';
import type {
  CampaignDeliveryType,
  CampaignSearch,
  CampaignStatus,
  SearchVersion,
} from '../../../src/domain/campaigns/campaign.ts';
import {
  defaultDeliverySettings,
  deliverySettings,
  iosProvisional,
  queueUntil,
  runDevicesPerMinute,
  sendUntil,
} from '../../../src/domain/campaigns/delivery-settings.ts';
import type { DeliverySettings } from '../../../src/domain/campaigns/delivery-settings.ts';
import type { Platform } from '../../../src/domain/content/content.ts';
import { messageIdentity } from '../../../src/domain/content/message.ts';
import { adviseOnFailure } from '../../../src/domain/delivery/failures.ts';
import { readSchema } from '../../dump-schema.ts';

const schema = await readSchema();

describe('campaign states (decision D46)', () => {
  test('are those of the table', () => {
    expect(wordsOf(/constraint campaigns_status_check CHECK \(\(status = ANY \((.*)\)\)\)/)).toEqual([
      ...campaignStatuses,
    ]);
  });

  test('have only transitions that the table allows for the kind of campaign', () => {
    const oneTimeOnly = wordsOf(/\(delivery_type = 'ONE_TIME'::text\) OR \(status <> ALL \((.*)\)\)/);
    const recurringOnly = wordsOf(/\(delivery_type <> 'ONE_TIME'::text\) OR \(status <> ALL \((.*)\)\)/);
    expect([oneTimeOnly.length, recurringOnly.length]).toEqual([3, 2]);
    for (const { kind, from, to } of campaignTransitions) {
      const forbidden = kind === 'one-time' ? recurringOnly : oneTimeOnly;
      expect(forbidden, `${kind}: ${from} → ${to}`).not.toContain(from);
      expect(forbidden, `${kind}: ${from} → ${to}`).not.toContain(to);
    }
  });

  test('can all be left by a user action if open, and none if final', () => {
    const state = { kind: 'one-time', hasOccurrence: true } as const;
    expect(statusAfter('resume', { ...state, status: 'PAUSED' })).toBe('SCHEDULED');
    expect(statusAfter('resume', { ...state, status: 'PAUSED', hasOccurrence: false })).toBe('SENDING');
    expect(statusAfter('resume', { ...state, kind: 'recurring', status: 'PAUSED' })).toBe('ACTIVE');
    for (const kind of ['one-time', 'recurring'] as const) {
      for (const action of ['pause', 'resume', 'stop'] as const) {
        for (const status of ['DRAFT', 'SENT', 'RETIRED', 'STOPPED', 'FAILED', 'ARCHIVED'] as const)
          expect(statusAfter(action, { kind, status, hasOccurrence: true }), `${action} ${status}`).toBeUndefined();
      }
    }
  });
});

const recurring = ['PERIODIC', 'EVENT_TRIGGERED', 'BUSINESS_EVENT_TRIGGERED'] as const;
type Row = [
  string,
  'V1' | 'V5',
  'STOP' | 'PAUSE' | 'RESUME' | 'PUBLISH',
  readonly CampaignDeliveryType[],
  CampaignStatus[],
];

describe('an allowed action (fact 6.3)', () => {
  const rows: Row[] = [
    ['stopping in V1, of what is scheduled', 'V1', 'STOP', ['ONE_TIME'], ['SCHEDULED']],
    ['stopping in V5, until it is sent', 'V5', 'STOP', ['ONE_TIME'], ['SCHEDULED', 'PAUSED', 'SENDING']],
    ['pausing in V1', 'V1', 'PAUSE', recurring, ['ACTIVE']],
    ['pausing in V5', 'V5', 'PAUSE', recurring, ['ACTIVE']],
    ['resuming in V1', 'V1', 'RESUME', recurring, ['PAUSED']],
    ['resuming in V5', 'V5', 'RESUME', recurring, ['PAUSED']],
    ['publishing, whatever it is (decision 0014)', 'V5', 'PUBLISH', campaignDeliveryTypes, ['DRAFT']],
  ];

  test.each(rows)('is %s', (_what, ...[version, action, types, from]) => {
    for (const deliveryType of campaignDeliveryTypes)
      for (const status of campaignStatuses) {
        const wanted = !types.includes(deliveryType)
          ? `${deliveryType} campaign`
          : from.includes(status)
            ? undefined
            : `${deliveryType} campaign that is ${status}`;
        expect(whyNotAllowed(action, { version, deliveryType, status })).toBe(wanted);
      }
  });
});

describe('a campaign (decision 0015)', () => {
  const editable = { ONE_TIME: ['ACTIVE', 'DRAFT', 'SCHEDULED'], PERIODIC: ['ACTIVE', 'DRAFT', 'PAUSED', 'SCHEDULED'] };

  test.each(['ONE_TIME', 'PERIODIC'] as const)('can be changed until it ends: %s', (deliveryType) => {
    const found = campaignStatuses.filter((status) => isEditable({ status, deliveryType, parts: {} }));
    expect(found.sort()).toEqual(editable[deliveryType]);
  });

  test('cannot be changed if it comes from the push API, because it has no parts', () => {
    for (const status of campaignStatuses)
      expect(isEditable({ status, deliveryType: 'PERIODIC', parts: null })).toBe(false);
  });
});

const anything: CampaignSearch = {
  ...{ ids: undefined, channels: undefined, createdBy: undefined, createdFrom: undefined, createdBefore: undefined },
  ...{ deliveryTypes: undefined, name: undefined, statuses: undefined, tags: undefined, versionNumber: undefined },
  ...{ children: 'without', archived: 'without' },
};
const select = (version: SearchVersion, more: Partial<CampaignSearch> = {}, versioning: 'on' | 'off' = 'off') =>
  selectCampaigns({ ...anything, ...more }, { version, versioning });
const without = (...left: string[]) => campaignStatuses.filter((status) => !left.includes(status));

describe('a campaign search', () => {
  test.each([
    ['V1', undefined, ['PUSH', 'EMAIL']],
    ['V5', undefined, ['PUSH', 'EMAIL']],
    ['V1', ['SMS'], []],
    ['V1', ['SMS', 'PUSH'], ['PUSH']],
    ['V5', ['SMS'], ['SMS']],
    ['V5', ['SMS', 'PUSH', 'EMAIL'], ['SMS', 'PUSH', 'EMAIL']],
  ] as const)('filters by channel: %s, asked for %j (interface 9 difference 8)', (version, channels, seen) => {
    expect(select(version, { channels: channels && [...channels] }).channels).toEqual(seen);
  });

  test.each([
    ['V1 finds drafts', 'V1', { statuses: undefined }, without('ARCHIVED')],
    ['V5 leaves them out', 'V5', { statuses: undefined }, without('ARCHIVED', 'DRAFT')],
    ['unless it is asked for them', 'V5', { statuses: ['DRAFT', 'SENT'] }, ['DRAFT', 'SENT']],
    ['V1 too', 'V1', { statuses: ['DRAFT'] }, ['DRAFT']],
    ['archived ones stay out when their status is asked for', 'V1', { statuses: ['ARCHIVED', 'SENT'] }, ['SENT']],
    ['and in V5', 'V5', { statuses: ['ARCHIVED'] }, []],
    ['they are included when that is asked for', 'V1', { archived: 'with' }, without()],
    ['and in V5, but for drafts', 'V5', { archived: 'with' }, without('DRAFT')],
    ['with a status', 'V5', { archived: 'with', statuses: ['ARCHIVED'] }, ['ARCHIVED']],
  ] as [string, SearchVersion, Partial<CampaignSearch>, string[]][])(
    'filters by status: %s (fact 4.2, interface 9 difference 5)',
    (_what, ...[version, more, seen]) => {
      expect(select(version, more).statuses).toEqual(seen);
    },
  );

  test('finds every version of a campaign in V5 if there are versions (interface 9 difference 6)', () => {
    expect(select('V5', {}, 'on').versions).toBe('every');
    expect([select('V5'), select('V1', {}, 'on'), select('V1')].map(({ versions }) => versions)).toEqual(
      new Array(3).fill('newest'),
    );
  });

  test('applies all other filters the same in both versions', () => {
    const asked = {
      ...{ ids: ['a'], createdBy: ['ada'], createdFrom: new Date(1), createdBefore: new Date(2), tags: ['t'] },
      ...{ deliveryTypes: ['ONE_TIME'], name: 'sale', versionNumber: 3, children: 'with' as const },
    };
    for (const version of ['V1', 'V5'] as const) {
      const { channels: _channels, statuses: _statuses, versions: _versions, ...rest } = select(version, asked);
      expect(rest).toStrictEqual(asked);
    }
  });
});

describe('delivery settings', () => {
  const settings = (more: Partial<DeliverySettings>): DeliverySettings => ({ ...defaultDeliverySettings, ...more });
  const minutes = (count: number): number => count * 60_000;
  const at = new Date('2026-03-01T12:00:00Z');
  const after = (count: number): Date => new Date(at.getTime() + minutes(count));

  describe('a missing setting (fact 3.4)', () => {
    test('has the documented default', () => {
      expect(defaultDeliverySettings).toStrictEqual({
        ttlMinutes: { ANDROID: 2_160, IOS: 2_160, WEB: 2_160 },
        ...{ androidPriority: 'HIGH', iosPriority: 10, webUrgency: 'normal', iosDevices: 'ALL', templates: 'AUTO' },
        ...{ devicesPerMinute: null, spreadMinutes: null, inboxExpiryHours: null, ownDelayHours: null },
        ...{ bypassesQuietHours: false, ignoresCap: false, countsForCap: true, ignoresMinimumDelay: true },
        isSilent: false,
      });
    });

    test('keeps the literal meaning in settings that an older version stored', () => {
      expect(deliverySettings({})).toStrictEqual(settings({ templates: 'OFF' }));
      expect(deliverySettings({ templates: 'ON', iosPriority: 5, queueHours: 2 })).toStrictEqual(
        settings({ templates: 'ON', iosPriority: 5, queueHours: 2 }),
      );
    });
  });

  test.each([
    ['ALL', null],
    ['PROVISIONAL', true],
    ['NON_PROVISIONAL', false],
  ] as const)('selects iPhones of %s by provisional permission: %s', (iosDevices, provisional) => {
    expect(iosProvisional(settings({ iosDevices }))).toBe(provisional);
  });

  test.each<[string, Partial<DeliverySettings>, number, number | null]>([
    ['as the providers take it', {}, 1_000, null],
    ['at the rate of the campaign', { devicesPerMinute: 600 }, 1_000, 600],
    ['which wins over a span', { devicesPerMinute: 600, spreadMinutes: 10 }, 1_000, 600],
    ['spread over a span', { spreadMinutes: 10 }, 1_000, 100],
    ['which is not exceeded', { spreadMinutes: 10 }, 1_001, 101],
    ['and never stands still', { spreadMinutes: 360 }, 0, 1],
  ])('makes a run go %s', (_how, ...[more, devices, perMinute]) => {
    expect(runDevicesPerMinute(settings(more), devices)).toBe(perMinute);
  });

  describe('a run', () => {
    const ttl = (ANDROID: number, IOS: number, WEB: number) => ({ ttlMinutes: { ANDROID, IOS, WEB } });

    test.each([
      ['as long as a message lives', ttl(120, 120, 120), 120],
      ['by Android', ttl(300, 120, 120), 300],
      ['by iPhones', ttl(120, 300, 120), 300],
      ['by browsers', ttl(120, 120, 300), 300],
      ['for an hour, though a message is not stored', ttl(0, 0, 0), 60],
      ['with its queue before that', { ...ttl(120, 0, 0), queueHours: 3 }, 300],
    ])('stops sending %s', (_how, more, lives) => expect(sendUntil(settings(more), at)).toEqual(after(lives)));

    test('has a queue that ends before its messages expire', () => {
      expect(queueUntil(settings(ttl(120, 0, 0)), after(500))).toBeNull();
      expect(queueUntil(settings({ ...ttl(120, 0, 0), queueHours: 3 }), after(500))).toEqual(after(380));
      const own = settings({ ...ttl(0, 0, 0), queueHours: 2 });
      expect(queueUntil(own, sendUntil(own, at))).toEqual(after(120));
    });
  });
});

const advise = (code: string, { platform = 'ANDROID' as Platform, outcome = 'REJECTED' } = {}) =>
  adviseOnFailure({ platform, outcome, code });
const unknown = 'Look up the code in the provider’s documentation; the delivery log has its complete response.';

describe('the advice for a failed delivery', () => {
  test.each([
    ['TEMPLATE_USER_ATTRIBUTE', 'ANDROID', /fallback/],
    ['TEMPLATE_', 'WEB', /fallback/],
    ['NOT_CONNECTED', 'ANDROID', /firewall/],
    ['HOST_NOT_FOUND', 'WEB', /DNS/],
    ['NO_CREDENTIAL', 'IOS', /carillon credentials set/],
    ['CAMPAIGN_CONTROL_GROUP', 'WEB', /^Nothing to do/],
    ['UNREGISTERED', 'ANDROID', /^Nothing to do/],
    ['SENDER_ID_MISMATCH', 'ANDROID', /Firebase project/],
    // By Huawei Push Kit, which Android has beside FCM.
    ['HMS_503', 'ANDROID', /Huawei/],
    // By FCM, which reaches all three.
    ['UNREGISTERED', 'WEB', /^Nothing to do/],
    ['BadDeviceToken', 'IOS', /sandbox/],
    ['PayloadTooLarge', 'IOS', /4 KB/],
    ['413', 'WEB', /4 KB/],
  ] as const)('exists for %s on %s', (code, platform, words) => {
    expect(advise(code, { platform })).toMatch(words);
  });

  test.each([
    ['BadDeviceToken', 'IOS'],
    ['DeviceTokenNotForTopic', 'IOS'],
    ['INVALID_ARGUMENT', 'ANDROID'],
    ['SENDER_ID_MISMATCH', 'ANDROID'],
    ['400', 'WEB'],
    ['401', 'WEB'],
    ['403', 'WEB'],
    ['HOST_NOT_FOUND', 'WEB'],
  ] as const)('explains for %s on %s when the device leaves the audience, not that it has left', (code, platform) => {
    expect(advise(code, { platform })).toMatch(/leaves the audience after 3 such sends over 72 hours/);
    expect(advise(code, { platform })).not.toMatch(/The devices are out/);
  });

  test.each([
    ['404', 'WEB'],
    ['410', 'WEB'],
    ['80100000', 'ANDROID'],
    ['80300007', 'ANDROID'],
  ] as const)(
    'asks nothing for a dropped device and explains one that was not dropped, for %s on %s',
    (code, platform) => {
      expect(advise(code, { platform, outcome: 'GONE' })).toMatch(/^Nothing to do/);
      expect(advise(code, { platform })).toMatch(/too few other devices were accepted to be sure/);
    },
  );

  test('does not call a key that Firebase lacks a wrong credential of the workspace', () => {
    expect(advise('THIRD_PARTY_AUTH_ERROR', { platform: 'IOS' })).toMatch(/upload a valid key in the Firebase console/);
  });

  test('follows the outcome if there is none for the code', () => {
    expect(advise('X', { outcome: 'GONE' })).toMatch(/^Nothing to do/);
    expect(advise('X', { outcome: 'EXPIRED' })).toMatch(/time to live/);
    expect(advise('X', { outcome: 'FAILED' })).toMatch(/^Eight attempts failed\. Duplicate/);
    expect(advise('X')).toBe(unknown);
  });

  test('follows the code before the outcome', () => {
    expect(advise('SENDER_ID_MISMATCH', { outcome: 'FAILED' })).toBe(advise('SENDER_ID_MISMATCH'));
  });

  test('ignores a code of another platform’s provider', () => {
    expect(advise('410', { platform: 'ANDROID' })).toBe(unknown);
    expect(advise('80300008', { platform: 'IOS' })).toBe(unknown);
    expect(advise('BadDeviceToken', { platform: 'WEB' })).toBe(unknown);
    expect(advise('MY_TEMPLATE_', { platform: 'WEB' })).toBe(unknown);
  });
});

const run = '65a1b2c3d4e5f60718293a4b';
const device = '75a1b2c3d4e5f60718293a4b';
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

describe('the identity of a message', () => {
  test('is the digest of its run and its device, as a UUID of version 8 and in 32 characters', () => {
    const digest = sha256(`${run}:${device}`);
    const { id, collapseId } = messageIdentity(run, device);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
    // Every digit is the digest's, but for the two that a UUID sets.
    const hex = digest.toString('hex');
    const own = `${hex.slice(0, 12)}8${hex.slice(13, 16)}a${hex.slice(17, 32)}`;
    expect(id.replaceAll('-', '')).toBe(own);
    expect(collapseId).toBe(digest.subarray(0, 24).toString('base64url'));
    expect(collapseId).toHaveLength(32);
  });

  test('is the same on every attempt, and different for another run or device', () => {
    const identity = messageIdentity(run, device);
    expect(messageIdentity(run, device)).toEqual(identity);
    for (const other of [messageIdentity(device, run), messageIdentity(run, run)]) {
      expect(other.id).not.toBe(identity.id);
      expect(other.collapseId).not.toBe(identity.collapseId);
    }
  });

  test('changes neither with the collapse key, which defines what replaces what in every run and on every device', () => {
    const keyed = messageIdentity(run, device, 'score');
    expect(keyed.id).toBe(messageIdentity(run, device).id);
    expect(keyed.collapseId).toBe(sha256('key:score').subarray(0, 24).toString('base64url'));
    expect(messageIdentity(device, run, 'score').collapseId).toBe(keyed.collapseId);
    expect(messageIdentity(run, device, '').collapseId).not.toBe(messageIdentity(run, device).collapseId);
  });
});

/** The words of a constraint of the schema. */
function wordsOf(pattern: RegExp): string[] {
  const found = pattern.exec(schema);
  if (!found) throw new Error(`no constraint like ${pattern.source}`);
  return [...found[1]!.matchAll(/'([A-Z_]+)'::text/g)].map(([, word]) => word!);
}

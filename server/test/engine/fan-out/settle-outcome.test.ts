import { expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import { maxDeliveryAttempts } from '../../../src/domain/limits/delivery.ts';
import type { DecidedOutcome } from '../../../src/providers/provider.ts';
import { retryOfUntried, settleAs, settleOutcome, settleUntried } from '../../../src/engine/fan-out/settle-outcome.ts';
import { makeRecordingGovernor } from '../governor/recording-governor.ts';
import type { AudienceDevice } from '../../../src/storage/campaigns/audience.ts';

const now = new Date('2026-03-01T12:00:00Z');
const later = (seconds: number): Date => new Date(now.getTime() + seconds * 1000);
const device: AudienceDevice = {
  ...{ bucket: 7, id: 'device', userId: 'user', pushId: 'address', appId: null },
  platform: 'IOS',
  provider: null,
  pushIdType: null,
};
const row = { bucket: 7, deviceId: 'device', userId: 'user', platform: 'IOS', providerMessageId: null, retryAt: null };
const account = { key: 'apns:TEAM', perMinute: undefined, throttledPerMinute: undefined };

type Settling = Parameters<typeof settleOutcome>[1];

/** What was told the governor, beside what becomes of the device. The draw is 0.5, and the message lives an hour. */
function settle(outcome: DecidedOutcome, more: Partial<Settling> = {}) {
  const { governor, told } = makeRecordingGovernor(later(120));
  const clock = makeManualClock(now);
  const result = settleOutcome(
    { clock, governor, random: () => 0.5 },
    {
      ...{ run: { sendUntil: later(3600) }, device, attempt: 3, account, outcome, acceptedCode: null },
      evidenceKey: undefined,
      credential: { provider: 'apns', appId: 'default', version: 'v1' },
      ...more,
    },
  );
  return { ...result, told };
}

test('an accepted message ends with the id that its provider gave it, or none', () => {
  expect(settle({ kind: 'accepted', providerMessageId: 'their-id' })).toEqual({
    delivery: { ...row, outcome: 'ACCEPTED', code: null, providerMessageId: 'their-id', attempts: 3 },
    told: [{ reported: 'apns:TEAM', kind: 'accepted' }],
  });
  expect(settle({ kind: 'accepted' }, { acceptedCode: 'FALLBACK_USER_ATTRIBUTE' }).delivery).toMatchObject({
    outcome: 'ACCEPTED',
    code: 'FALLBACK_USER_ATTRIBUTE',
    providerMessageId: null,
  });
});

test('a dead address ends the device, since when the provider says or now', () => {
  const goneSince = later(-86_400);
  expect(settle({ kind: 'gone', code: 'Unregistered', goneSince })).toEqual({
    delivery: { ...row, outcome: 'GONE', code: 'Unregistered', attempts: 3 },
    gone: { code: 'Unregistered', goneSince },
    told: [{ reported: 'apns:TEAM', kind: 'gone' }],
  });
  expect(settle({ kind: 'gone', code: '410' }).gone).toEqual({ code: '410', goneSince: now });
});

test('a refused message is not tried again', () => {
  expect(settle({ kind: 'rejected', code: 'PayloadTooLarge', detail: '' })).toEqual({
    delivery: { ...row, outcome: 'REJECTED', code: 'PayloadTooLarge', attempts: 3 },
    told: [{ reported: 'apns:TEAM', kind: 'rejected' }],
  });
});

test('a refused credential is no attempt of the device, which waits as long as its message lives', () => {
  expect(settle({ kind: 'stopped', code: 'InvalidProviderToken', detail: 'expired' })).toEqual({
    delivery: { ...row, outcome: 'WAITING', code: 'InvalidProviderToken', attempts: 2, retryAt: later(3600) },
    refused: {
      refusal: {
        ...{ provider: 'apns', appId: 'default', version: 'v1', platform: null, evidenceKey: null },
        words: 'InvalidProviderToken: expired',
      },
      by: 'the provider',
      reaches: 'others',
    },
    told: [{ reported: 'apns:TEAM', kind: 'stopped' }],
  });
});

test('without a connection nothing was tried: it waits until the account’s silence is over, and some seconds', () => {
  expect(settle({ kind: 'unreached', code: 'unreachable' })).toEqual({
    delivery: { ...row, outcome: 'WAITING', code: 'unreachable', attempts: 2, retryAt: later(122.5) },
    told: [{ unreached: 'apns:TEAM' }],
  });
  expect(settle({ kind: 'unreached', code: 'unreachable' }, { account: undefined })).toMatchObject({
    delivery: { outcome: 'WAITING', attempts: 2, retryAt: later(2.5) },
    told: [],
  });
});

test('what may be tried again waits, as an attempt, and is tried no ninth time (fault F5)', () => {
  const wait = { kind: 'wait', code: 'ServiceUnavailable', scope: 'device' } as const;
  const unknown = { kind: 'unknown', code: 'timeout' } as const;
  // The third attempt: between 10 and 80 seconds, and the draw is 0.5.
  expect(settle(wait)).toEqual({
    delivery: { ...row, outcome: 'WAITING', code: 'ServiceUnavailable', attempts: 3, retryAt: later(45) },
    told: [{ reported: 'apns:TEAM', kind: 'wait' }],
  });
  expect(settle(unknown).delivery).toMatchObject({ outcome: 'WAITING', code: 'timeout', retryAt: later(45) });
  expect(settle({ ...wait, retryAfterSeconds: 300 }).delivery.retryAt).toEqual(later(302.5));
  for (const outcome of [wait, unknown]) {
    expect(settle(outcome, { attempt: maxDeliveryAttempts - 1 }).delivery.outcome).toBe('WAITING');
    for (const attempt of [maxDeliveryAttempts, maxDeliveryAttempts + 1])
      expect(settle(outcome, { attempt }).delivery).toEqual({
        ...row,
        ...{ outcome: 'FAILED', code: outcome.code, attempts: attempt },
      });
  }
});

test('pauses the account that its provider told to wait, also after the last attempt of a device', () => {
  const wait = { kind: 'wait', code: 'HMS_503', scope: 'credential', retryAfterSeconds: 600 } as const;
  const { delivery, told } = settle(wait, { attempt: maxDeliveryAttempts });
  expect(delivery.outcome).toBe('FAILED');
  expect(told).toContainEqual({ silenced: 'apns:TEAM', until: later(602.5), reason: 'HMS_503' });
});

test('a wait for the whole credential silences its account for as long, and no other wait does', () => {
  const ofCredential = { kind: 'wait', code: 'TooManyRequests', scope: 'credential' } as const;
  // A minute more, as Google asks of whom it names no time (delivery 1).
  expect(settle(ofCredential)).toMatchObject({
    delivery: { outcome: 'WAITING', retryAt: later(105) },
    told: [
      { reported: 'apns:TEAM', kind: 'wait' },
      { silenced: 'apns:TEAM', until: later(105), reason: 'TooManyRequests' },
    ],
  });
  expect(settle(ofCredential, { account: undefined })).toMatchObject({
    delivery: { outcome: 'WAITING', retryAt: later(105) },
    told: [],
  });
});

test('what would be tried when the message is over ends at once', () => {
  const wait = { kind: 'wait', code: 'ServiceUnavailable', scope: 'device', retryAfterSeconds: 60 } as const;
  const until = (seconds: number) => settle(wait, { run: { sendUntil: later(seconds) } }).delivery;
  expect(until(62.501)).toMatchObject({ outcome: 'WAITING', retryAt: later(62.5) });
  expect(until(62.5)).toEqual({ ...row, outcome: 'EXPIRED', code: 'ServiceUnavailable', attempts: 3 });
});

test('what was not sent is not an attempt; it is tried within five seconds of when it may be, and never too late', () => {
  const attempt = { run: { sendUntil: later(100) }, device, attempt: 1 };
  const untried = (until: Date) => settleUntried(attempt, { code: 'PROVIDER_WAIT', until, random: 1 }).delivery;
  expect(untried(later(94))).toEqual({
    ...row,
    ...{ outcome: 'WAITING', code: 'PROVIDER_WAIT', attempts: 0, retryAt: later(99) },
  });
  expect(untried(later(95))).toEqual({ ...row, outcome: 'EXPIRED', code: 'PROVIDER_WAIT', attempts: 1 });
  expect(retryOfUntried(now, 0)).toEqual(now);
  expect(retryOfUntried(now, 1)).toEqual(later(5));
});

test('a result without more to say is of the attempt, and waits for nothing', () => {
  expect(settleAs({ device, attempt: 2 }, 'EXPIRED', 'TTL')).toEqual({
    delivery: { ...row, outcome: 'EXPIRED', code: 'TTL', attempts: 2 },
  });
});

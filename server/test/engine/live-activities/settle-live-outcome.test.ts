import { expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import { maxDeliveryAttempts } from '../../../src/domain/limits/delivery.ts';
import { makeRecordingGovernor } from '../governor/recording-governor.ts';
import { settleLiveOutcome } from '../../../src/engine/live-activities.ts';

const now = new Date('2026-03-01T12:00:00Z');
const later = (seconds: number): Date => new Date(now.getTime() + seconds * 1000);
const account = { key: 'apns:TEAM', perMinute: undefined, throttledPerMinute: undefined };

type Settling = Parameters<typeof settleLiveOutcome>[1];

/** Of the third attempt, with a draw of 0.5, of a message that lives an hour. */
function settle(outcome: Settling['outcome'], more: Partial<Settling> = {}) {
  const { governor, told } = makeRecordingGovernor(later(120));
  const message = { attempts: 3, sendUntil: later(3600) };
  const deps = { clock: makeManualClock(now), governor, random: () => 0.5 };
  return { settled: settleLiveOutcome(deps, { message, account, outcome, ...more }), told };
}

test('what Apple took, refused or knows no more is over, and its account is told', () => {
  expect(settle({ kind: 'accepted' })).toEqual({
    settled: { state: 'ACCEPTED', code: null },
    told: [{ reported: 'apns:TEAM', kind: 'accepted' }],
  });
  expect(settle({ kind: 'gone', code: 'Unregistered' })).toEqual({
    settled: { state: 'GONE', code: 'Unregistered' },
    told: [{ reported: 'apns:TEAM', kind: 'gone' }],
  });
  expect(settle({ kind: 'rejected', code: 'BadTopic', detail: '' })).toEqual({
    settled: { state: 'REJECTED', code: 'BadTopic' },
    told: [{ reported: 'apns:TEAM', kind: 'rejected' }],
  });
  expect(settle({ kind: 'accepted' }, { account: undefined }).told).toEqual([]);
});

test('what was not sent counts as no attempt, and is tried some seconds after it may be', () => {
  expect(settle({ kind: 'held', until: later(60) })).toEqual({
    settled: { state: 'WAITING', code: 'PROVIDER_WAIT', nextAt: later(62.5), attempts: 2 },
    told: [],
  });
  // Somebody may have mended the credential half a minute later.
  expect(settle({ kind: 'stopped', code: 'InvalidProviderToken', detail: '' })).toEqual({
    settled: { state: 'WAITING', code: 'InvalidProviderToken', nextAt: later(32.5), attempts: 2 },
    told: [{ reported: 'apns:TEAM', kind: 'stopped' }],
  });
  expect(settle({ kind: 'unreached', code: 'unreachable' })).toEqual({
    settled: { state: 'WAITING', code: 'unreachable', nextAt: later(122.5), attempts: 2 },
    told: [{ unreached: 'apns:TEAM' }],
  });
  expect(settle({ kind: 'unreached', code: 'unreachable' }, { account: undefined })).toEqual({
    settled: { state: 'WAITING', code: 'unreachable', nextAt: later(2.5), attempts: 2 },
    told: [],
  });
});

test('what may be tried again waits as a campaign’s does, up to as many attempts', () => {
  const wait = { kind: 'wait', code: 'ServiceUnavailable', scope: 'device' } as const;
  const unknown = { kind: 'unknown', code: 'timeout' } as const;
  // The third attempt: between 10 and 80 seconds, and the draw is 0.5.
  expect(settle(wait)).toEqual({
    settled: { state: 'WAITING', code: 'ServiceUnavailable', nextAt: later(45), attempts: 3 },
    told: [{ reported: 'apns:TEAM', kind: 'wait' }],
  });
  expect(settle(unknown).settled).toEqual({ state: 'WAITING', code: 'timeout', nextAt: later(45), attempts: 3 });
  expect(settle({ ...wait, retryAfterSeconds: 300 }).settled).toMatchObject({ nextAt: later(302.5) });
  for (const outcome of [wait, unknown]) {
    const message = { attempts: maxDeliveryAttempts, sendUntil: later(3600) };
    expect(settle(outcome, { message }).settled).toEqual({ state: 'FAILED', code: outcome.code });
    expect(settle(outcome, { message: { ...message, attempts: message.attempts - 1 } }).settled.state).toBe('WAITING');
  }
});

test('pauses the account that Apple told to wait, also after the last attempt', () => {
  const wait = { kind: 'wait', code: 'TooManyRequests', scope: 'credential', retryAfterSeconds: 600 } as const;
  const message = { attempts: maxDeliveryAttempts, sendUntil: later(3600) };
  const { settled, told } = settle(wait, { message });
  expect(settled).toEqual({ state: 'FAILED', code: 'TooManyRequests' });
  expect(told).toContainEqual({ silenced: 'apns:TEAM', until: later(602.5), reason: 'TooManyRequests' });
});

test('a wait for all of the account silences it, and no other wait does', () => {
  const ofAccount = { kind: 'wait', code: 'TooManyRequests', scope: 'credential' } as const;
  expect(settle(ofAccount)).toEqual({
    settled: { state: 'WAITING', code: 'TooManyRequests', nextAt: later(105), attempts: 3 },
    told: [
      { reported: 'apns:TEAM', kind: 'wait' },
      { silenced: 'apns:TEAM', until: later(105), reason: 'TooManyRequests' },
    ],
  });
  expect(settle(ofAccount, { account: undefined }).told).toEqual([]);
});

test('what would be sent when its time is over is over now', () => {
  const at = (seconds: number) =>
    settle({ kind: 'held', until: later(60) }, { message: { attempts: 1, sendUntil: later(seconds) } }).settled;
  expect(at(62.5)).toEqual({ state: 'EXPIRED', code: 'PROVIDER_WAIT' });
  expect(at(62.501)).toEqual({ state: 'WAITING', code: 'PROVIDER_WAIT', nextAt: later(62.5), attempts: 0 });
});

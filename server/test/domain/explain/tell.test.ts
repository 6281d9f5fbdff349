import { describe, expect, test } from 'vitest';
import { steps, describeDelivery, describeNoRun, describeRun } from '../../../src/domain/explain.ts';
import type { DeviceExplanation, Step } from '../../../src/domain/explain.ts';

const at = new Date('2026-03-01T09:00:05Z');
const until = new Date('2026-03-01T10:00:00Z');
const explained = (step: Step, more: Partial<DeviceExplanation> = {}): DeviceExplanation => ({
  ...{ deviceId: 'phone', platform: 'ANDROID', step, code: null, attempts: 0, at: null, until: null },
  suspicion: null,
  ...{ variation: null, locale: null, ...more },
});
const run = (step: Step, reason: string | null, devices: DeviceExplanation[]) =>
  describeRun({ runId: 'r', runStatus: 'SENT', step, reason, devices });

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
      'The message was given up after its attempts (HOST_NOT_FOUND). The device is suspected: 1 send since 2026-03-01T09:00:05.000Z failed like a dead address (HOST_NOT_FOUND). It leaves the audience after 3 such sends over 72 hours; to prevent that, press Keep on the user’s page or run carillon devices keep d5.',
      explained('FAILED', {
        code: 'HOST_NOT_FOUND',
        suspicion: { ...strikes, code: 'HOST_NOT_FOUND', sends: 1, hasLeft: false },
      }),
    ],
  ])('has its suspicion and how to undo it: %s', (sentence, device) => expect(describeDelivery(device)).toBe(sentence));

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
  expect(run('RUN_FAILED', null, [])).toBe('The run failed before it reached anybody.');
  expect(run('RUN_FAILED', 'no audience', [explained('GONE')])).toBe(
    'The run failed before it reached anybody: no audience.',
  );
});

test('describes a user without a run by the newest event that started one', () => {
  expect(describeNoRun(undefined)).toBe('The campaign has no run: it has not been sent yet, or too long ago.');
  expect(describeNoRun([])).toBe('No event of the person has started the campaign.');
  const trigger = { eventName: 'Bought', occurredAt: at, receivedAt: at, dueAt: until, reason: null, runId: null };
  const [newest, older] = [
    { ...trigger, state: 'WAITING' as const },
    { ...trigger, state: 'SENT' as const, runId: 'r' },
  ];
  expect(describeNoRun([newest, older])).toBe(
    '"Bought" at 2026-03-01T09:00:05.000Z is due at 2026-03-01T10:00:00.000Z.',
  );
});

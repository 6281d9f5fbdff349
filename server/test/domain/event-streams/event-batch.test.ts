import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { eventBatchRetrySeconds } from '../../../src/domain/limits/delivery.ts';
import { eventUuid, writeEventBatch } from '../../../src/domain/events/event-streams.ts';
import type { StreamedEvent, BatchFacts, BatchToWrite } from '../../../src/domain/events/event-streams.ts';

const device = {
  ...{ userId: 'u2', platform: 'ANDROID', device_id: 'd', app_id: null, model: 'M', app_version: '1' },
  ...{ os_version: '14', locale: null, push_id: 'token' },
};
const facts: BatchFacts = {
  campaignOfRun: new Map([['run', { id: 'c', name: 'Spring', type: 'ONE_TIME', channel: 'PUSH' }]]),
  users: new Map([
    ['u1', { customerId: 'ada', attributes: { plan: 'gold', none: null } }],
    ['u2', { customerId: 'olga', attributes: {} }],
  ]),
  devices: new Map([['d1', device]]),
};
const event: StreamedEvent = {
  ...{ kind: 'clicked', uuid: 'e1', runId: 'run', bucket: 7, userId: 'u1', deviceId: 'd1', platform: 'ANDROID' },
  at: '2026-03-01T12:00:00.900Z',
};
const batch: BatchToWrite = {
  ...{ id: 'b1', appName: 'Shop', userAttributes: [], deviceAttributes: [], events: [], abbreviation: 'Svc' },
};

type Written = { events: Record<string, unknown>[] } & Record<string, unknown>;
const write = (change: Partial<BatchToWrite>) => JSON.parse(writeEventBatch({ ...batch, ...change }, facts)) as Written;
const written = (change: Partial<StreamedEvent>, more: Partial<BatchToWrite> = {}) =>
  write({ ...more, events: [{ ...event, ...change }] }).events[0]!;

describe('a batch of events (fact 7)', () => {
  test('names its app, and contains each event with its campaign and user', () => {
    expect(write({ events: [event, event] })).toMatchObject({
      ...{ app_name: 'Shop', source: 'CARILLON', svc_request_id: 'b1', events: { length: 2 } },
    });
    expect(written({})).toEqual({
      ...{ event_name: 'NOTIFICATION_CLICKED_SVC', event_code: 'NOTIFICATION_CLICKED_SVC', event_uuid: 'e1' },
      ...{ event_time: 1_772_366_400, event_type: 'USER_ACTION_EVENT', event_source: 'CARILLON' },
      ...{ push_id: null, uid: 'ada', user_attributes: {}, device_attributes: {} },
      event_attributes: {
        ...{ campaign_id: 'c', campaign_name: 'Spring', campaign_type: 'ONE_TIME', campaign_channel: 'PUSH' },
        execution_id: 'run',
      },
    });
  });

  test.each<[StreamedEvent['kind'], StreamedEvent['platform'], string]>([
    ['delivered', 'ANDROID', 'NOTIFICATION_RECEIVED_SVC'],
    ['delivered', 'IOS', 'n_i_s'],
    ['delivered', 'WEB', 'NOTIFICATION_RECEIVED_WEB_SVC'],
    ['clicked', 'ANDROID', 'NOTIFICATION_CLICKED_SVC'],
    ['clicked', 'IOS', 'NOTIFICATION_CLICKED_IOS_SVC'],
    ['clicked', 'WEB', 'NOTIFICATION_CLICKED_WEB_SVC'],
    ['cleared', 'ANDROID', 'NOTIFICATION_CLEARED_SVC'],
    ['cleared', 'IOS', 'NOTIFICATION_CLEARED_IOS_SVC'],
    ['control_group', null, 'SVC_CAMPAIGN_CONTROL_GROUP'],
  ])('names %s on %s %s', (kind, platform, code) => {
    const byUser = kind === 'clicked' || kind === 'cleared';
    expect(written({ kind, platform })).toMatchObject({
      ...{ event_name: code, event_code: code, event_type: byUser ? 'USER_ACTION_EVENT' : 'CAMPAIGN_EVENT' },
    });
  });

  test('spells the installation’s abbreviation', () => {
    const own = write({ abbreviation: 'Acme', events: [event] });
    expect(own.acme_request_id).toBe('b1');
    expect(own.events[0]!.event_name).toBe('NOTIFICATION_CLICKED_ACME');
  });

  test('names the content if there were several', () => {
    const told = { variation: 'B', locale: 'de', action: 'track', controlGroup: 'CAMPAIGN_CONTROL_GROUP' } as const;
    expect(written(told).event_attributes).toMatchObject({
      ...{ variation: 'B', locale: 'de', action: 'track', control_group: 'CAMPAIGN_CONTROL_GROUP' },
    });
    expect(Object.keys(written({}).event_attributes as object)).toHaveLength(5);
  });

  test('contains the requested attributes, as far as they exist', () => {
    const asked = { userAttributes: ['plan', 'none', 'gone', 'toString'] };
    expect(written({}, asked).user_attributes).toEqual({ plan: 'gold', none: null });
    const names = ['model', 'locale', 'push_id', 'device_id'] as const;
    expect(written({}, { deviceAttributes: names })).toMatchObject({
      ...{ push_id: 'token', device_attributes: { model: 'M', device_id: 'd' } },
    });
    expect(written({}, { deviceAttributes: names }).device_attributes).not.toHaveProperty('push_id');
    expect(written({}, { deviceAttributes: ['model'] }).push_id).toBeNull();
  });

  test('names no erased user, and the user of the device if the event has none', () => {
    expect(written({ userId: null }).uid).toBe('olga');
    const erased = { userId: 'gone', deviceId: 'gone', runId: 'gone' };
    expect(written(erased, { userAttributes: ['plan'], deviceAttributes: ['push_id', 'model'] })).toMatchObject({
      ...{ uid: null, push_id: null, user_attributes: {}, device_attributes: {} },
      event_attributes: {
        ...{ campaign_id: null, campaign_name: null, campaign_type: null, campaign_channel: null },
        execution_id: 'gone',
      },
    });
    expect(written({ userId: null, deviceId: null }).uid).toBeNull();
  });
});

test('retries a rejected batch three times, after 30, 60 and 120 seconds (fact 7)', () => {
  expect([...eventBatchRetrySeconds]).toEqual([30, 60, 120]);
});

test('gives an event the same id everywhere, a UUID of version 8 derived from its content (RFC 9562 §5.8)', () => {
  const hex = createHash('sha256').update('["clicked","r","d"]').digest('hex');
  const uuid = eventUuid(['clicked', 'r', 'd']);
  expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const plain = uuid.replaceAll('-', '');
  // Beside the six bits of version and variant, the first 128 of the digest.
  expect([0, 13, 17].map((place) => plain.slice(place, place === 0 ? 12 : place === 13 ? 16 : 32))).toEqual([
    ...[hex.slice(0, 12), hex.slice(13, 16), hex.slice(17, 32)],
  ]);
  const variant = Number.parseInt(hex[16]!, 16);
  expect(Number.parseInt(plain[16]!, 16)).toBe((variant % 4) + 8);
  expect(eventUuid(['clicked', 'rd'])).not.toBe(eventUuid(['clickedr', 'd']));
});

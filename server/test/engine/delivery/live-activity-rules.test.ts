import { expect, test } from 'vitest';
import { checkLiveActivity } from '../../../src/providers/apns/simulator.ts';
import { writeLivePayload } from '../../../src/domain/events/live-activities.ts';

const headers = { 'apns-topic': 'com.example.shop.push-type.liveactivity', 'apns-priority': '10' };
const update = { timestamp: 1_790_000_000, event: 'update', 'content-state': { step: 2 } };
const start = {
  ...{ ...update, event: 'start', 'attributes-type': 'OrderAttributes', attributes: { order: '17' } },
  alert: { title: 'Order 17', body: 'On its way' },
};
const reasonOf = (aps: object, { more = {}, beside = {} } = {}) =>
  checkLiveActivity({ aps, ...beside }, { ...headers, ...more });
const without = (aps: Record<string, unknown>, name: string) => {
  const { [name]: _left, ...rest } = aps;
  return rest;
};

test('what the server writes is taken', () => {
  const event = { kind: 'update', contentState: { step: 2 }, staleDate: 1_790_003_600, priority: 5 } as const;
  expect(checkLiveActivity(JSON.parse(writeLivePayload(event, 1_790_000_000)), headers)).toBeUndefined();
  const { attributes, alert } = start;
  const begin = { ...event, kind: 'start', attributesType: 'OrderAttributes', attributes, alert } as const;
  expect(checkLiveActivity(JSON.parse(writeLivePayload(begin, 1_790_000_000)), headers)).toBeUndefined();
  expect(reasonOf({ ...update, event: 'end', 'dismissal-date': 1_790_003_600 })).toBeUndefined();
});

test.each<[string, { aps: object; more?: object; beside?: object }, string]>([
  ['an update without a time', { aps: without(update, 'timestamp') }, 'BadMessage'],
  ['an update without a state', { aps: without(update, 'content-state') }, 'BadMessage'],
  ['a start without a type', { aps: without(start, 'attributes-type') }, 'BadMessage'],
  ['a start without attributes', { aps: without(start, 'attributes') }, 'BadMessage'],
  ['a start without an alert', { aps: without(start, 'alert') }, 'BadMessage'],
  ['an update with attributes', { aps: { ...update, attributes: {} } }, 'BadMessage'],
  ['an event that there is not', { aps: { ...update, event: 'stop' } }, 'BadMessage'],
  ['milliseconds', { aps: { ...update, timestamp: 1_790_000_000_000 } }, 'BadMessage'],
  ['a member of another kind of push', { aps: { ...update, badge: 1 } }, 'BadMessage'],
  ['a member beside aps', { aps: update, beside: { svc: {} } }, 'BadMessage'],
  ['the topic of the app', { aps: update, more: { 'apns-topic': 'com.example.shop' } }, 'BadTopic'],
  ['a priority of 1', { aps: update, more: { 'apns-priority': '1' } }, 'BadPriority'],
])('%s is refused', (_, { aps, ...more }, reason) => {
  expect(reasonOf(aps, more)).toBe(reason);
});

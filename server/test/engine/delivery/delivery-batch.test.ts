import { expect, test } from 'vitest';
import { makeSingleBatch, escapeText, isLeft, ownMarks } from '../../../src/providers/batch.ts';
import type { DeliveryRequest, Outcome } from '../../../src/providers/provider.ts';
import { makeMessage } from './make-message.ts';

test('each message of a batch goes to its own device, and its outcome is told by its place', async () => {
  const asked: DeliveryRequest[] = [];
  const told: unknown[] = [];
  const broken = new Error('cannot be made');
  const lost = new Error('cannot be sent');
  const outcome: Outcome = { kind: 'accepted' };
  const credentials = { fcm: { projectId: 'shop' } } as never;
  const devices = ['a', 'b', 'c', 'd'].map((pushId, number) => ({
    ...{ id: `device-${number}`, platform: 'ANDROID', provider: 'fcm', pushId, bucket: 7 },
    pushIdType: number === 0 ? ('fid' as const) : null,
  }));
  const send = makeSingleBatch(async (request) => {
    asked.push(request);
    if (request.device.pushId === 'c') throw lost;
    return outcome;
  })({
    ...{ credentials, devices: devices as never, pace: 'promptly' },
    messageOf(place) {
      if (place === 1) throw broken;
      return makeMessage('ANDROID', String(place));
    },
    onOutcome: (place, known) => told.push([place, known]),
    onFault: (place, error) => told.push([place, error]),
  });
  for (const place of [3, 1, 2, 0]) send(place);
  await new Promise(setImmediate);
  expect(told).toHaveLength(4);
  expect(told).toEqual(
    expect.arrayContaining([
      [3, outcome],
      [1, broken],
      [2, lost],
      [0, outcome],
    ]),
  );
  expect(asked.map(({ device }) => device)).toEqual([
    { deviceId: 'device-3', platform: 'ANDROID', provider: 'fcm', pushId: 'd', pushIdType: null },
    { deviceId: 'device-2', platform: 'ANDROID', provider: 'fcm', pushId: 'c', pushIdType: null },
    { deviceId: 'device-0', platform: 'ANDROID', provider: 'fcm', pushId: 'a', pushIdType: 'fid' },
  ]);
  expect(asked.map(({ message }) => message)).toEqual(['3', '2', '0'].map((id) => makeMessage('ANDROID', id)));
  expect(asked.every((request) => request.credentials === credentials)).toBe(true);
});

test('a text within JSON within JSON is read back by as many readings', () => {
  const text = 'a "quote"\n\\ é😀';
  let written = escapeText(text, 2);
  for (let depth = 2; depth >= 0; depth -= 1) {
    expect(written).toBe(escapeText(text, depth));
    written = JSON.parse(`"${written}"`) as string;
  }
  expect(written).toBe(text);
});

test('a mark is known by each of its ends, is written as JSON writes it, and no two are alike', () => {
  const marks = ownMarks(3);
  expect(marks).toHaveLength(3);
  expect(ownMarks(0)).toEqual([]);
  expect(new Set(marks.flatMap(({ ends }) => ends)).size).toBe(6);
  for (const { text, ends, written } of marks) {
    expect(written).toEqual([0, 1, 2].map((depth) => escapeText(text, depth)));
    expect(JSON.stringify({ deep: JSON.stringify({ text }) })).toContain(written[1]);
    for (const end of ends) {
      expect(text).toContain(end);
      expect(isLeft(`x${end}y`, marks)).toBe(true);
      expect(isLeft(Buffer.from(`x${end}y`), marks)).toBe(true);
    }
    // Whatever trims, unescapes, encodes or cleans a text changes one.
    for (const change of [
      encodeURIComponent,
      decodeURIComponent,
      (of: string) => of.trim(),
      (of: string) => of.replaceAll(/<[^>]*>/g, ''),
    ])
      expect(change(text)).not.toBe(text);
  }
  expect(isLeft('nothing of them', marks)).toBe(false);
  expect(isLeft(marks[0]!.ends[0], ownMarks(1))).toBe(false);
});

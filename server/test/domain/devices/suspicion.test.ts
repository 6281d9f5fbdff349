import { describe, expect, test } from 'vitest';
import { isDroppedSuspect, nextSuspicion, describeSuspicion } from '../../../src/domain/users/devices.ts';

const since = new Date('2026-03-01T12:00:00Z');
const after = (hours: number) => new Date(since.getTime() + hours * 3_600_000);
const first = { code: 'BadDeviceToken', sends: 1, since, lastAt: since };

describe('a suspicion', () => {
  test('starts with its first strike and counts each send', () => {
    expect(nextSuspicion(undefined, { code: 'BadDeviceToken', at: since })).toEqual(first);
    expect(nextSuspicion(first, { code: 'INVALID_ARGUMENT', at: after(1) })).toEqual({
      ...{ code: 'INVALID_ARGUMENT', sends: 2, since, lastAt: after(1) },
    });
  });

  test('counts an unknown host once a day', () => {
    const host = { ...first, code: 'HOST_NOT_FOUND' };
    expect(nextSuspicion(host, { code: 'HOST_NOT_FOUND', at: after(23.9) })).toBe(host);
    expect(nextSuspicion(host, { code: 'HOST_NOT_FOUND', at: after(24) })).toMatchObject({ sends: 2 });
  });

  test.each([
    [2, 100, false],
    [3, 71.9, false],
    [3, 72, true],
    [40, 72, true],
  ])('removes the device after %i sends over %d hours: %s', (sends, hours, isOut) => {
    expect(isDroppedSuspect({ ...first, sends, lastAt: after(hours) })).toBe(isOut);
  });
});

describe('the description of a suspicion', () => {
  const enough = { ...first, sends: 3, lastAt: after(72) };
  const active = { state: 'ACTIVE', isRecovered: false } as const;
  const gone = { state: 'GONE', isRecovered: false } as const;
  test.each([
    { what: 'that a device may leave', suspicion: first, device: active, told: { ...first, hasLeft: false } },
    {
      ...{ what: 'that it has left', suspicion: enough, device: gone },
      told: { ...enough, hasLeft: true },
    },
    {
      ...{ what: 'nothing after a message was accepted', suspicion: first, device: { ...active, isRecovered: true } },
      told: null,
    },
    {
      ...{ what: 'nothing if the provider called it dead', suspicion: first, device: gone },
      told: null,
    },
  ] as const)('exists for $what', ({ suspicion, device, told }) => {
    expect(describeSuspicion(suspicion, device)).toEqual(told);
  });
});

import { expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import type { LaneOwner } from '../../../src/providers/http2/transport.ts';
import { makeLaneBatch } from '../../../src/providers/lane-batch.ts';
import type { LaneBatchOptions } from '../../../src/providers/lane-batch.ts';
import { makeMessage } from './delivery-bundle.ts';

const origin = 'https://push.example';

const away = { kind: 'failure', certainty: 'unsent', reason: 'unreachable', detail: 'away' } as const;

test.each(['at once', 'later'])(
  'that there is no connection, told %s, is each message’s outcome once, also of one sent by who hears it',
  async (when) => {
    const told: string[] = [];
    const sent: string[] = [];
    let owner: LaneOwner | undefined;
    let isOpen = false;
    const batch = makeLaneBatch({
      clock: makeManualClock(new Date('2026-03-01T12:00:00Z')),
      transport: {
        openLane(_target: object, of: LaneOwner) {
          owner = of;
          return {
            send({ path, ticket }: { path: string; ticket: number }) {
              if (!isOpen && when === 'at once') of.onUnreachable(away);
              if (!isOpen) return false;
              sent.push(path);
              queueMicrotask(() => of.onAnswer(ticket, { kind: 'answer', status: 200, headers: {}, body: '' }));
              return true;
            },
          };
        },
      },
      provider: {
        access: { find: async () => ({ target: { key: 'k', origin }, authorization: 'x' }), isRefused: () => false },
        plan: ({ device }: { device: { pushId: string } }) => ({
          plan: { origin, path: `/${device.pushId}`, headers: {}, body: Buffer.from('{}') },
        }),
        classify: ({ kind }: { kind: string }) => (kind === 'answer' ? { kind: 'accepted' } : { kind: 'unreached' }),
        reads: 'bodies',
        addressOf: (pushId: string) => pushId,
      },
      batch: {
        devices: ['0', '1', '2'].map((pushId) => ({ id: pushId, platform: 'ANDROID', provider: null, pushId })),
        messageOf: (place: number) => makeMessage('ANDROID', String(place)),
        onOutcome(place: number, { kind }: { kind: string }) {
          told.push(`${place} ${kind}`);
          if (place === 0) batch(1);
        },
      },
    } as unknown as LaneBatchOptions<object>);

    batch(0);
    await expect.poll(() => owner).toBeDefined();
    await Promise.resolve();
    if (when === 'later') owner!.onUnreachable(away);
    expect(told).toEqual(['0 unreached', '1 unreached']);
    isOpen = true;
    batch(2);
    await expect.poll(() => told).toEqual(['0 unreached', '1 unreached', '2 accepted']);
    expect(sent).toEqual(['/2']);
  },
);

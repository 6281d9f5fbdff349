import type { Platform } from '../../../server/src/domain/content/content.ts';
import { fcmMessagesPerMinute } from '../../../server/src/domain/limits/delivery.ts';
import { drawFromBudget, newSendBudget } from '../../../server/src/domain/delivery/send-budget.ts';
import { defaultSessionsPerTarget } from '../../../server/src/providers/http2/transport.ts';
import { usualStreams } from '../../../server/src/providers/simulator/listen-http2.ts';
import { accountBudget } from '../../../server/src/engine/governor/governor.ts';
import type { ClusterValues } from './cluster-values.ts';
import type { EventQueue } from './event-queue.ts';
import type { Scenario } from './scenario.ts';
import { makeStation } from './stations.ts';
import type { Station } from './stations.ts';

/** A provider's account, which all nodes share. */
export type Account = {
  platform: Platform;
  /** Undefined if the provider has no limit. */
  perMinute: number | undefined;
  /** Draws the wanted messages from the provider's budget, or as many as are available. */
  draw(draw: { wanted: number; returned: number; reserve: number }): number;
  /** Returns how many messages the provider would have accepted by now; must be called at least once a second. */
  offered(): number;
  /** Serialises leases, because the budget's row is locked. */
  lock: Station;
  streams: number;
  messages: number;
  busyStreamMilliseconds: number;
};

// An arbitrary reference for the budgets' instants.
const beginsAt = Date.UTC(2026, 0, 1);

export function makeAccount(
  { queue, scenario, values }: { queue: EventQueue; scenario: Scenario; values: ClusterValues },
  platform: Platform,
): Account {
  const perMinute = perMinuteOf(scenario, platform);
  let budget = newSendBudget(new Date(beginsAt));
  /** A budget that is always emptied, from the first message on. */
  let emptied: typeof budget | undefined;
  let offered = 0;
  const take = (from: typeof budget, draw: { wanted: number; returned: number; reserve: number }) =>
    drawFromBudget(from, { perMinute: perMinute!, ...accountBudget, ...draw, at: new Date(beginsAt + queue.now()) });
  return {
    platform,
    perMinute,
    draw(draw) {
      emptied ??= budget;
      const drawn = take(budget, draw);
      ({ budget } = drawn);
      return drawn.granted;
    },
    offered() {
      if (!emptied) return 0;
      const drawn = take(emptied, { wanted: Number.MAX_SAFE_INTEGER, returned: 0, reserve: 0 });
      emptied = drawn.budget;
      offered += drawn.granted;
      return offered;
    },
    lock: makeStation(queue, { name: `${platform}: budget`, servers: 1 }),
    streams: defaultSessionsPerTarget * (scenario.providers === 'simulated' ? usualStreams : values.streams[platform]),
    messages: 0,
    busyStreamMilliseconds: 0,
  };
}

function perMinuteOf({ providers, perMinute }: Scenario, platform: Platform): number | undefined {
  if (providers !== 'real') return undefined;
  return perMinute[platform] ?? (platform === 'ANDROID' ? fcmMessagesPerMinute : undefined);
}

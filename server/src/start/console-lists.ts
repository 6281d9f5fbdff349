import { makeConsoleCalls } from '../app/console/console-calls.ts';
import { makeConsoleDeliveries } from '../app/console/console-deliveries.ts';
import { makeConsoleUsers } from '../app/console/console-users.ts';
import { preferStandby } from '../app/console/prefer-standby.ts';
import { makeStandbyHealth } from '../app/console/standby-health.ts';
import { startJob } from '../engine/job.ts';
import type { Composition } from './composition.ts';
import { makeWatchStandby } from './watch-standby.ts';

/** What is as long as the ledger, the log of calls or the list of people; by the standby where there is one that keeps up. */
export function makeConsoleLists({ config, clock, log, installation, started }: Composition) {
  const { headerPrefix, erasureDelayHours } = config;
  const { callDatabase, acrossWorkspaces, standby } = installation;
  const deliveries = makeConsoleDeliveries({ database: callDatabase, clock });
  const calls = makeConsoleCalls({ database: callDatabase, acrossWorkspaces, headerPrefix });
  const users = makeConsoleUsers({ database: callDatabase, clock, erasureDelayHours });
  if (!standby) return { deliveries, calls, users };
  const health = makeStandbyHealth();
  started.push(startJob(makeWatchStandby({ standby, health, log }), { clock, log }));
  const there = { database: standby, clock };
  const callsThere = { ...there, acrossWorkspaces: standby.acrossWorkspaces(), headerPrefix };
  return {
    deliveries: preferStandby({
      ...{ health, primary: deliveries, standby: makeConsoleDeliveries(there), names: ['list', 'read'] },
    }),
    calls: preferStandby({ health, primary: calls, standby: makeConsoleCalls(callsThere), names: ['list', 'read'] }),
    users: preferStandby({
      ...{ health, primary: users, standby: makeConsoleUsers({ ...there, erasureDelayHours }) },
      names: ['search', 'listTimeline'],
    }),
  };
}

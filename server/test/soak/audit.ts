import type { SoakBundle } from './bundle.ts';

export type SoakAudit = { numbers: Record<string, number | string>; broken: string[] };

/**
 * Everything that was accepted was done: each push that was sent once has ended SENT, users who are always there have
 * their message, no occurrence is missed, and what providers accepted is what is counted.
 */
export async function auditSoak({ database, callNode }: SoakBundle, ledger: Ledger): Promise<SoakAudit> {
  const onceIds = [...ledger.once, ...ledger.toSteadyUsers.keys()];
  const statuses = await database<{ status: string; campaigns: number }[]>`
    select coalesce(campaigns.status, 'LOST') as status, count(*) as campaigns
    from unnest(${onceIds}::text[]) as accepted (id) left join campaigns on campaigns.id = accepted.id
    group by 1`;
  const runs = await database<{ status: string; reason: string | null; runs: number }[]>`
    select status, status_reason as reason, count(*) as runs from runs group by 1, 2`;
  const [unreached] = await database<{ campaigns: number }[]>`
    select count(*) as campaigns
    from unnest(${[...ledger.toSteadyUsers.keys()]}::text[], ${[...ledger.toSteadyUsers.values()]}::text[])
      as accepted (campaign_id, customer_id)
    where not exists (
      select 1 from runs
      join readable_deliveries as deliveries on deliveries.run_id = runs.id and deliveries.day = runs.day and deliveries.outcome = 'ACCEPTED'
      join users on users.workspace_id = deliveries.workspace_id and users.bucket = deliveries.bucket
        and users.id = deliveries.user_id
      where runs.campaign_id = accepted.campaign_id and users.customer_id = accepted.customer_id)`;
  const outcomes = await database<{ outcome: string; devices: number }[]>`
    select outcome, sum(devices)::bigint as devices from run_counts group by 1`;
  const refusedSteady = await database<{ outcome: string; code: string | null; devices: number }[]>`
    select outcome, code, count(*) as devices from readable_deliveries as deliveries
    join users on users.workspace_id = deliveries.workspace_id and users.bucket = deliveries.bucket
      and users.id = deliveries.user_id
    where users.customer_id like 'demo-user-%' and outcome <> 'ACCEPTED'
    group by 1, 2`;
  const counters = await callNode({ kind: 'counters', method: 'GET', path: '/sandbox/counters', expected: [200] });
  const providers = Object.values((counters?.json() ?? {}) as Record<string, { accepted: number }>);
  const taken = providers.reduce((sum, { accepted }) => sum + accepted, 0);
  const counted = outcomes.find(({ outcome }) => outcome === 'ACCEPTED')?.devices ?? 0;
  const operations = await database<{ state: string; operations: number }[]>`
    select state, count(*) as operations from segment_operations group by 1`;
  const done = operations.reduce((sum, row) => sum + row.operations, 0);

  return {
    numbers: {
      'pushes accepted': onceIds.length + ledger.periodic.size,
      campaigns: statuses.map(({ status, campaigns }) => `${status} ${campaigns}`).join(', '),
      runs: runs
        .map(({ status, reason, runs: count }) => `${status}${reason ? ` (${reason})` : ''} ${count}`)
        .join(', '),
      outcomes: outcomes.map(({ outcome, devices }) => `${outcome} ${devices}`).join(', '),
      'taken by providers': taken,
      'segment operations': operations.map(({ state, operations: count }) => `${state} ${count}`).join(', '),
    },
    broken: [
      ...statuses.filter(({ status }) => status !== 'SENT').map((row) => `${row.campaigns} pushes are ${row.status}`),
      ...runs
        .filter(({ status }) => status !== 'SENT')
        .map((row) => `${row.runs} runs are ${row.status} (${row.reason})`),
      ...(unreached!.campaigns === 0 ? [] : [`${unreached!.campaigns} named users have not got their message`]),
      ...refusedSteady.map((row) => `${row.devices} messages to good devices are ${row.outcome} (${row.code})`),
      // An answer that was cut off is asked for again, so a provider may have taken more than is counted.
      ...(taken >= counted ? [] : [`${counted} messages are counted as accepted, providers took ${taken}`]),
      ...(done === ledger.segmentOperations ? [] : [`${ledger.segmentOperations} operations accepted, ${done} known`]),
    ],
  };
}

/** What the node said it accepted, to be looked for at the end. */
export type Ledger = {
  /** Pushes to a user who is always there: campaign id → customer id. */
  toSteadyUsers: Map<string, string>;
  /** Pushes that are sent once, to whomever. */
  once: Set<string>;
  periodic: Set<string>;
  /** Segments by the name, with the operations that were accepted. */
  segmentOperations: number;
};

export function makeLedger(): Ledger {
  return { toSteadyUsers: new Map(), once: new Set(), periodic: new Set(), segmentOperations: 0 };
}

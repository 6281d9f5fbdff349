/** A defect of the product, as a change of one text in one file, and the seed whose history shows it. */
export type Defect = {
  name: string;
  /** Below server/src. */
  file: string;
  find: string;
  replace: string;
  world: 'faults' | 'calls';
  /** Seeds that are played one after the other until the checker finds the rule broken. */
  seeds: readonly number[];
  /** The rule of the checker that has to be broken. */
  rule: string;
  /** Of a defect that the auditor of the simulation finds, what it says; the checker knows no scopes. */
  said?: string;
};

/** The checker must find each of them in the history of one of its seeds (`npm run check:defects`). */
export const defects: readonly Defect[] = [
  {
    name: 'lost update: a name is taken twice',
    file: 'storage/campaigns/campaigns.ts',
    find: 'on conflict (workspace_id, name) do nothing\n',
    replace: 'on conflict (workspace_id, name) do update set campaign_id = excluded.campaign_id\n',
    ...{ world: 'calls', seeds: [2, 1, 3], rule: 'name' },
  },
  {
    name: 'double identity: a repeat has another message id',
    file: 'domain/content/message.ts',
    find: '`${runId}:${deviceId}`',
    replace: '`${runId}:${deviceId}:${Math.random()}`',
    ...{ world: 'faults', seeds: [1, 2], rule: 'identity' },
  },
  {
    name: 'wrong count: a counter is replaced, not increased',
    file: 'storage/ledger/deliveries.ts',
    find: 'set devices = run_counts.devices + excluded.devices',
    replace: 'set devices = excluded.devices',
    ...{ world: 'faults', seeds: [1, 2], rule: 'count' },
  },
  {
    name: 'skipped count: devices that wait are not counted',
    file: 'storage/ledger/deliveries.ts',
    find: '  if (changes.length === 0) return;\n  await tx`\n    insert into run_counts',
    replace:
      "  changes = changes.filter(({ outcome }) => outcome !== 'WAITING');\n" +
      '  if (changes.length === 0) return;\n  await tx`\n    insert into run_counts',
    ...{ world: 'faults', seeds: [1, 2], rule: 'count' },
  },
  {
    name: 'wrong search: the tags of a filter are ignored',
    file: 'storage/campaigns/campaign-search.ts',
    find: '  if (tags) conditions.push(tx`tags && ${tags}`);\n',
    replace: '',
    ...{ world: 'calls', seeds: [1, 2], rule: 'search' },
  },
  {
    name: 'search that skips a campaign between two pages',
    file: 'storage/campaigns/campaign-search.ts',
    find: 'limit ${limit} offset ${offset}`;\n}',
    replace: 'limit ${limit} offset ${offset > 0 ? offset + 1 : 0}`;\n}',
    ...{ world: 'calls', seeds: [1, 2], rule: 'search' },
  },
  {
    name: 'double claim: a chunk is claimed while its lease is held',
    file: 'storage/runs/chunks.ts',
    find: "and (chunks.state = 'READY' or chunks.lease_until <= ${claim.leasedAt})\n        and runs.status = 'SENDING'",
    replace: "and runs.status = 'SENDING' and ${claim.leasedAt}::timestamptz is not null",
    ...{ world: 'calls', seeds: [1, 2, 3, 5], rule: 'claim' },
  },
  {
    name: 'stale join: a joining push answers another id',
    file: 'app/push/store-pushes.ts',
    find: '    campaignId: push.campaignId,\n    requestId: push.command.requestId,\n    responseId: push.responseId,\n    nextSends',
    replace:
      '    campaignId: push.existing ? push.runId : push.campaignId,\n    requestId: push.command.requestId,\n' +
      '    responseId: push.responseId,\n    nextSends',
    ...{ world: 'calls', seeds: [1, 2, 3], rule: 'name' },
  },
  {
    name: 'a joining push ends in a fault of the server',
    file: 'app/push/accept-push.ts',
    find: 'campaignId: admitted.existing?.id ?? makeId(at),',
    replace: 'campaignId: makeId(at),',
    ...{ world: 'calls', seeds: [1, 2, 3], rule: 'failure' },
  },
  ...ofTokens(),
  {
    name: 'an archived key is accepted',
    file: 'app/keys/authenticate-key.ts',
    find: '|| !found || found.archivedAt)',
    replace: '|| !found)',
    ...{ world: 'calls', seeds: [2, 1, 3, 5], rule: 'key' },
  },
  {
    name: 'limit off by one',
    file: 'storage/limits/sliding-windows.ts',
    find: 'where most <= (',
    replace: 'where most < (',
    ...{ world: 'calls', seeds: [2, 1, 3, 5], rule: 'limit' },
  },
  {
    name: 'tenant leak: a campaign of another workspace is read by its id',
    file: 'storage/campaigns/campaign-search.ts',
    find: 'select 1 from campaigns where id = ${id} and workspace_id = ${workspaceId} and not is_test',
    replace: 'select 1 from campaigns where id = ${id} and ${workspaceId}::text is not null and not is_test',
    ...{ world: 'calls', seeds: [5, 1, 2, 3], rule: 'tenant' },
  },
  {
    name: 'lost trigger: one of the campaigns of an event does not start',
    file: 'app/business-events.ts',
    find: '  await insertQueuedRuns(tx, runs);\n',
    replace: '  await insertQueuedRuns(tx, runs.slice(1));\n',
    ...{ world: 'calls', seeds: [6, 1, 2, 3, 5, 7], rule: 'executions' },
  },
  {
    name: 'wrong statistics: gone devices are counted as sent',
    file: 'app/stats.ts',
    find: "    sent: sum('ACCEPTED'),",
    replace: "    sent: sum('ACCEPTED', 'GONE'),",
    ...{ world: 'calls', seeds: [1, 2], rule: 'statistics' },
  },
  {
    name: 'resend after success: an accepted message is tried again',
    file: 'engine/fan-out/settle-outcome.ts',
    find: "const accepted = settleAs(settling, 'ACCEPTED', acceptedCode, { providerMessageId });",
    replace:
      'const again = { providerMessageId, retryAt: new Date(clock.now().getTime() + 20_000) };\n' +
      "    const accepted = settleAs(settling, attempt === 1 ? 'WAITING' : 'ACCEPTED', acceptedCode, again);",
    ...{ world: 'calls', seeds: [1, 2], rule: 'repeat' },
  },
  {
    name: 'missing reason: a stopped run does not say why',
    file: 'app/campaigns/change-campaign-state.ts',
    find: "reason: 'the campaign was stopped'",
    replace: "reason: ''",
    ...{ world: 'calls', seeds: [1, 2, 3, 5], rule: 'reason' },
  },
  {
    name: 'an idempotency key is ignored',
    file: 'app/idempotency.ts',
    find: 'if (key === undefined) return',
    replace: 'if (key !== null) return',
    ...{ world: 'calls', seeds: [1, 2, 3], rule: 'idempotency' },
  },
  {
    name: 'a segment is filled in part',
    file: 'storage/segments/segment-staging.ts',
    find: '    where member.user_id is null\n    order by named.bucket, named.user_id`;',
    replace: '    where member.user_id is null\n    order by named.bucket, named.user_id limit 2`;',
    ...{ world: 'calls', seeds: [2, 1, 3, 5], rule: 'fill' },
  },
  {
    name: 'an archived segment is sent to',
    file: 'app/push/accept-push.ts',
    find: "if (segment.state === 'ARCHIVED') throw refuse('the segment is archived');",
    replace: '',
    ...{ world: 'calls', seeds: [31, 7, 13, 15, 16, 24, 30], rule: 'segment' },
  },
  {
    name: 'a frequency cap is ignored',
    file: 'domain/eligibility.ts',
    find: 'caps: settings.ignoresCap ? [] : controls.caps,',
    replace: 'caps: [],',
    ...{ world: 'calls', seeds: [1, 2, 3, 5], rule: 'cap' },
  },
  {
    name: 'an expired message is sent',
    file: 'engine/fan-out/deliver-to-devices.ts',
    find: "if (now >= run.sendUntil) return settleAs(addressee, 'EXPIRED', 'TTL');",
    replace: '',
    ...{ world: 'faults', seeds: [1, 2, 3, 4, 5, 6], rule: 'expired' },
  },
  {
    name: 'a wrong explanation: the run of least progress decides',
    file: 'domain/explain.ts',
    find: 'Math.max(rank, steps.indexOf(step)), -1);',
    replace: 'Math.min(rank, steps.indexOf(step)), steps.length);',
    ...{ world: 'calls', seeds: [1, 2, 3, 5], rule: 'explain' },
  },
  {
    name: 'a duplicate callback',
    file: 'engine/outbox/callbacks.ts',
    find: "if (isReceived(answer)) return { state: 'DELIVERED', endedAt };",
    replace: "if (isReceived(answer) && nth > 1) return { state: 'DELIVERED', endedAt };",
    ...{ world: 'calls', seeds: [2, 1, 3, 5], rule: 'callback' },
  },
  {
    name: 'a push to one user reaches all users',
    file: 'app/push/accept-push.ts',
    find: 'targetUsers: await matchUsers(deps, workspaceId, audience) };',
    replace: 'targetUsers: (await matchUsers(deps, workspaceId, audience)) && undefined };',
    ...{ world: 'calls', seeds: [1, 2], rule: 'audience' },
  },
  ...outside(),
];

function ofTokens(): Defect[] {
  const ofClaims = 'domain/access/tokens.ts';
  return [
    {
      name: 'a revoked token is accepted',
      file: ofClaims,
      find: 'if (key.isRevoked(claims.id) || ',
      replace: 'if (',
      ...{ world: 'calls', seeds: [3, 1, 2, 5], rule: 'token' },
    },
    {
      name: 'an access token is accepted after its refresh token was revoked',
      file: ofClaims,
      find: ' || key.isRevoked(claims.grant)) return',
      replace: ') return',
      ...{ world: 'calls', seeds: [2, 1, 3, 5], rule: 'token' },
    },
    {
      name: 'an expired token is accepted',
      file: ofClaims,
      find: "  if (isExpired) return 'expired';\n  return facts",
      replace: '  return facts',
      ...{ world: 'calls', seeds: [3, 1, 2, 5], rule: 'token' },
    },
    {
      name: 'a token of a retired secret is accepted',
      file: ofClaims,
      find: "return facts.isSecretRetired ? 'invalid' : 'live';",
      replace: "return 'live';",
      ...{ world: 'calls', seeds: [2, 1, 3, 5], rule: 'token' },
    },
    {
      name: 'a token of another workspace is accepted',
      file: 'http/segments/filter-segments.ts',
      find: "if (!isNamed) throw clientNotFound(vendorHeaders, 'headers",
      replace: "if (isNamed === undefined) throw clientNotFound(vendorHeaders, 'headers",
      ...{ world: 'calls', seeds: [1, 2, 3, 5], rule: 'token' },
    },
    {
      name: 'a refresh token of another workspace is accepted',
      file: 'app/tokens/tokens.ts',
      find: "  if (caller.clientId !== key.workspaceId) throw new ServiceError('TOKEN_CLIENT_MISMATCH');\n",
      replace: '',
      ...{ world: 'calls', seeds: [2, 3, 1, 5], rule: 'token' },
    },
    {
      name: 'token limit off by one: a key gets six in a minute',
      file: 'domain/limits/access.ts',
      find: '  token: [\n    { events: 5, seconds: 60 },',
      replace: '  token: [\n    { events: 6, seconds: 60 },',
      ...{ world: 'calls', seeds: [1, 2, 3, 5], rule: 'limit' },
    },
  ];
}

/** Defects that were found from outside, made again: each has the fault that the simulators lacked in the history of its seed. */
function outside(): Defect[] {
  const suspect = "{ about: 'ambiguous', ifDevice: 'suspect', ifAccount: 'hold' },\n    reason";
  return [
    {
      name: 'outside A1: one busy device pauses the whole Firebase project',
      file: 'providers/fcm/classify.ts',
      find: 'return namesProject ? fcmAnswers.projectQuota : fcmAnswers.deviceQuota;',
      replace: 'return fcmAnswers.projectQuota;',
      ...{ world: 'faults', seeds: [4, 1, 3, 10, 11, 15], rule: 'scope', said: 'without cause' },
    },
    {
      name: 'outside A2: BadDeviceToken drops the device',
      file: 'providers/apns/classify.ts',
      find: `${suspect}: 'A wrong environment`,
      replace: "{ about: 'device', effect: 'drop' },\n    reason: 'A wrong environment",
      ...{ world: 'faults', seeds: [12, 14, 16, 1, 3, 5], rule: 'scope', said: 'was dropped without cause' },
    },
    {
      name: 'outside A3: a sporadic 401 for one iPhone holds the key',
      file: 'providers/fcm/classify.ts',
      find: "{ about: 'ambiguous', ifDevice: 'reject', ifAccount: 'hold' },\n    reason: 'Google has no valid key",
      replace: "{ about: 'account', effect: 'hold' },\n    reason: 'Google has no valid key",
      ...{ world: 'faults', seeds: [10, 15, 16, 20, 21, 22], rule: 'scope', said: '(field A' },
    },
    {
      name: 'outside A8: a malformed token is rejected for ever',
      file: 'providers/fcm/classify.ts',
      find: "{ about: 'ambiguous', ifDevice: 'suspect', ifAccount: 'none' },\n    reason: 'Google answers",
      replace: "{ about: 'message', effect: 'reject' },\n    reason: 'Google answers",
      ...{ world: 'faults', seeds: [5, 1, 14, 16, 22], rule: 'scope', said: 'which is malformed' },
    },
    {
      name: 'outside A9: a subscription of an older key is rejected for ever',
      file: 'providers/webpush/classify.ts',
      find: "{ about: 'ambiguous', ifDevice: 'suspect', ifAccount: 'hold' },\n    reason:\n      'A browser that",
      replace: "{ about: 'message', effect: 'reject' },\n    reason:\n      'A browser that",
      ...{ world: 'faults', seeds: [1, 5, 14, 16, 22], rule: 'scope', said: 'which is outdated' },
    },
  ];
}

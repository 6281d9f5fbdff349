import { anomaly, findGone, isPush, isSuccess, readStatuses, showCall, withoutRepeats } from './history.ts';
import type { Anomaly, Call, Delivery, Device, History, Message, Run } from './history.ts';
import { get, groupBy, listAt, textAt } from './values.ts';

const finalAnswers = ['ACCEPTED', 'REJECTED', 'GONE'];

/** Every accepted push was sent or ended with a reason, and the phones, the ledger and the counters agree. */
export function checkDeliveries(history: History): Anomaly[] {
  return [
    ...checkFailures(history),
    ...checkIdentities(history),
    ...checkRepeats(history),
    ...checkExpired(history),
    ...checkChanges(history),
    ...checkCallbacks(history),
    ...(history.quiet === Infinity ? [anomaly('quiet', 'the work never ended')] : []),
    ...checkRuns(history),
    ...checkCounts(history),
    ...(history.rig === 'torture' ? checkPhones(history) : checkLedger(history)),
    ...checkSuccess(history),
    ...checkAudiences(history),
  ];
}

/** A job or a call may fail only when its connections were cut, or in the torture, which kills the database. */
function checkFailures({ lines, calls, rig }: History): Anomaly[] {
  if (rig === 'torture' || hasCut(lines)) return [];
  const jobs = lines.filter(({ kind, what }) => kind === 'fault' && what === 'job failed');
  return [
    ...jobs.map((line) => anomaly('failure', String(line['error']).slice(0, 400))),
    ...calls.filter(({ status }) => status >= 500).map((call) => anomaly('failure', showCall(call))),
  ];
}

const isFill = ({ path }: Call): boolean => path === '/v2/custom-segments/file-segment';
const hasCut = (lines: History['lines']): boolean => lines.some(({ kind, what }) => kind === 'fault' && what === 'cut');

const keyOfMessage = ({ run, campaign, device, address }: Message): string => `${run || campaign}/${device || address}`;

/** All messages of a run to a device carry one collapse id and one message id, and no two devices share them. */
function checkIdentities({ messages, rig }: History): Anomaly[] {
  if (rig === 'torture') return [];
  const owners = new Map<string, string>();
  return [...groupBy(messages, keyOfMessage)].flatMap(([key, own]) => {
    const identities = new Set(own.map(({ collapse, message }) => `${collapse} ${message}`));
    const more = identities.size > 1 ? [anomaly('identity', `${key} has ${identities.size} identities`)] : [];
    for (const identity of identities) {
      const { message } = own[0]!;
      const owner = owners.get(message);
      if (owner !== undefined && owner !== key) more.push(anomaly('identity', `${key} and ${owner} share ${identity}`));
      owners.set(message, key);
    }
    return more;
  });
}

/**
 * A final answer that was stored ends a message. Before it is stored, no other worker sends the message, unless its worker was killed,
 * stood still or was cut off.
 */
function checkRepeats({ messages, lines, rig }: History): Anomaly[] {
  if (rig === 'torture') return [];
  const faults = lines.filter(({ kind, what }) => kind === 'fault' && what !== 'job failed');
  const wasDisturbed = (worker: string, until: number): boolean =>
    faults.some((fault) => (fault['what'] === 'cut' || fault['worker'] === worker) && fault.position < until);
  return [...groupBy(messages, keyOfMessage)].flatMap(([key, own]) =>
    own.slice(1).flatMap((next, index): Anomaly[] => {
      const { answer, stored = Infinity, worker } = own[index]!;
      if (stored < next.position) {
        if (!finalAnswers.includes(answer)) return [];
        return [anomaly('repeat', `${key} was sent by ${next.worker} after ${worker} had stored ${answer}`)];
      }
      if (wasDisturbed(worker, next.position)) return [];
      return [anomaly('claim', `${key} was sent by ${next.worker} while ${worker} had not stored it yet`)];
    }),
  );
}

/** Nothing is sent after the life of its message, which begins when its run does. */
function checkExpired({ messages, campaigns, runs }: History): Anomaly[] {
  const campaignOf = new Map(campaigns.map((campaign) => [campaign.id, campaign]));
  const runOf = new Map(runs.map((run) => [run.id, run]));
  return messages.flatMap((message) => {
    const campaign = campaignOf.get(message.campaign);
    const run = runOf.get(message.run);
    if (!campaign || !run || campaign.isSpread) return [];
    const begins = Math.max(run.createdAt, run.startedAt ?? 0);
    const late = message.at - (begins + Math.max(60, campaign.ttlMinutes) * 60_000);
    return late > 0 ? [anomaly('expired', `${keyOfMessage(message)} was sent ${late / 1_000} s after its life`)] : [];
  });
}

/** After a pause or a stop was answered, no window begins: each worker finishes at most the one that it has open. */
function checkChanges({ messages, lines }: History): Anomaly[] {
  const changes = groupBy(
    lines.filter(({ kind }) => kind === 'change'),
    ({ campaign }) => String(campaign),
  );
  return [...changes].flatMap(([campaign, own]) =>
    own.flatMap((change, index) => {
      if (change['action'] === 'resume') return [];
      const until = own[index + 1]?.position ?? Infinity;
      const later = messages.filter(
        (message) => message.campaign === campaign && message.position > change.position && message.position < until,
      );
      const twice = [...groupBy(later, (message) => `${message.worker} ${keyOfMessage(message)}`)].filter(
        ([, repeats]) => repeats.length > 1,
      );
      return twice.map(([key]) => anomaly('change', `${key} was sent twice after ${String(change['action'])}`));
    }),
  );
}

/** An operation has one callback with one id. It is posted again after its acknowledgement only if a connection was cut. */
function checkCallbacks({ lines, calls, quiet, rig }: History): Anomaly[] {
  if (rig === 'torture') return [];
  const posted = lines.filter(({ kind }) => kind === 'callback');
  const byId = groupBy(posted, ({ id }) => String(id));
  const repeated = [...byId].flatMap(([id, own]) => {
    const acknowledged = own.findIndex(({ status }) => status === 200);
    const again = acknowledged >= 0 && acknowledged < own.length - 1;
    return again && !hasCut(lines) ? [anomaly('callback', `${id} was posted again after it was acknowledged`)] : [];
  });
  const byRequest = groupBy([...byId.values()], ([first]) => textAt(first!['body'], 'request_id'));
  const twice = [...byRequest].flatMap(([request, own]) =>
    own.length > 1 ? [anomaly('callback', `operation ${request} has ${own.length} callbacks`)] : [],
  );
  const files = new Map(
    lines.filter(({ kind }) => kind === 'file').map((line) => [line['url'], line['values'] as string[]]),
  );
  const fills = calls.filter((call) => isFill(call) && call.status > 0 && call.status < 300);
  const wrong = fills.flatMap(({ body, end }): Anomaly[] => {
    const name = textAt(body, 'name');
    const told = posted.find((line) => textAt(line['body'], 'segment_name') === name);
    if (!told) return end < quiet ? [anomaly('callback', `${name} was filled without a callback`)] : [];
    const wanted = files.get(textAt(body, 'file_url'))?.length;
    const counted = Number(textAt(told['body'], 'user_count'));
    return counted === wanted ? [] : [anomaly('fill', `${name} has ${counted} users, its file has ${wanted}`)];
  });
  return [...repeated, ...twice, ...wrong];
}

/** Every run has ended or is held by a user; what did not reach its end has a reason; each occurrence has one run. */
function checkRuns({ runs, campaigns, calls, quiet }: History): Anomaly[] {
  if (quiet === Infinity) return [];
  const statuses = readStatuses(calls, quiet);
  const isOpen = ({ status, campaign }: Run): boolean =>
    (status === 'QUEUED' && statuses.get(campaign) !== 'PAUSED') || status === 'SENDING';
  const open = runs.filter(isOpen).map(({ id, status }) => anomaly('quiet', `run ${id} is still ${status}`));
  const silent = runs
    .filter(({ status, reason }) => ['FAILED', 'STOPPED', 'MISSED'].includes(status) && !reason)
    .map(({ id, status }) => anomaly('reason', `run ${id} is ${status} without a reason`));
  const occurring = runs.filter(({ occurrence }) => occurrence !== null);
  const twice = [...groupBy(occurring, ({ campaign, occurrence }) => `${campaign} ${occurrence}`)]
    .filter(([, own]) => own.length > 1)
    .map(([key, own]) => anomaly('occurrence', `${key} has ${own.length} runs`));
  const unknown = campaigns.flatMap(({ id, occurrences }) =>
    occurring
      .filter(({ campaign, occurrence }) => campaign === id && !occurrences.includes(occurrence!))
      .map(({ occurrence }) => anomaly('occurrence', `${id} has no occurrence ${occurrence}`)),
  );
  return [...open, ...silent, ...twice, ...unknown];
}

const keyOfCount = ({ run, platform, outcome }: { run: string; platform: string; outcome: string }): string =>
  `${run} ${platform} ${outcome}`;

/** The counters of a run are the rows of its ledger. */
function checkCounts({ counts, deliveries }: History): Anomaly[] {
  const ledger = groupBy(deliveries, keyOfCount);
  const counted = new Map(counts.map((count) => [keyOfCount(count), count.devices]));
  return [...new Set([...ledger.keys(), ...counted.keys()])].flatMap((key) => {
    const [stored, count] = [ledger.get(key)?.length ?? 0, counted.get(key) ?? 0];
    return stored === count ? [] : [anomaly('count', `${key} counts ${count}, and the ledger has ${stored}`)];
  });
}

/** The ledger is what phones got: one row a device, with the last answer of its provider. */
function checkLedger({ deliveries, messages, runs, quiet }: History): Anomaly[] {
  const runOf = new Map(runs.map((run) => [run.id, run]));
  const keyOf = ({ run, device }: { run: string; device: string }): string => `${run}/${device}`;
  const byKey = groupBy(messages, keyOf);
  const rows = groupBy(deliveries, keyOf);
  const wrong = [...rows].flatMap(([key, own]): Anomaly[] => {
    const [row] = own as [Delivery];
    const sent = byKey.get(key) ?? [];
    const answers = sent.map(({ answer }) => answer);
    const found = own.length > 1 ? [anomaly('ledger', `${key} has ${own.length} rows`)] : [];
    if (row.outcome === 'ACCEPTED' && row.address !== null && !answers.includes('ACCEPTED'))
      found.push(anomaly('ledger', `${key} is ACCEPTED, and its phone got ${answers.join() || 'nothing'}`));
    const last = sent.at(-1);
    if (last?.stored !== undefined && finalAnswers.includes(last.answer) && last.answer !== row.outcome)
      found.push(anomaly('ledger', `${key} is ${row.outcome}, and its last answer was ${last.answer}`));
    if (['FAILED', 'EXPIRED', 'WITHHELD'].includes(row.outcome) && row.code === null)
      found.push(anomaly('reason', `${key} is ${row.outcome} without a reason`));
    if (row.outcome === 'WAITING' && ['SENT', 'STOPPED'].includes(runOf.get(row.run)?.status ?? ''))
      found.push(anomaly('ledger', `${key} is WAITING, and its run has ended`));
    return found;
  });
  if (quiet === Infinity) return wrong;
  const gone = findGone(messages);
  const unknown = [...byKey]
    .filter(
      ([key, sent]) =>
        !rows.has(key) && runOf.has(sent[0]!.run) && mustBeKnown(sent, { gone, run: runOf.get(sent[0]!.run)! }),
    )
    .map(([key]) => anomaly('ledger', `${key} was sent, and the ledger has no row`));
  return [...wrong, ...unknown];
}

/** The phones of the torture see no runs: of each campaign, a device got as many identities as the ledger has of its rows. */
function checkPhones({ deliveries, messages, runs, quiet }: History): Anomaly[] {
  if (quiet === Infinity) return [];
  const campaignOf = new Map(runs.map((run) => [run.id, run.campaign]));
  const accepted = deliveries.filter(({ outcome, address }) => outcome === 'ACCEPTED' && address !== null);
  const rows = groupBy(accepted, ({ run, address }) => `${campaignOf.get(run)}/${address}`);
  const phones = groupBy(messages, ({ campaign, address }) => `${campaign}/${address}`);
  return [...new Set([...rows.keys(), ...phones.keys()])].flatMap((key) => {
    const got = new Set(phones.get(key)?.map(({ collapse, message }) => `${collapse} ${message}`)).size;
    const stored = rows.get(key)?.length ?? 0;
    if (got === stored) return [];
    return [anomaly('ledger', `${key} has ${stored} accepted rows, and its phone got ${got} identities`)];
  });
}

/** A worker that dies may take the answer along, and no other worker asks again if the run is stopped or the device left. */
function mustBeKnown(
  sent: readonly Message[],
  { run, gone }: { run: Run; gone: ReadonlyMap<string, number> },
): boolean {
  if (!sent.some(({ answer }) => answer === 'ACCEPTED')) return false;
  return sent.some(({ stored }) => stored !== undefined) || (run.status === 'SENT' && !gone.has(sent[0]!.address));
}

/** Every push that was answered Success is stored, under its response, and nothing else is. */
function checkSuccess({ calls, requests, runs, quiet }: History): Anomaly[] {
  if (quiet === Infinity) return [];
  const pushes = calls.filter(isPush);
  if (pushes.length === 0) return [];
  const stored = new Map(requests.map((request) => [request.response, request]));
  const known = new Set(runs.map(({ id }) => id));
  const lost = pushes.filter(isSuccess).flatMap((call): Anomaly[] => {
    const request = stored.get(textAt(call.reply, 'responseId'));
    const name = `push #${call.number} ${textAt(call.body, 'campaignName')}`;
    if (!request) return [anomaly('success', `${name} was answered Success and is not stored`)];
    if (request.campaign !== textAt(call.reply, 'cid'))
      return [anomaly('success', `${name} is stored in ${request.campaign}`)];
    if (request.run === null || known.has(request.run)) return [];
    return [anomaly('success', `${name} has no run`)];
  });
  const responses = new Set(pushes.filter(isSuccess).map(({ reply }) => textAt(reply, 'responseId')));
  const unsure = new Set(pushes.filter(({ isUnsure }) => isUnsure).map(({ body }) => textAt(body, 'requestId')));
  const invented = requests
    .filter(({ response, request }) => !responses.has(response) && !unsure.has(request))
    .map(({ request }) => anomaly('success', `request ${request} is stored, and no push was answered Success for it`));
  const perRequest = [...groupBy(requests, ({ workspace, request }) => `${workspace} ${request}`)]
    .filter(([, own]) => own.length > 1)
    .map(([request, own]) => anomaly('success', `request ${request} is stored ${own.length} times`));
  return [...lost, ...invented, ...perRequest];
}

type Audience = { run: Run; users: Set<string> | 'all'; maybe: Set<string>; askedAt: number };

/** Every device that certainly is of the audience has a row of the ledger; no device outside of it was sent to. */
function checkAudiences(history: History): Anomaly[] {
  const { messages, deliveries, devices, quiet } = history;
  const reached = new Set(deliveries.map(({ run, address }) => `${run}/${address}`));
  const gone = findGone(messages);
  const byRun = groupBy(messages, ({ run }) => run);
  const byUser = groupBy(devices, ({ workspace, user }) => `${workspace}/${user}`);
  const byWorkspace = groupBy(devices, ({ workspace }) => workspace);
  const devicesOf = (workspace: string, users: Set<string> | 'all'): Device[] =>
    users === 'all'
      ? (byWorkspace.get(workspace) ?? [])
      : [...users].flatMap((user) => byUser.get(`${workspace}/${user}`) ?? []);
  return findAudiences(history).flatMap(({ run, users, maybe, askedAt }) => {
    const isIn = ({ since, isSure, address }: Device): boolean => isSure && since < askedAt && !gone.has(address);
    const certain = devicesOf(run.workspace, users).filter(isIn);
    const lost = certain.filter(({ address }) => !reached.has(`${run.id}/${address}`));
    const mayGet = new Set(devicesOf(run.workspace, users === 'all' ? users : maybe).map(({ address }) => address));
    const strange = (byRun.get(run.id) ?? []).filter(({ address }) => !mayGet.has(address));
    const isEnded = run.status === 'SENT' && quiet < Infinity;
    return [
      ...(isEnded ? lost : []).map(({ address }) => anomaly('lost', `run ${run.id} has no row of ${address}`)),
      ...strange.map(({ address }) =>
        anomaly('audience', `run ${run.id} reached ${address}, which is not of its audience`),
      ),
    ];
  });
}

function findAudiences(history: History): Audience[] {
  const { runs, campaigns, requests, calls } = history;
  const successes = new Map(
    withoutRepeats(calls.filter(isPush))
      .filter(isSuccess)
      .map((call) => [textAt(call.reply, 'responseId'), call]),
  );
  // A scheduled push is stored with its campaign, any other with its run.
  const pushOf = new Map(requests.map((one) => [one.run ?? one.campaign, successes.get(one.response)]));
  return runs.flatMap((run): Audience[] => {
    const given = campaigns.find(({ id }) => id === run.campaign);
    // A device that comes while the campaign waits may or may not be of it.
    if (given) {
      const users = given.users ? new Set(given.users) : ('all' as const);
      return [{ run, users, maybe: new Set(given.users), askedAt: given.position }];
    }
    const push = pushOf.get(run.id) ?? pushOf.get(run.campaign);
    if (!push) return [];
    const audience = textAt(push.body, 'targetAudience');
    if (audience === 'All Users') return [{ run, users: 'all', maybe: new Set(), askedAt: push.begin }];
    if (audience === 'User') {
      const users = new Set([textAt(push.body, 'targetUserAttributes', 'attributeValue')]);
      return [{ run, users, maybe: users, askedAt: push.begin }];
    }
    const members = findMembers(history, push);
    return members ? [{ run, ...members, askedAt: push.begin }] : [];
  });
}

/** Users who certainly are members when the push is sent, and those who may be. */
function findMembers(history: History, push: Call): { users: Set<string>; maybe: Set<string> } | undefined {
  const name = textAt(push.body, 'customSegmentName');
  const own = history.calls.filter(({ workspace }) => workspace === push.workspace);
  const file = own.find((call) => isFill(call) && textAt(call.body, 'name') === name);
  if (file) {
    const line = history.lines.find(({ kind, url }) => kind === 'file' && url === textAt(file.body, 'file_url'));
    const users = new Set((line?.['values'] as string[] | undefined) ?? []);
    return { users, maybe: users };
  }
  const syncs = own.filter(
    ({ path, body, status, isUnsure }) =>
      path === '/v1/integrations/cohortsync' &&
      textAt(body, 'parameters', 'cohort_name') === name &&
      (status === 200 || isUnsure),
  );
  if (syncs.length === 0) return undefined;
  const membersOf = (call: Call): string[] =>
    listAt(call.body, 'parameters', 'members').map((one) => textAt(one, 'uid'));
  const isAdding = ({ body }: Call): boolean => get(body, 'action') === 'add_members';
  const known = new Set(syncs.filter(isAdding).flatMap(membersOf));
  /** True if the last change of a user before the push certainly added, or certainly removed. */
  const isLast = (user: string, kind: 'added' | 'removed'): boolean => {
    const own = syncs.filter((call) => membersOf(call).includes(user));
    const { true: same = [], false: others = [] } = Object.groupBy(own, (call) =>
      isAdding(call) === (kind === 'added') ? 'true' : 'false',
    );
    return same
      .filter(({ isUnsure, end }) => !isUnsure && end < push.begin)
      .some(({ begin }) => others.every(({ end, isUnsure }) => end < begin && !isUnsure));
  };
  return {
    users: new Set([...known].filter((user) => isLast(user, 'added'))),
    maybe: new Set([...known].filter((user) => !isLast(user, 'removed'))),
  };
}

import { anomaly, findEnds, findGone, isPush, isSuccess, readStatuses, showCall, withoutRepeats } from './history.ts';
import type { Anomaly, Call, History, Message } from './history.ts';
import { get, groupBy, listAt, textAt } from './values.ts';

/** A campaign as the calls of the history made it. */
type Made = {
  id: string;
  workspace: string;
  name: string;
  /** Of pushes that ran at the same time, either may have made the campaign: the tags that each would have given it. */
  tags: string[][];
  deliveryType: string;
  /** The positions between which it was made, and the clock. */
  begin: number;
  end: number;
  at: number;
  call: Call;
};

/** Each answer to a question equals what a naive reading of the history says. */
export function checkAnswers(history: History): Anomaly[] {
  const made = findMade(history.calls);
  return [
    ...checkSearches(history, made),
    ...checkPages(history),
    ...checkExecutions(history, made),
    ...checkStatistics(history),
    ...checkExplanations(history),
  ];
}

function findMade(calls: readonly Call[]): Made[] {
  const pushes = withoutRepeats(calls.filter(isPush)).filter(isSuccess);
  const unsure = calls.filter((call) => isPush(call) && call.isUnsure);
  const pushed = [...groupBy(pushes, ({ reply }) => textAt(reply, 'cid'))].map(([id, own]): Made => {
    const [call] = own as [Call];
    const firstEnd = Math.min(...own.map(({ end }) => end));
    const name = textAt(call.body, 'campaignName');
    // One without an answer may have made it, too.
    const makers = [
      ...own,
      ...unsure.filter((one) => one.workspace === call.workspace && textAt(one.body, 'campaignName') === name),
    ];
    return {
      ...{ id, call, workspace: call.workspace, name },
      tags: makers.filter(({ begin }) => begin <= firstEnd).map(({ body }) => listAt(body, 'campaignTags').map(String)),
      deliveryType: textAt(call.body, 'campaignDelivery', 'type') === 'periodic' ? 'PERIODIC' : 'ONE_TIME',
      ...{ begin: Math.min(...makers.map(({ begin }) => begin)), end: firstEnd, at: call.at },
    };
  });
  const authored = calls.filter((call) => isAuthoring(call) && call.status === 201);
  return [
    ...pushed,
    ...authored.map((call): Made => {
      const details = get(call.body, 'basic_details');
      return {
        ...{ id: textAt(call.reply, 'data', 'id'), call, workspace: call.workspace, name: textAt(details, 'name') },
        ...{ tags: [listAt(details, 'tags').map(String)], deliveryType: textAt(call.body, 'campaign_delivery_type') },
        ...{ begin: call.begin, end: call.end, at: call.at },
      };
    }),
  ];
}

const isSearch = ({ path, status }: Call): boolean => /^\/v[15]\/campaigns\/search$/.test(path) && status === 200;
const versionOf = ({ path }: Call): 'V1' | 'V5' => (path.startsWith('/v1') ? 'V1' : 'V5');

/** The questions that were answered when nothing moved any more. */
function findQuietAnswers({ calls, quiet }: History, pattern: RegExp): Call[] {
  return calls.filter(({ path, status, begin }) => pattern.test(path) && status === 200 && begin > quiet);
}

const isAuthoring = ({ method, path }: Call): boolean => method === 'POST' && path === '/v5/campaigns';
const isMaking = (call: Call): boolean => isPush(call) || isAuthoring(call);

function foundBy(call: Call): { id: string; status: string; createdAt: string }[] {
  const { reply } = call;
  const listV1 = Array.isArray(reply) ? (reply as unknown[]) : listAt(reply, 'campaigns');
  return (versionOf(call) === 'V1' ? listV1 : listAt(reply, 'data', 'campaigns')).map((record) => ({
    id: textAt(record, 'campaign_id') || textAt(record, 'id'),
    status: textAt(record, 'status'),
    createdAt: textAt(record, 'created_at'),
  }));
}

/**
 * A search finds what was made before it and matches, and nothing that was not made. Statuses move by themselves until the work is
 * quiet, so before that a filter by status is compared with the records of the answer alone.
 */
function checkSearches({ calls, quiet, rig }: History, made: readonly Made[]): Anomaly[] {
  if (rig === 'torture') return [];
  const statuses = readStatuses(calls, quiet);
  return calls.filter(isSearch).flatMap((call): Anomaly[] => {
    const found = foundBy(call);
    const ids = found.map(({ id }) => id);
    const own = made.filter(({ workspace }) => workspace === call.workspace);
    const wrong = (what: string) =>
      anomaly('search', `#${call.number} ${call.path} ${JSON.stringify(get(call.body, 'campaign_fields'))} ${what}`);
    const asked = listAt(call.body, 'campaign_fields', 'status').map(String);
    const odd = found.filter(({ status }) => asked.length > 0 && !asked.includes(status));
    const doubled = ids.length - new Set(ids).size;
    const limit = Number(get(call.body, 'limit'));
    const isWhole = get(call.body, 'page') === 1 && ids.length < limit;
    const matching = own.filter((one) =>
      matches(one, { call, status: statuses.get(one.id), isQuiet: call.begin > quiet }),
    );
    const missing = matching.filter(
      ({ id, end, begin }) => isWhole && end < call.begin && begin < call.begin && !ids.includes(id),
    );
    const known = new Map(own.map((one) => [one.id, one]));
    const strange = ids.filter((id) => {
      const one = known.get(id);
      if (!one) return !calls.some((other) => isMaking(other) && other.isUnsure && other.begin < call.end);
      const fits = matchesNames(one, call);
      if (one.begin > call.end || fits === 'no') return true;
      return fits === 'yes' && statuses.has(id) && call.begin > quiet && !matching.includes(one);
    });
    const unsorted = found.some(({ createdAt }, index) => index > 0 && createdAt > found[index - 1]!.createdAt);
    const hasUnsure =
      calls.some((other) => other.isUnsure && isMaking(other)) ||
      own.some((one) => matchesNames(one, call) === 'maybe' || !statuses.has(one.id));
    const miscounted = isWhole && call.total !== undefined && call.total !== ids.length;
    const total = call.begin > quiet && call.total !== undefined && !hasUnsure && call.total !== matching.length;
    return [
      ...odd.map(({ id, status }) => wrong(`found ${id}, which is ${status}`)),
      ...(doubled > 0 ? [wrong(`found ${doubled} campaigns twice`)] : []),
      ...missing.map(({ id, name }) => wrong(`did not find ${name} (${id})`)),
      ...strange.map((id) => wrong(`found ${known.get(id)?.name ?? 'an unknown campaign'} (${id})`)),
      ...(unsorted ? [wrong('is not sorted, newest first')] : []),
      ...(miscounted || total ? [wrong(`counts ${call.total} of ${matching.length}`)] : []),
    ];
  });
}

/** True if a campaign matches, or only may match, what never changes of it. */
function matchesNames({ name, tags, at }: Made, { body }: Call): 'yes' | 'maybe' | 'no' {
  const fields = get(body, 'campaign_fields');
  const [part, wanted] = [textAt(fields, 'name').toLowerCase(), listAt(fields, 'tags').map(String)];
  const from = textAt(fields, 'created_date', 'from_date');
  const isLate = from === '' || at >= Date.parse(from.length === 10 ? from : `${from}Z`);
  if (!isLate || !name.toLowerCase().includes(part)) return 'no';
  const tagged = tags.filter((own) => wanted.length === 0 || wanted.some((tag) => own.includes(tag))).length;
  return tagged === tags.length ? 'yes' : tagged > 0 ? 'maybe' : 'no';
}

type Asked = { call: Call; status: string | undefined; isQuiet: boolean };

/** True if the campaign certainly is among the answers of a search. */
function matches(one: Made, { call, status, isQuiet }: Asked): boolean {
  const asked = listAt(call.body, 'campaign_fields', 'status').map(String);
  if (matchesNames(one, call) !== 'yes') return false;
  if (!isQuiet) return asked.length === 0 && isPush(one.call);
  if (status === undefined) return false;
  // V5 leaves drafts out unless they are asked for (interface 9 difference 5).
  if (asked.length === 0) return versionOf(call) === 'V1' || status !== 'DRAFT';
  return asked.includes(status);
}

/** The pages of one question, put together, are its whole answer. */
function checkPages({ calls, quiet }: History): Anomaly[] {
  const quietSearches = calls.filter((call) => isSearch(call) && call.begin > quiet);
  const pageOf = (call: Call): number => Number(get(call.body, 'page'));
  const byQuestion = groupBy(quietSearches, ({ workspace, path, body }) =>
    JSON.stringify([workspace, path, get(body, 'campaign_fields')]),
  );
  return [...byQuestion].flatMap(([question, own]) => {
    const limits = groupBy(own, ({ body }) => textAt(body, 'limit'));
    const whole = own.find((call) => pageOf(call) === 1 && foundBy(call).length < Number(get(call.body, 'limit')));
    if (!whole) return [];
    const ids = foundBy(whole).map(({ id }) => id);
    return [...limits].flatMap(([limit, pages]) => {
      const sorted = [...pages].sort((one, other) => pageOf(one) - pageOf(other));
      const put = sorted.flatMap((call) => foundBy(call).map(({ id }) => id));
      const wanted = ids.slice(0, Number(limit) * sorted.length);
      return put.join() === wanted.join()
        ? []
        : [anomaly('search', `${question}: its pages of ${limit} are not its answer`)];
    });
  });
}

const dayMilliseconds = 86_400_000;

/** A periodic campaign has one child for each occurrence until it is stopped; a campaign of an event has one for each trigger. */
function checkExecutions(history: History, made: readonly Made[]): Anomaly[] {
  const { calls, requests } = history;
  return findQuietAnswers(history, /\/executions$/).flatMap((call): Anomaly[] => {
    const id = call.path.split('/').at(-2)!;
    const one = made.find((candidate) => candidate.id === id);
    if (!one) return [];
    const executions = listAt(call.reply, 'data', 'executions');
    const total = Number(get(call.reply, 'data', 'total_instances'));
    const wrong = (what: string): Anomaly => anomaly('executions', `${one.name} (${id}) ${what}`);
    const acted = calls.some(
      ({ path, isUnsure, status }) => path === `/v5/campaigns/${id}/status` && (status === 200 || isUnsure),
    );
    const cut = executions.length !== Math.min(total, Number(get(call.body, 'limit')));
    const found = cut ? [wrong(`lists ${executions.length} executions and counts ${total}`)] : [];
    if (one.deliveryType === 'PERIODIC' && !acted) {
      const wanted = countOccurrences(one);
      const joined = requests.filter(({ campaign, run }) => campaign === id && run !== null).length;
      if (total !== wanted + joined)
        found.push(wrong(`has ${total} executions, ${wanted} times and ${joined} joined pushes`));
    }
    if (one.deliveryType === 'BUSINESS_EVENT_TRIGGERED') {
      const { least, most } = countTriggers(calls, one);
      if (total < least || total > most) found.push(wrong(`has ${total} executions of ${least} to ${most} triggers`));
    }
    return found;
  });
}

/** Every day at the time, in UTC, from the first after the push to the last day. */
function countOccurrences({ call }: Made): number {
  const delivery = get(call.body, 'campaignDelivery');
  const [, hours, minutes, half] = /^(\d+):(\d+) (AM|PM)$/.exec(textAt(delivery, 'time'))!;
  const [month, day, year] = textAt(delivery, 'endDate').split('/').map(Number) as [number, number, number];
  const ofDay = (((Number(hours) % 12) + (half === 'PM' ? 12 : 0)) * 60 + Number(minutes)) * 60_000;
  const last = Date.UTC(year, month - 1, day) + ofDay;
  const today = Math.floor(call.at / dayMilliseconds) * dayMilliseconds + ofDay;
  const first = today > call.at ? today : today + dayMilliseconds;
  return Math.max(0, Math.round((last - first) / dayMilliseconds) + 1);
}

function countTriggers(calls: readonly Call[], { id, call }: Made): { least: number; most: number } {
  const event = textAt(call.body, 'basic_details', 'business_event');
  const triggers = calls.filter(({ path, body }) => /trigger/.test(path) && textAt(body, 'event_name') === event);
  const listed = triggers.filter((one) => listAt(one.reply, 'data', 'triggered_campaign_ids').includes(id)).length;
  const silent = triggers.filter(
    (one) => one.isUnsure || (one.path.startsWith('/v1') && one.status === 200 && one.end > call.begin),
  );
  const changes = calls.filter(({ path }) => path === `/v5/campaigns/${id}/status`);
  const published = changes.filter(({ body, status }) => textAt(body, 'action') === 'PUBLISH' && status === 200);
  const others = changes.some((one) => !published.includes(one) && (one.status === 200 || one.isUnsure));
  // While it certainly was ACTIVE, a trigger that does not list its campaigns started it, too.
  const sure = silent.filter((one) => !one.isUnsure && !others && published.some(({ end }) => end < one.begin));
  return { least: listed + sure.length, most: listed + silent.length };
}

/** The figures of a campaign are the answers that its messages got. */
function checkStatistics(history: History): Anomaly[] {
  const { messages, runs } = history;
  const gone = findGone(messages);
  return findQuietAnswers(history, /\/campaign-stats$/).flatMap((call) =>
    listAt(call.body, 'campaign_ids').flatMap((id): Anomaly[] => {
      const runIds = new Set(runs.filter(({ campaign }) => campaign === id).map((run) => run.id));
      const ends = findEnds(messages.filter(({ run }) => runIds.has(run)));
      const platforms = (get(call.reply, 'data', String(id), 0, 'platforms') ?? {}) as Record<string, unknown>;
      return Object.entries(platforms).flatMap(([platform, shown]) => {
        const own = ends.filter(({ message }) => platform === 'ALL_PLATFORMS' || message.platform === platform);
        const stats = get(shown, 'locales', 'all_locales', 'variations', 'all_variations', 'performance_stats');
        return ['ACCEPTED', 'GONE'].flatMap((answer) => {
          const name = answer === 'ACCEPTED' ? 'sent' : 'bounced';
          const ended = own.filter(({ message }) => message.answer === answer);
          const sure = ended.filter(({ isSure }) => isSure).length;
          // A device that another run found gone is gone in this one, too, if its message was not final.
          const left = answer === 'GONE' ? own.filter(({ message }) => mayLeave(message, gone)).length : 0;
          const count = Number(get(stats, name));
          if (count >= sure && count <= ended.length + left) return [];
          return [anomaly('statistics', `${String(id)} ${platform} ${name} is ${count}, and phones got ${sure}`)];
        });
      });
    }),
  );
}

const mayLeave = ({ answer, stored, address }: Message, gone: ReadonlyMap<string, number>): boolean =>
  gone.has(address) && (answer === 'OTHER' || stored === undefined);

const decidedSteps = ['ACCEPTED', 'REJECTED', 'GONE'];

/** What an explanation says of a device is what its provider answered last. */
function checkExplanations(history: History): Anomaly[] {
  const { messages, runs, devices } = history;
  const ends = groupBy(findEnds(messages), ({ message }) => message.run);
  const gone = findGone(messages);
  const userOf = new Map(devices.map(({ address, user }) => [address, user]));
  return findQuietAnswers(history, /\/explain$/).flatMap((call): Anomaly[] => {
    const campaign = textAt(call.reply, 'data', 'campaign_id');
    const user = call.query.get('customer_id');
    const wrong = (what: string): Anomaly => anomaly('explain', `${campaign} ${user}: ${what} (${showCall(call)})`);
    const told = listAt(call.reply, 'data', 'runs');
    const ids = told.map((run) => textAt(run, 'id'));
    const stored = runs.filter((run) => run.campaign === campaign).map(({ id }) => id);
    const unlisted = stored.filter((id) => !ids.includes(id));
    return [
      ...(unlisted.length > 0 && ids.length < 20 ? [wrong(`does not list the run ${unlisted.join()}`)] : []),
      ...told.flatMap((run) => {
        const own = (ends.get(textAt(run, 'id')) ?? []).filter(({ message }) => userOf.get(message.address) === user);
        // What the product cannot know, and so may tell either way.
        if (own.some(({ isSure, message }) => !isSure || mayLeave(message, gone))) return [];
        const answers = own.map(({ message }) => message.answer).filter((answer) => decidedSteps.includes(answer));
        const steps = listAt(run, 'devices').map((device) => textAt(device, 'step'));
        const decided = steps.filter((one) => decidedSteps.includes(one));
        if (answers.sort().join() !== decided.sort().join())
          return [wrong(`its devices are ${steps.join()}, and were answered ${answers.join() || 'nothing'}`)];
        const step = textAt(run, 'step');
        const isWrong = answers.includes('ACCEPTED') ? step !== 'ACCEPTED' : step === 'ACCEPTED';
        return isWrong ? [wrong(`is ${step}, and was answered ${answers.join() || 'nothing'}`)] : [];
      }),
    ];
  });
}

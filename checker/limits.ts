import type { Anomaly, Call, History } from './history.ts';
import { groupBy } from './values.ts';

/** A documented limit (docs/limits.md), as the checker reads the contract. */
type Limit = {
  name: string;
  windows: ReturnType<typeof within>[];
  isSubject(call: Call): boolean;
  /** What is limited, if it is not the workspace. */
  subjectOf?(call: Call): string | undefined;
  /** True if the call was counted. A call that another check refused earlier is neither counted nor refused. */
  isCounted(call: Call): boolean;
};

const isCampaignCall = ({ path }: Call): boolean =>
  /^(\/core-services)?\/v[15]\/campaigns(\/|$)/.test(path) ||
  /^\/v1\.0\/business_event|^\/v5\/business-events/.test(path);
const [minute, hour] = [60, 3_600];
const within = (events: number, seconds: number) => ({ events, seconds });

const limits: Limit[] = [
  {
    name: 'campaign calls',
    windows: [within(10, 1), within(100, minute)],
    isSubject: isCampaignCall,
    isCounted: ({ status }) => status !== 429 && status !== 401,
  },
  {
    name: 'campaign creations',
    windows: [within(5, minute), within(25, hour), within(100, 24 * hour)],
    isSubject: ({ method, path }) => method === 'POST' && /^\/v[15]\/campaigns$/.test(path),
    isCounted: ({ status }) => status === 201 || status === 200,
  },
  {
    name: 'token requests',
    windows: [within(5, minute), within(30, 10 * minute)],
    isSubject: ({ path }) => path === '/v1/oauth/token',
    subjectOf: ({ credential }) => credential,
    isCounted: ({ status }) => status === 200,
  },
  {
    name: 'file operations',
    windows: [within(10, hour), within(100, 24 * hour)],
    isSubject: ({ path }) => path.startsWith('/v2/custom-segments/file-segment'),
    isCounted: ({ status }) => status < 300,
  },
];

/** No window has one call too many, and no call is refused while its windows have room. */
export function checkLimits({ calls }: History): Anomaly[] {
  return [...groupBy(calls, ({ workspace }) => workspace)].flatMap(([workspace, own]) => [
    ...limits.flatMap((limit) =>
      [...groupBy(own, (call) => limit.subjectOf?.(call) ?? '')].flatMap(([, ofSubject]) =>
        findExcess(limit, ofSubject).map((what) => ({ rule: 'limit', what: `${workspace}: ${what}` })),
      ),
    ),
    ...own
      .filter(({ status }) => status === 429)
      .filter((call) => !limits.some((limit) => limit.isSubject(call) && explainsRefusal(limit, { call, own })))
      .filter((call) => limits.some((limit) => limit.isSubject(call)))
      .map((call) => ({ rule: 'limit', what: `${workspace}: #${call.number} ${call.path} was refused too early` })),
  ]);
}

/** Retries come this much later than the moment at which a message was counted. */
const capSlackMilliseconds = 3_600_000;

/** A user of a workspace with a frequency cap gets no more messages in a day than it allows. */
export function checkCaps({ lines, messages, devices }: History): Anomaly[] {
  const capped = lines.filter(({ kind, cap }) => kind === 'workspace' && typeof cap === 'number');
  return capped.flatMap((line) => {
    const userOf = new Map(
      devices.filter(({ workspace }) => workspace === line['id']).map((one) => [one.address, one.user]),
    );
    const accepted = messages.filter(({ answer, stored }) => answer === 'ACCEPTED' && stored !== undefined);
    return [...groupBy(accepted, ({ address }) => userOf.get(address))].flatMap(([user, own]) => {
      const first = [...groupBy(own, ({ run }) => run).values()].map((sent) => Math.min(...sent.map(({ at }) => at)));
      const inDay = first.map(
        (from) => first.filter((at) => at >= from && at < from + 86_400_000 - capSlackMilliseconds).length,
      );
      const most = Math.max(...inDay);
      return most > Number(line['cap']) ? [{ rule: 'cap', what: `${user} got ${most} messages in a day` }] : [];
    });
  });
}

/** Windows that certainly have more calls than their limit, whenever inside of their calls these were counted. */
function findExcess(limit: Limit, own: readonly Call[]): string[] {
  const counted = own.filter((call) => limit.isSubject(call) && !call.isUnsure && limit.isCounted(call));
  return limit.windows.flatMap(({ events, seconds }) => {
    const most = counted.map((first) => {
      const until = first.at + seconds * 1_000;
      return counted.filter((call) => call.at >= first.at && call.repliedAt < until).length;
    });
    const highest = Math.max(0, ...most);
    return highest > events ? [`${highest} ${limit.name} in ${seconds} s, ${events} are allowed`] : [];
  });
}

/** True if a window before the refusal may have been full. */
function explainsRefusal(limit: Limit, { call, own }: { call: Call; own: readonly Call[] }): boolean {
  const isSame = (one: Call): boolean => limit.subjectOf?.(one) === limit.subjectOf?.(call);
  const maybe = own.filter(
    (one) => one !== call && limit.isSubject(one) && isSame(one) && (one.isUnsure || limit.isCounted(one)),
  );
  return limit.windows.some(({ events, seconds }) => {
    const inWindow = maybe.filter(
      (one) => one.begin < call.end && one.at <= call.repliedAt && one.repliedAt > call.at - seconds * 1_000,
    );
    return inWindow.length >= events;
  });
}

import { parseArgs } from 'node:util';
import type { Comparison } from './comparisons.ts';

/** An option of a case with its default; `--name value` on the command line, or `--name` for a switch. */
export type Option<Value> = { value: Value; about: string };

const number = (value: number, about: string): Option<number> => ({ value, about });
const text = (value: string, about: string): Option<string> => ({ value, about });
const given = (about: string): Option<string | undefined> => ({ value: undefined, about });
const on = (about: string): Option<boolean> => ({ value: false, about });

/** A measurement. */
export type CaseRow = {
  measures: string;
  /** `tool`: it measures nothing. */
  kind?: 'tool';
  /** The number of its budget in docs/performance.md; the goal is in the case, next to the comparison. */
  budget?: Comparison['budget'];
  /** What is measured next to it in the same run. */
  peers: readonly string[];
  /** Programs of other packages; keys of `programs`. */
  needs?: readonly (keyof typeof programs)[];
  /** The file of `cases` that has it. */
  module: string;
  options: Record<string, Option<number | string | boolean | undefined>>;
  /** The values with which `npm run bench` runs it: usually the defaults, and smaller ones with `--quick`. */
  ofAll?: { full: Record<string, number | string>; quick: Record<string, number | string> };
};

/** Each program with its Debian package. */
export const programs = {
  '/usr/bin/wrk': 'wrk',
  '/usr/bin/h2load': 'nghttp2',
  '/usr/sbin/nghttpd': 'nghttp2',
  '/usr/bin/psql': 'postgresql-client',
  '/usr/bin/chromium': 'chromium',
} as const;

const profile = given('a folder for the CPU profiles of the nodes; the case `profile` shows them');
const connections = number(64, 'connections that wait for their responses');
const rounds = number(5, 'rounds in which all are measured in turn; results are medians');
const windows = { window: number(500, 'devices of a window'), chunks: number(8, 'chunks of a worker at a time') };

/** All cases. Those of budgets come first, in the order of their numbers. */
export const caseTable = {
  transport: {
    measures:
      'Requests of 400 bytes over one HTTP/2 connection with 1,000 streams to nghttpd, without and with TLS, by time and by processor time',
    ...{ budget: 'P1', module: 'transport', needs: ['/usr/sbin/nghttpd', '/usr/bin/h2load'] },
    peers: ['h2load (C, the limit)', 'node:http2', '@parse/node-apn'],
    options: { requests: number(200_000, 'requests of each client in a round'), rounds },
    ofAll: { full: {}, quick: { requests: 40_000, rounds: 2 } },
  },
  'web-push': {
    measures:
      'Making Web Push requests without sending them: a message encrypted for each browser (RFC 8291), and the VAPID header',
    ...{ budget: 'P2', module: 'web-push' },
    peers: ['web-push', 'OpenSSL’s key agreements (the limit)'],
    options: { messages: number(5_000, 'messages of a round'), rounds },
    ofAll: { full: {}, quick: { messages: 1_000, rounds: 2 } },
  },
  'end-to-end': {
    measures:
      'Devices in the store, rendered, sent over TLS to nghttpd by one worker, each outcome in a durable ledger; with processor time and memory',
    ...{ budget: 'P3', module: 'sending', needs: ['/usr/sbin/nghttpd'] },
    peers: ['@parse/node-apn, which renders and stores nothing'],
    options: { devices: number(60_000, 'devices of a round'), rounds, ...windows, profile },
    ofAll: { full: {}, quick: { devices: 10_000, rounds: 2 } },
  },
  accept: {
    measures:
      'Accepting pushes to one user each, every response durable, by one node without a worker; then how long callers wait at half of that rate',
    ...{ budget: 'P4', module: 'accepting', needs: ['/usr/bin/wrk'] },
    peers: ['a Fastify route of the same shape with nothing behind it'],
    options: {
      ...{ connections, rounds, profile },
      seconds: number(5, 'seconds of a round'),
      workspaces: number(12, 'workspaces, each of which may push 10,000 times a minute'),
    },
    ofAll: { full: {}, quick: { seconds: 2, rounds: 2 } },
  },
  tokens: {
    measures:
      'Access tokens for the client credentials of many keys, every token counted against the limits of its key',
    ...{ budget: 'P5', module: 'accepting', needs: ['/usr/bin/wrk'] },
    peers: ['oidc-provider, which keeps its tokens in memory', 'a Fastify route with nothing behind it'],
    options: {
      ...{ connections, rounds, profile },
      seconds: number(5, 'seconds of a round'),
      keys: number(20_000, 'keys; each gets five tokens a minute (interface 4.1)'),
    },
    ofAll: { full: {}, quick: { seconds: 2, rounds: 2 } },
  },
  segment: {
    measures:
      'File segments: a file against the users of a workspace through the whole path (download, checks, distinct, match, members), and memory',
    ...{ budget: 'P6', module: 'segment', needs: ['/usr/bin/psql'] },
    peers: ['psql with a hand-written COPY and join'],
    options: {
      users: number(5_000_000, 'users of the workspace'),
      lines: number(15_000_000, 'lines of the file'),
      matching: number(2_000_000, 'lines that belong to users'),
      rounds,
    },
    ofAll: { full: {}, quick: { users: 200_000, lines: 600_000, matching: 80_000, rounds: 2 } },
  },
  search: {
    measures:
      'Campaign search with every filter of both versions, many pages of each: the whole HTTP response, and the statements alone',
    ...{ budget: 'P7', module: 'search' },
    peers: [],
    options: {
      campaigns: number(1_000_000, 'campaigns in four workspaces; the largest, which is searched, has 40 %'),
      pages: number(100, 'pages of each filter'),
      from: text('', 'the name of the filter to start with'),
      folder: given('a folder that keeps the database for the next time'),
    },
    ofAll: { full: {}, quick: { campaigns: 50_000, pages: 10 } },
  },
  start: {
    measures: '`npm start` to its first response, with a warm install, on a new folder and on an existing one',
    ...{ budget: 'P8', module: 'start' },
    peers: [],
    options: { rounds },
    ofAll: { full: {}, quick: { rounds: 2 } },
  },
  growth: {
    measures: 'What a device of a campaign and a line of a file cost among ten thousand, and among millions',
    ...{ budget: 'P9', module: 'growth', needs: ['/usr/bin/psql'] },
    peers: [],
    options: {
      devices: text('10000,100000,1000000', 'devices of each store'),
      lines: text('10000,100000,1000000,10000000', 'lines of each file'),
      sample: number(1_000_000, 'a campaign to more devices is watched for this many'),
    },
    ofAll: {
      full: { devices: '10000,100000,1000000,10000000' },
      quick: { devices: '10000,50000', lines: '100000,1000000', sample: 50_000 },
    },
  },
  latency: {
    measures:
      'From the response of `sendpush` to the request at the provider, on an idle node and during a campaign to all users',
    ...{ budget: 'P10', module: 'sending' },
    peers: [],
    options: {
      pushes: number(500, 'pushes to an idle node'),
      devices: number(100_000, 'devices of the campaign'),
      pause: number(20, 'milliseconds between pushes'),
    },
    ofAll: { full: {}, quick: { pushes: 100, devices: 20_000 } },
  },
  'first-message': {
    measures:
      'From the response of `sendpush` to all users to the first request at the provider, and until the size is known',
    ...{ budget: 'P12', module: 'first-message' },
    peers: [],
    options: {
      devices: number(1_000_000, 'devices of the campaign'),
      ...{ rounds: number(3, 'rounds after the first, which warms up'), ...windows },
    },
  },
  fairness: {
    measures:
      'The last message of a campaign to 1,000 devices that is launched while a large one is sent, of the same and of another workspace, and how much the large one is slowed',
    ...{ budget: 'P16', module: 'fairness' },
    peers: [],
    options: {
      devices: number(1_000_000, 'devices of the large campaign'),
      ...{ rounds: number(3, 'rounds after the first, which warms up'), ...windows },
    },
  },
  events: {
    measures:
      'Bulk requests of 500 events at an even rate, 50 triggered campaigns, one event of a hundred starts one; counts triggers and messages',
    ...{ budget: 'P11', module: 'events' },
    peers: [],
    options: {
      rate: number(16_667, 'events a second'),
      seconds: number(30, 'seconds of events'),
      kill: on('kills the worker (SIGKILL) halfway and starts another'),
      profile,
    },
  },
  lane: {
    measures:
      'Pushes to one user each, accepted, sent and recorded by one node of role `all`; from the response to the request at the provider',
    ...{ budget: 'P13', module: 'lane' },
    peers: [],
    options: {
      rate: number(0, 'pushes a second; 0: each connection sends its next push when the last one is answered'),
      seconds: number(10, 'seconds of a round with a rate'),
      pushes: number(10_000, 'pushes of a round without a rate'),
      connections,
      rounds: number(1, 'rounds'),
      workspaces: number(200, 'workspaces, each of which may push 10,000 times a minute'),
      distance: number(0, 'milliseconds of a round trip to the database'),
      campaign: number(0, 'devices of a campaign that is sent at the same time'),
      flood: number(0, 'pushes a second of one workspace more'),
      statements: on('prints the statements that took the database the longest'),
      profile,
    },
  },
  fanout: {
    measures:
      'As end-to-end, with the simulated providers in another process, for each mix of platforms; also bytes of a ledger row on disk and in the log',
    module: 'sending',
    peers: [],
    options: {
      devices: number(100_000, 'devices of a round'),
      mixes: text('ANDROID,IOS,WEB,ALL', 'mixes of platforms'),
      ...{ rounds: number(3, 'rounds of each mix'), ...windows, profile },
      caps: given('frequency caps, such as 2/1d, with quiet hours and a delay, that are checked and exclude no user'),
      personal: on('each message contains its user’s name'),
    },
  },
  import: {
    measures: 'Loading a file of users with ten attributes each, as `carillon import` does',
    module: 'import',
    peers: [],
    options: { users: number(1_000_000, 'users'), format: text('ndjson', 'ndjson or csv') },
  },
  render: {
    measures: 'Rendering personalised texts, a whole message, and the most expensive template that is permitted',
    module: 'render',
    peers: [],
    options: { seconds: number(1, 'seconds of each text') },
  },
  'retry-claim': {
    measures: 'The search for deliveries that are due again, with 3 and with 400 days of the ledger',
    module: 'retry-claim',
    peers: [],
    options: {
      days: number(400, 'days of the ledger'),
      rows: number(1_000, 'rows of each earlier day'),
      waiting: number(20_000, 'deliveries that wait for later today'),
      times: number(50, 'searches'),
    },
  },
  metrics: {
    measures:
      'The cost of monitoring: processor time per push of a node that is scraped, of one without code for traces, and of one that is traced',
    module: 'metrics',
    peers: ['the plain node, before and after each of them'],
    options: {
      rate: number(1_200, 'pushes a second'),
      connections,
      seconds: number(10, 'seconds of each measurement'),
      rounds: number(6, 'rounds'),
      workspaces: number(12, 'workspaces'),
    },
  },
  'transport-soak': {
    measures:
      'Many requests over TLS to a server that is restarted under its connections: each gets exactly one outcome, and memory does not grow',
    ...{ module: 'transport', needs: ['/usr/sbin/nghttpd'] },
    peers: [],
    options: { requests: number(10_000_000, 'requests'), restarts: number(20, 'restarts of the server') },
  },
  console: {
    measures:
      'Every list and search of the console among a million users, ten thousand campaigns and a ledger of five million rows',
    module: 'console',
    peers: [],
    options: {
      users: number(1_000_000, 'users'),
      campaigns: number(10_000, 'campaigns'),
      ledger: number(5_000_000, 'rows of the ledger'),
      looks: number(40, 'requests of each kind'),
      only: text('', 'requests with this text in their name'),
      'data-dir': given('a folder that is kept, and used again if it is filled'),
    },
  },
  'console-load': {
    measures: 'From opening the console’s address until the overview shows its verdict, with an empty cache and again',
    ...{ module: 'browser', needs: ['/usr/bin/chromium'] },
    peers: [],
    options: { rounds: number(10, 'rounds') },
  },
  lighthouse: {
    measures: 'Lighthouse’s scores of the console’s screens, signed in, and the bytes and time until the first screen',
    ...{ module: 'browser', needs: ['/usr/bin/chromium'] },
    peers: [],
    options: {
      screens: text(',campaigns,segments,people,deliveries,log,keys,system', 'screens; the first is the overview'),
      rounds: number(3, 'rounds'),
    },
  },
  'cluster-values': {
    measures:
      'The costs that `npm run capacity` predicts with, by small campaigns on this machine, and other campaigns to compare predictions with',
    module: 'cluster-values',
    peers: ['the prediction of each campaign'],
    options: {
      compare: on('only sends the campaigns that are compared, with the recorded values'),
      devices: number(20_000, 'devices of a campaign that costs are taken from'),
      record: on('writes bench/results/cluster-values.json'),
    },
  },
  capacity: {
    measures:
      'Predicts a campaign to everybody on a cluster: when it ends, what limits it, and the load of the databases',
    ...{ kind: 'tool', module: 'capacity' },
    peers: [],
    options: {
      devices: text('1000000', 'devices; several, separated by commas, make a table'),
      within: given('minutes; finds the smallest number of workers that ends the campaign within them'),
      nodes: number(4, 'worker processes, each on a separate host'),
      chunks: given('chunks that a worker sends at the same time (CARILLON_WORKER_CHUNKS)'),
      window: given('devices in a window (CARILLON_WINDOW_DEVICES)'),
      'node-cores': number(2, 'cores of a worker’s host'),
      'database-workers': number(0, 'Citus workers; 0 is one PostgreSQL'),
      'database-cores': number(8, 'cores of PostgreSQL, or of the coordinator'),
      'database-worker-cores': number(8, 'cores of each Citus worker'),
      'api-nodes': number(2, 'nodes that answer calls; they hold connections'),
      connections: given('connections of a node (CARILLON_DATABASE_CONNECTIONS)'),
      'max-connections': number(100, 'the setting of PostgreSQL, or of the coordinator'),
      mix: text('60,35,5', 'devices in a hundred: Android, iOS, web'),
      'fcm-per-minute': given('quota of the Firebase project; Google’s usual one if absent'),
      providers: text('real', 'unlimited: they accept everything at once'),
      retry: text('0.005', 'share of requests that must be retried'),
      set: text('', 'other values than the recorded ones: name=number, separated by commas'),
      json: on('everything that is known, instead of a report'),
      document: on('writes the tables of docs/capacity.md again, when the values have changed'),
    },
  },
  'demo-send': {
    measures:
      'Starts a node, loads users from a file, sends one campaign to all of them, and compares the counts of the ledger and the simulators',
    ...{ kind: 'tool', module: 'demo-send' },
    peers: [],
    options: { users: number(100_000, 'users with one device each') },
  },
  profile: {
    measures: 'Prints the longest CPU profile of a folder as text, by file and by function',
    ...{ kind: 'tool', module: 'profile' },
    peers: [],
    options: { folder: text('', 'the folder that --profile was given'), lines: number(30, 'lines of each list') },
  },
} as const satisfies Record<string, CaseRow>;

export type CaseName = keyof typeof caseTable;

export type OptionsOf<Name extends CaseName> = {
  [Key in keyof (typeof caseTable)[Name]['options']]: (typeof caseTable)[Name]['options'][Key] extends Option<
    infer Value
  >
    ? Value
    : never;
};

/** A wrong command line; the message explains it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Returns the options of a case, with its defaults. @throws UsageError */
export function readCaseOptions<Name extends CaseName>(name: Name, words: readonly string[]): OptionsOf<Name> {
  const { options }: CaseRow = caseTable[name];
  const entries = Object.entries(options);
  const types = entries.map(([key, { value }]) => [
    key,
    { type: typeof value === 'boolean' ? ('boolean' as const) : ('string' as const) },
  ]);
  // `profile FOLDER` is the only word without a name.
  const args = name === 'profile' && words[0]?.startsWith('-') === false ? ['--folder', ...words] : [...words];
  let given: Record<string, unknown>;
  try {
    given = parseArgs({ args, options: Object.fromEntries(types) }).values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message} (npm run bench -- ${name} --help)`);
  }
  const read = entries.map(([key, { value }]) => {
    const word = given[key];
    if (word === undefined || typeof value !== 'number') return [key, word ?? value];
    const number = Number(word);
    if (!(Number.isFinite(number) && number >= 0)) throw new UsageError(`--${key} is a number, not ${String(word)}`);
    return [key, number];
  });
  return Object.fromEntries(read) as OptionsOf<Name>;
}

/** Returns the list of the cases. */
export function listCases(): string {
  const linesOf = (isTool: boolean): string[] =>
    (Object.entries(caseTable) as [string, CaseRow][])
      .filter(([, { kind }]) => (kind === 'tool') === isTool)
      .map(([name, { measures, budget = '' }]) => `  ${name.padEnd(16)} ${budget.padEnd(4)} ${measures}`);
  return [
    'Usage: npm run bench -- <case> [options], or npm run bench [-- --quick] [--record] [--only P1,P5]',
    '',
    'Without a case it runs those of the budgets P1 to P10 with their peers and prints one table.',
    ...['', 'Measurements:', ...linesOf(false), '', 'Tools:', ...linesOf(true), ''],
    'npm run bench -- <case> --help lists the options of a case.',
    '',
  ].join('\n');
}

/** Returns the description of a case with its options. */
export function describeCase(name: CaseName): string {
  const { measures, peers, needs = [], options }: CaseRow = caseTable[name];
  const lines = Object.entries(options).map(([key, { value, about }]) => {
    const shown = typeof value === 'boolean' ? `--${key}` : `--${key} ${value ?? '…'}`;
    return `  ${shown.padEnd(28)} ${about}`;
  });
  return [
    measures,
    ...(peers.length === 0 ? [] : [`Peers: ${peers.join('; ')}`]),
    ...(needs.length === 0 ? [] : [`Needs: ${needs.join(', ')}`]),
    '',
    ...lines,
    '',
  ].join('\n');
}

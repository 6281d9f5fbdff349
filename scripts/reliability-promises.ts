/** A test that proves a promise: its file, and its title or the title of its table. */
type TestProof = { file: string; test: string };

export type ReliabilityPromise = {
  id: string;
  promise: string;
  /** Checks of test:torture; their numbers are shown next to the promise. */
  scenarios: string[];
  tests: TestProof[];
  /** Scripts of package.json: measurements that take longer than a test. */
  commands: string[];
  /** The open part; starts with "Not proven" if it is the whole promise or a part of it. */
  open?: string;
};

const server = (file: string, test: string): TestProof => ({ file: `server/test/${file}.test.ts`, test });

const killRounds = [
  ...['kill-worker', 'kill-node', 'kill-node-at-work', 'kill-database', 'freeze-worker', 'capped-campaigns'],
  ...['terminated-sessions', 'full-disk'],
];

/** The promises of `docs/spec/reliability.md`, and the proof of each. */
export const reliabilityPromises: readonly ReliabilityPromise[] = [
  {
    id: 'reliability R1',
    promise: 'A request that was answered is stored and sent, whatever is killed or cut at that moment.',
    scenarios: [
      'api-crash',
      'kill-node-at-work',
      'lost-commits',
      'lost-commits-pooled',
      'terminated-sessions',
      'full-disk',
    ],
    tests: [
      server(
        'torture/torture',
        'a request that was answered is on disk and sent, whatever was killed (reliability R1)',
      ),
    ],
    commands: [],
  },
  {
    id: 'reliability R2',
    promise: 'A crash loses no recipient: each device gets its message and has one row in the ledger.',
    scenarios: [...killRounds, 'kill-workers', 'frozen-worker', 'deadly-device'],
    tests: [
      server('torture/torture', 'workers killed at random moments lose nobody (reliability R2)'),
      server(
        'engine/fan-out/fan-out',
        'repeats exactly the window that was not stored, under the same identities (reliability R2, R3)',
      ),
    ],
    commands: ['test:simulation'],
  },
  {
    id: 'reliability R3',
    promise: 'A crash repeats at most the messages of open windows, under the same identity, so phones show each once.',
    scenarios: ['kill-worker', 'kill-node', 'kill-database', 'freeze-worker', 'terminated-sessions', 'stop-workers'],
    tests: [server('torture/torture', 'workers that are stopped lose and repeat nothing (reliability R3)')],
    commands: ['test:simulation'],
  },
  {
    id: 'reliability R4',
    promise:
      'An occurrence is fired once or recorded as missed, with any number of nodes, across clock changes and downtime.',
    scenarios: ['kill-node-at-work', 'every-zone'],
    tests: [
      server(
        'engine/scheduler',
        'is fired once per campaign by 8 schedulers at the same time, for 1,000 due campaigns (fault F15, reliability R4)',
      ),
      server('engine/scheduler', 'every third day keeps its local time over both clock changes (fault F11)'),
      server(
        'engine/scheduler',
        'leaves MISSED rows of a daily campaign and one late send after three days, never a burst',
      ),
      server(
        'engine/scheduler',
        'is recorded in bounded batches after a year, every occurrence once, by competing schedulers',
      ),
    ],
    commands: ['test:simulation'],
  },
  {
    id: 'reliability R5',
    promise:
      'A failing provider delays its messages only: all are delivered, with few attempts, and other providers are not affected.',
    scenarios: ['provider-faults'],
    tests: [
      server(
        'engine/fan-out/fan-out',
        'costs no attempts, however long it is away, and delays no other; then all messages are sent (reliability R5)',
      ),
      server(
        'engine/fan-out/fan-out',
        'unknown: gives up a device after 8 attempts, and the run ends (reliability R5, R7)',
      ),
      server('engine/delivery/outcomes', 'treats a missing response as unknown, for every provider'),
    ],
    commands: ['test:simulation'],
  },
  {
    id: 'reliability R6',
    promise:
      'Addresses that a provider reports as gone are dropped; an address that was registered again since then stays.',
    scenarios: [],
    tests: [
      server('engine/delivery/outcomes', 'maps to the documented outcome: $platform: $what'),
      server('engine/fan-out/fan-out', 'gone since before the app registered again: keeps the device (reliability R6)'),
      server('engine/fan-out/fan-out', 'gone: removes the device, and no other'),
    ],
    commands: [],
  },
  {
    id: 'reliability R7',
    promise: 'Every campaign ends, even if its workers die or one of its recipients crashes the process that sends.',
    scenarios: [...killRounds, 'deadly-device'],
    tests: [
      server(
        'engine/fan-out/fan-out',
        'quarantines a chunk after ten crashes before a window was opened, and the run ends FAILED',
      ),
      server('engine/fan-out/chunks', 'is found by halving and quarantined, and all others are reached (fault F16)'),
    ],
    commands: ['test:simulation'],
  },
  {
    id: 'reliability R8',
    promise: 'A file does no harm: it gets correct counts or a clear error, in bounded memory.',
    scenarios: [],
    tests: [
      server('segments/file-segment', 'counts every file of test/fixtures/csv as its expected.json says (torture)'),
      server('segments/file-segment', 'counts any file as the simplest model does (decision D23)'),
      server('engine/segment-fill/download-file', 'stops 200 MiB of zeros in %s, with flat memory'),
      server('engine/segment-fill/download-file', 'allows exactly 150 MiB, and not one byte more'),
      server(
        'engine/segment-fill/download-file',
        'ends after a minute at a byte every 29 seconds, with a detail for the callback',
      ),
      server('engine/segment-fill/file-lines', 'are skipped at 60 MB, with flat memory (fault F30)'),
    ],
    commands: [],
  },
  {
    id: 'reliability R9',
    promise: 'A callback arrives once its receiver is up, under the same id; one that was given up can be sent again.',
    scenarios: [],
    tests: [
      server('engine/callbacks/callbacks', 'delivers a callback once to a receiver that returns after hours'),
      server(
        'engine/callbacks/callbacks',
        'has the same id and body on every attempt, a new timestamp, and a valid signature',
      ),
      server('engine/callbacks/callbacks', 'delays neither the same batch nor later callbacks for a slow receiver'),
      server('engine/callbacks/receivers', 'does not wait for 1,000 callbacks of another workspace to %i silent hosts'),
      server('engine/callbacks/receivers', 'gets all waiting callbacks once it responds, each once'),
      server(
        'engine/callbacks/callbacks',
        'resends a callback that was delivered or given up, with the whole schedule and the same id',
      ),
    ],
    commands: [],
  },
  {
    id: 'reliability R10',
    promise: 'No caller reaches the data of another, and Carillon calls no internal address on behalf of a caller.',
    scenarios: [],
    tests: [
      server(
        'tenants/other-workspace',
        'answers another workspace’s credentials as if the thing were not there, and changes nothing',
      ),
      server(
        'tenants/other-workspace',
        'every route of the data family, in the name of either workspace, reads and writes nothing of another’s',
      ),
      server(
        'tenants/wall',
        'row-level security is enabled and forced on every table that has a workspace_id, and on its partitions',
      ),
      server('engine/outgoing-http/outgoing-client', 'are not connected to a private address in any spelling'),
      server('engine/outgoing-http/outgoing-proxy', 'reject a private address before the proxy is contacted'),
    ],
    commands: [],
  },
  {
    id: 'reliability R11',
    promise: 'Bad input gets a clear error: the documented shape, never a 5xx.',
    scenarios: [],
    tests: [
      server(
        'fuzz/fuzz-routes',
        'no hostile request is answered with a fault of ours, or in another shape than the documented one',
      ),
      server(
        'data/data-endpoints',
        'answers any request in the documented shape, and never with an internal error (reliability R11)',
      ),
      server(
        'segments/segment-endpoints',
        'answers any request in the documented shape, and never with an internal error (reliability R11)',
      ),
      server(
        'campaigns/search',
        'responds to any input in the documented shape and never with an internal fault (reliability R11)',
      ),
      server(
        'push/push-endpoints',
        'gets a response of the documented shape and never an internal fault, whatever it contains',
      ),
    ],
    commands: ['test:fuzz'],
    open: '[The last run](reports/fuzz.txt) of `test:fuzz` is recorded separately.',
  },
  {
    id: 'reliability R12',
    promise: 'Limits are exact on several nodes: no request too many is accepted, and none is rejected too early.',
    scenarios: [],
    tests: [
      server(
        'segments/file-uploads',
        'match the model of two sliding windows exactly, on two nodes, at any pauses (reliability R12)',
      ),
      server(
        'storage/limits',
        'decide in one statement as a naive model does, with a wait up to the first passing second',
      ),
      server('tokens/tokens', 'two nodes on one database share the limit, also for concurrent calls'),
    ],
    commands: [],
  },
  {
    id: 'reliability R13',
    promise: 'Requests beyond the capacity of storage are rejected at once, with the time to retry; nothing collapses.',
    scenarios: [],
    tests: [
      server('push/pushes', 'rejects an item beyond the maximum number waiting immediately, with the time to retry'),
    ],
    commands: [],
    open: 'Not proven as a whole: no run applies ten times the sustainable load for a minute and checks memory and recovery.',
  },
  {
    id: 'reliability R14',
    promise: 'An upgrade loses nothing, and a database that is newer than the code is refused.',
    scenarios: [],
    tests: [
      server('storage/migrations', 'rejects a database migrated by a newer version, and names the unknown migration'),
      server('storage/migrations', 'rejects a migration that was edited after it was applied'),
      server('backup/first-migration', 'restores a backup of migration 1 completely, and a node serves it'),
      server('backup/first-migration', 'migrates a database of migration 1 in place to the same schema and rows'),
    ],
    commands: [],
    open: 'Not proven as a whole: no version has been released yet, so there is no older schema with data, and no older node that runs on a newer schema.',
  },
  {
    id: 'reliability R15',
    promise: 'It keeps running: memory, handles and connections do not grow under mixed load.',
    scenarios: [],
    tests: [],
    commands: ['test:soak'],
    open: 'A run of fifteen minutes is [recorded separately](reports/soak.md). The promised hour is not proven.',
  },
];

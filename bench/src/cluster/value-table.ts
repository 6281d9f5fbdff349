import type { ValueRow } from './cluster-values.ts';
import { platforms } from './scenario.ts';

type Described = Omit<ValueRow, 'value'>;

const measured = (unit: string, about: string): Described => ({ unit, origin: 'measured', about });
const assumed = (unit: string, about: string): Described => ({ unit, origin: 'assumed', about });

const single: Record<string, Described> = {
  workerMicrosecondsPerWindow: measured(
    'µs',
    'What a window costs the thread of a worker whatever its size: from a run with small and one with large windows.',
  ),
  workerIdleMillisecondsPerSecond: measured('ms/s', 'Processor time of a worker that has nothing to send.'),
  databaseMicrosecondsPerWindow: measured(
    'µs',
    'Processor time of all processes of PostgreSQL for a window, whatever its size.',
  ),
  pageShare: measured('share', 'Of the time of the statements of a window, that of reading its page.'),
  walBytesPerDevice: measured('bytes', 'Write-ahead log for each device: its row of the ledger.'),
  walBytesPerWindow: measured('bytes', 'The same for a window: chunk, cursor, counters, commits.'),
  statementsPerWindow: measured('statements', 'Sent for a window, with begin and commit.'),
  statementMicroseconds: measured('µs', 'Processor time of a short statement: that of a window by its statements.'),
  walBytesPerStatement: measured(
    'bytes',
    'Write-ahead log of a short statement that writes one row: half of that of a window, which has two.',
  ),
  idleStatementsPerSecond: measured('statements/s', 'Of a worker that has nothing to send: jobs and slots that look.'),
  idleDatabaseMillisecondsPerSecond: measured('ms/s', 'Processor time of PostgreSQL for such a worker.'),
  retryMicrosecondsPerDevice: assumed(
    'µs',
    'Processor time of PostgreSQL for each device that is tried again: its row is changed twice instead of inserted once.',
  ),
  retryWalBytesPerDevice: assumed('bytes', 'Write-ahead log for it: the same.'),
  flushMilliseconds: measured('ms', 'One flush of the write-ahead log: median of 200 on the disk of the measurement.'),
  roundTripMilliseconds: assumed('ms', 'Between two machines of one network; on one machine a tenth of it.'),
  startMilliseconds: measured('ms', 'From an accepted push until its run is cut into chunks, whatever its size.'),
  startMillisecondsPerMillionDevices: measured('ms', 'The same for counting the audience.'),
  simulatorMilliseconds: assumed('ms', 'Until a simulator replies that has nothing else to do, on the same machine.'),
  coordinatorMicrosecondsPerStatement: measured(
    'µs',
    'Of a coordinator for each statement that it passes on to one shard: parsing, choosing the shard, writing it anew.',
  ),
  coordinatorMicrosecondsPerDevice: measured('µs', 'Of a coordinator for each row that passes through it.'),
  coordinatorWalBytesPerTransaction: assumed(
    'bytes',
    'Of a coordinator for each transaction that writes to a shard: the row of its chunk and the commit.',
  ),
};

const perPlatform: Record<string, Described> = {
  workerMicrosecondsPerDevice: measured(
    'µs',
    'Of the thread of a worker for each device, beyond what its window costs.',
  ),
  helperMicrosecondsPerDevice: measured(
    'µs',
    'Of its other threads: those that encrypt for browsers, garbage collection, compiler.',
  ),
  databaseMicrosecondsPerDevice: measured(
    'µs',
    'Of all processes of PostgreSQL for each device of a window: browsers have long addresses and keys.',
  ),
  simulatorMicrosecondsPerDevice: measured('µs', 'Of the simulators for each message.'),
  streams: assumed('streams', 'That a provider allows on one connection; Apple and Google do not promise a number.'),
  latencyMilliseconds: assumed('ms', 'Median until a provider replies.'),
  latencySpread: assumed('times', 'The 99th of a hundred replies takes so many times the median.'),
};

/** The meaning of each value, in the order of the file. */
export const valueTable: Readonly<Record<string, Described>> = {
  ...single,
  ...Object.fromEntries(
    Object.entries(perPlatform).flatMap(([name, row]) => platforms.map((platform) => [`${name}.${platform}`, row])),
  ),
};

/** Values that cannot be measured with simulators; `--set` replaces one for a simulation. */
export const assumedValues: Readonly<Record<string, number>> = {
  roundTripMilliseconds: 0.5,
  simulatorMilliseconds: 1,
  coordinatorWalBytesPerTransaction: 400,
  'streams.ANDROID': 100,
  'streams.IOS': 1000,
  'streams.WEB': 100,
  'latencyMilliseconds.ANDROID': 80,
  'latencyMilliseconds.IOS': 40,
  'latencyMilliseconds.WEB': 100,
  'latencySpread.ANDROID': 5,
  'latencySpread.IOS': 5,
  'latencySpread.WEB': 5,
};

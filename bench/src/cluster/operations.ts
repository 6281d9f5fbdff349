import type { ClusterValues } from './cluster-values.ts';
import { weigh } from './scenario.ts';
import type { ByPlatform } from './scenario.ts';
import type { Operation } from './simulated-database.ts';

export type Operations = ReturnType<typeof makeOperations>;

type Rows = { bucket: number; devices: number; counts: ByPlatform };
type Due = Omit<Rows, 'counts'>;

/**
 * Returns the transactions of a worker, in the order of `engine/fan-out/send-window.ts`. The measured cost of a whole window is
 * divided among its three: reading the page, opening the window, storing the outcomes.
 */
export function makeOperations(values: ClusterValues) {
  const { statementMicroseconds, walBytesPerStatement, statementsPerWindow, databaseMicrosecondsPerWindow } = values;
  const perStatement = databaseMicrosecondsPerWindow / statementsPerWindow;
  const rowMicroseconds = ({ counts }: Rows): number => weigh(counts, values.databaseMicrosecondsPerDevice);
  /** The page and the opening use one statement each. */
  const storeStatements = statementsPerWindow - 2;
  const openWalBytes = values.walBytesPerWindow / 2;

  const local = (statements: number, kind: Operation['kind']): Operation => ({
    statements,
    microseconds: statements * statementMicroseconds,
    walBytes: kind === 'write' ? statements * walBytesPerStatement : 0,
    kind,
  });
  const again = ({ bucket, devices }: Due, statements: number): Operation => ({
    bucket,
    devices,
    statements,
    microseconds: perStatement * statements + devices * values.retryMicrosecondsPerDevice * 0.5,
    walBytes: openWalBytes + devices * values.retryWalBytesPerDevice * 0.5,
    kind: 'write',
  });

  return {
    /** Chunks and runs are on the coordinator. */
    claim: () => local(1, 'write'),
    /** Reads the run, and the progress of the chunk. */
    findRun: () => local(2, 'read'),
    heartbeat: (chunks: number): Operation => ({ ...local(1, 'write'), walBytes: chunks * walBytesPerStatement }),
    page: (rows: Rows): Operation => ({
      bucket: rows.bucket,
      devices: rows.devices,
      statements: 1,
      microseconds: perStatement + rowMicroseconds(rows) * values.pageShare,
      walBytes: 0,
      kind: 'read',
    }),
    /** Updates the chunk's row. */
    open: (): Operation => ({ statements: 1, microseconds: perStatement, walBytes: openWalBytes, kind: 'write' }),
    endChunk: (): Operation => local(1, 'write'),
    store: (rows: Rows): Operation => ({
      bucket: rows.bucket,
      devices: rows.devices,
      statements: storeStatements,
      microseconds: perStatement * storeStatements + rowMicroseconds(rows) * (1 - values.pageShare),
      walBytes: values.walBytesPerWindow - openWalBytes + rows.devices * values.walBytesPerDevice,
      kind: 'write',
    }),
    /** Retries: half of the cost is the claim, half the settling. */
    claimDue: (rows: Due): Operation => again(rows, 2),
    settle: (rows: Due): Operation => again(rows, storeStatements),
    endRun: () => local(4, 'write'),
    idleSecond: (): Operation => ({
      statements: values.idleStatementsPerSecond,
      microseconds: values.idleDatabaseMillisecondsPerSecond * 1000,
      walBytes: 0,
      kind: 'read',
    }),
  };
}

import type { ClusterValues } from './cluster-values.ts';
import type { Operation } from './simulated-database.ts';

export type Operations = ReturnType<typeof makeOperations>;

type Rows = { bucket: number; devices: number };

/**
 * The transactions of a worker, in the order of `engine/fan-out/send-window.ts`, with what was measured of a whole window
 * divided among its three: the page is read, the window is opened, the outcomes are stored.
 */
export function makeOperations(values: ClusterValues) {
  const { statementMicroseconds, walBytesPerStatement, statementsPerWindow, databaseMicrosecondsPerWindow } = values;
  const perStatement = databaseMicrosecondsPerWindow / statementsPerWindow;
  const pageMicroseconds = values.databaseMicrosecondsPerDevice * values.pageShare;
  const storeMicroseconds = values.databaseMicrosecondsPerDevice - pageMicroseconds;
  /** The page and the opening are one each. */
  const storeStatements = statementsPerWindow - 2;
  const openWalBytes = values.walBytesPerWindow / 2;

  const local = (statements: number, kind: Operation['kind']): Operation => ({
    statements,
    microseconds: statements * statementMicroseconds,
    walBytes: kind === 'write' ? statements * walBytesPerStatement : 0,
    kind,
  });
  const again = ({ bucket, devices }: Rows, statements: number): Operation => ({
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
    /** The run, and how far the chunk has come. */
    findRun: () => local(2, 'read'),
    heartbeat: (chunks: number): Operation => ({ ...local(1, 'write'), walBytes: chunks * walBytesPerStatement }),
    page: ({ bucket, devices }: Rows): Operation => ({
      bucket,
      devices,
      statements: 1,
      microseconds: perStatement + devices * pageMicroseconds,
      walBytes: 0,
      kind: 'read',
    }),
    /** The chunk's row. */
    open: (): Operation => ({ statements: 1, microseconds: perStatement, walBytes: openWalBytes, kind: 'write' }),
    endChunk: (): Operation => local(1, 'write'),
    store: ({ bucket, devices }: Rows): Operation => ({
      bucket,
      devices,
      statements: storeStatements,
      microseconds: perStatement * storeStatements + devices * storeMicroseconds,
      walBytes: values.walBytesPerWindow - openWalBytes + devices * values.walBytesPerDevice,
      kind: 'write',
    }),
    /** Retries: half of what one costs is its claim, half its settling. */
    claimDue: (rows: Rows): Operation => again(rows, 2),
    settle: (rows: Rows): Operation => again(rows, storeStatements),
    endRun: () => local(4, 'write'),
    idleSecond: (): Operation => ({
      statements: values.idleStatementsPerSecond,
      microseconds: values.idleDatabaseMillisecondsPerSecond * 1000,
      walBytes: 0,
      kind: 'read',
    }),
  };
}

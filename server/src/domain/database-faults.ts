// Codes of the driver, of the operating system, and of a PostgreSQL that is shutting down or starting (class 57P, 08).
const outageCodes = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_WAIT_TIMEOUT',
  'COMMIT_OUTCOME_UNKNOWN',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '08000',
  '08003',
  '08006',
  // a pooler that lost its own connection
  '08P01',
]);

// Connections, authorisation, transaction state, deadlocks, resources, limits, locks, operators, system and internal errors.
const databaseClasses = ['08', '25', '28', '40', '53', '54', '55', '57', '58', 'XX'];

/**
 * True if the database itself is the reason for the error (it is unreachable, its disk is full, a lock is held), so that the
 * same statement may succeed later. Other errors concern the input.
 */
export function isDatabaseFault(error: unknown): boolean {
  const code = (error as { code?: unknown } | undefined)?.code;
  return (
    isOutage(error) || (typeof code === 'string' && code.length === 5 && databaseClasses.includes(code.slice(0, 2)))
  );
}

/**
 * True if the data to be stored is at fault, so that it fails again unchanged: PostgreSQL rejected it without a fault of the
 * database itself, or the data could not be written as a statement.
 */
export function isFaultOfContent(error: unknown): boolean {
  if (isDatabaseFault(error)) return false;
  const isRefused = typeof (error as { severity?: unknown } | undefined)?.severity === 'string';
  return isRefused || error instanceof TypeError || error instanceof RangeError;
}

/** True if the database could not be reached or ended the session, so that the statement itself is not at fault. */
export function isOutage(error: unknown): boolean {
  return outageCodes.has((error as { code?: string } | undefined)?.code ?? '');
}

/** True if PostgreSQL ended the transaction to break a deadlock. Nothing of it is stored, and it may be retried. */
export function isDeadlock(error: unknown): boolean {
  return (error as { code?: string } | undefined)?.code === '40P01';
}

const maxTries = 3;

/** Retries the work if the database aborted it because of a deadlock. */
export async function retryDeadlock<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isDeadlock(error) || attempt === maxTries) throw error;
    }
  }
}

// SQLSTATE: disk full, out of memory, read-only (a replica that was not promoted, or set by an operator for a full disk).
const refusalCodes = new Set(['53100', '53200', '25006']);

/** True if the database responds but accepts no writes. The statement stored nothing, and the next one may fail too. */
export function refusesWrites(error: unknown): boolean {
  return refusalCodes.has((error as { code?: string } | undefined)?.code ?? '');
}

/** True if the answer to a commit was lost: the transaction may be stored. */
export function isPerhapsStored(error: unknown): boolean {
  return (error as { code?: string }).code === 'COMMIT_OUTCOME_UNKNOWN';
}

// Of the driver, of the operating system, and of a PostgreSQL that ends or begins (class 57P, 08).
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
  // a pooler whose own connection was lost
  '08P01',
]);

// Connections, authorisation, transaction state, deadlocks, resources, limits, locks, operators, its system, its inside.
const databaseClasses = ['08', '25', '28', '40', '53', '54', '55', '57', '58', 'XX'];

/**
 * Whether the database refuses for a reason of its own (it is away, its disk is full, a lock is held), so that the same
 * statement may succeed later. Others are about what it was given.
 */
export function isDatabaseFault(error: unknown): boolean {
  const code = (error as { code?: unknown } | undefined)?.code;
  return (
    isOutage(error) || (typeof code === 'string' && code.length === 5 && databaseClasses.includes(code.slice(0, 2)))
  );
}

/**
 * Whether what was to be stored is at fault, so that it fails again as it is: PostgreSQL refused it, and for no reason of its
 * own, or it could not be written as a statement.
 */
export function isFaultOfContent(error: unknown): boolean {
  if (isDatabaseFault(error)) return false;
  const isRefused = typeof (error as { severity?: unknown } | undefined)?.severity === 'string';
  return isRefused || error instanceof TypeError || error instanceof RangeError;
}

/** Whether the database could not be reached or ended the session, so that the statement itself is not at fault. */
export function isOutage(error: unknown): boolean {
  return outageCodes.has((error as { code?: string } | undefined)?.code ?? '');
}

/** Whether PostgreSQL ended the transaction to break a circle of locks: nothing of it is stored, and it may be tried again. */
export function isDeadlock(error: unknown): boolean {
  return (error as { code?: string } | undefined)?.code === '40P01';
}

// SQLSTATE: disk full, out of memory, read-only (a copy that was not promoted, or an operator's hand on a full disk).
const refusalCodes = new Set(['53100', '53200', '25006']);

/** Whether the database answers and takes no writes. Nothing of the statement is stored; the next one may fare no better. */
export function refusesWrites(error: unknown): boolean {
  return refusalCodes.has((error as { code?: string } | undefined)?.code ?? '');
}

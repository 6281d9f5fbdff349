const maxLastLines = 3;
const maxNotes = 3;

// `%m [%p] `, the prefix that PostgreSQL puts before each line by default.
const prefix = /^[\d-]+ [\d:.]+ [A-Z]+ \[\d+\] /;
/** What concerns one client: it came too early, as our own look at a port does, or its connection was ended. */
const ofClient = /^FATAL: +(the database system is |terminating connection |password authentication failed )/;

/**
 * Collects what PostgreSQL or initdb writes to standard error, in bounded memory, and says why it ended: the lines after
 * the reason only say that the server shuts down.
 */
export function makeServerLog() {
  let reason: { line: string; isPanic: boolean; notes: string[]; isOpen: boolean } | undefined;
  const lastLines: string[] = [];

  return {
    add(given: string): void {
      const line = given.replace(prefix, '');
      if (lastLines.push(line) > maxLastLines) lastLines.shift();
      const isPanic = line.startsWith('PANIC:');
      const isFatal = line.startsWith('FATAL:') && !ofClient.test(line);
      const isReason = isPanic || isFatal || line.startsWith('initdb: error:');
      // The first panic ends the server; a fatal line may be one that a client got long ago.
      if (isReason && !reason?.isPanic) {
        reason = { line, isPanic, notes: [], isOpen: true };
      } else if (reason?.isOpen) {
        const isNote = /^(DETAIL|HINT|CONTEXT):/.test(line) && reason.notes.length < maxNotes;
        if (isNote) reason.notes.push(line);
        else reason.isOpen = false;
      }
    },

    /** Returns the line that names the reason with its details, else the last lines. */
    explain: (): string => (reason ? [reason.line, ...reason.notes] : lastLines).join(' / '),

    /** True when PostgreSQL refused to start because of the lock file of the cluster. */
    hasRefusedLockFile: (): boolean => /lock file "postmaster\.pid" already exists/.test(reason?.line ?? ''),
  };
}

export type ServerLog = ReturnType<typeof makeServerLog>;

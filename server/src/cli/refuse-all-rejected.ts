import type { Reject } from '../app/import/rejects-file.ts';
import { StartError } from '../start/start-errors.ts';
import { toPlainLine } from './print-table.ts';

type Loaded = { file: string; taken: number; rejected: number; firstReject: Reject | undefined };

/** Ends an import of which no line could be taken with 2, so that a script notices. @throws StartError SETTING_INVALID */
export function refuseAllRejected({ file, taken, rejected, firstReject }: Loaded): void {
  if (taken > 0 || rejected === 0) return;
  // Some reasons are sentences of their own.
  const first = firstReject ? `; line ${firstReject.line}: ${toPlainLine(firstReject.reason).replace(/\.$/, '')}` : '';
  throw new StartError('SETTING_INVALID', `Every line was rejected${first}. ${file}.rejects.ndjson has the reasons.`);
}

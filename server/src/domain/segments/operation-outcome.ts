import { minFileBytesPerSecond } from './limits.ts';
import { unknownCase } from '../unknown-case.ts';

export type OperationKind = 'CREATE' | 'ADD' | 'REMOVE' | 'REPLACE';

export type OperationSuccess = { status: 201; valuesFound: number; valuesProcessed: number; userCount: number };
export type OperationFailure = { status: 400 | 500; errorMessage: string };
export type OperationOutcome = OperationSuccess | OperationFailure;

/** Why an operation failed; the texts that fact 2.2 shows are kept to the letter. */
export type OperationFault =
  | { kind: 'too-large' }
  | { kind: 'download' }
  | { kind: 'too-slow' }
  | { kind: 'encoding'; reason: string }
  | { kind: 'content-type' }
  | { kind: 'unreadable'; reason: string }
  | { kind: 'daily-users' }
  | { kind: 'internal' };

/** What the callback and the report say of a failure. */
export function describeFault(fault: OperationFault, kind: OperationKind): OperationFailure {
  if (fault.kind === 'internal') {
    return { status: 500, errorMessage: 'Internal Server Error. Contact Carillon Team.' };
  }
  const left =
    kind === 'CREATE' ? 'Created custom_segment contains 0 users.' : 'The members of the custom_segment are unchanged.';
  return { status: 400, errorMessage: `${sentenceOf(fault)} ${left}` };
}

function sentenceOf(fault: Exclude<OperationFault, { kind: 'internal' }>): string {
  switch (fault.kind) {
    case 'too-large':
      return 'File size cannot be greater than 150MB.';
    case 'download':
      return 'File download failed.';
    case 'too-slow':
      return `File download failed: it came slower than ${minFileBytesPerSecond} bytes a second.`;
    case 'encoding':
      return `File download failed: ${fault.reason}.`;
    case 'content-type':
      return 'File content type is not supported.';
    case 'unreadable':
      return `File cannot be read: ${fault.reason}.`;
    case 'daily-users':
      return 'Users uploaded per day limit breached.';
    default:
      return unknownCase(fault);
  }
}

/** The callback's body, exactly as table 2.7 of the interface has it. */
export function callbackBody(operation: {
  dbName: string;
  segmentName: string;
  requestId: string;
  outcome: OperationOutcome;
}): string {
  const { outcome } = operation;
  return JSON.stringify({
    db_name: operation.dbName,
    segment_name: operation.segmentName,
    request_id: operation.requestId,
    status: outcome.status,
    ...(outcome.status === 201
      ? {
          values_found: outcome.valuesFound,
          values_processed: outcome.valuesProcessed,
          user_count: outcome.userCount,
        }
      : { error_message: outcome.errorMessage }),
  });
}

import { minFileBytesPerSecond, maxFileValueBytes } from '../limits/segments.ts';
import { unknownCase } from '../unknown-case.ts';
import { storedNameOf } from '../users/standard-attributes.ts';
import { canonicalNumber, identifierOf } from '../users/users.ts';

export type OperationKind = 'CREATE' | 'ADD' | 'REMOVE' | 'REPLACE';

export type OperationSuccess = { status: 201; valuesFound: number; valuesProcessed: number; userCount: number };
export type OperationFailure = { status: 400 | 500; errorMessage: string };
export type OperationOutcome = OperationSuccess | OperationFailure;

/** Why an operation failed; the texts in fact 2.2 are used verbatim. */
export type OperationFault =
  | { kind: 'too-large' }
  | { kind: 'download' }
  | { kind: 'too-slow' }
  | { kind: 'encoding'; reason: string }
  | { kind: 'content-type' }
  | { kind: 'unreadable'; reason: string }
  | { kind: 'daily-users' }
  | { kind: 'internal' };

/** Returns the status and message of a failure for the callback and the report. */
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

/** Returns the callback's body, exactly as in table 2.7 of the interface. */
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

export type OperationReportInput = {
  segmentName: string;
  kind: 'CREATE' | 'ADD' | 'REMOVE' | 'REPLACE';
  requestId: string;
  /** As in the callback (interface 2.7). */
  result:
    | { status: 201; valuesFound: number; valuesProcessed: number; userCount: number }
    | { status: 400 | 500; errorMessage: string };
  rejects: { line: number; reason: string }[];
};

export type OperationReport = { subject: string; body: string };

const maxRejects = 20;
const maxNameInSubject = 120;

/**
 * Returns the email about a finished file operation: subject and plain text. It shows counts and line numbers, never a
 * value of the file, because not every reader of the email is allowed to see the users' data.
 */
export function operationReport(input: OperationReportInput): OperationReport {
  const name = toOneLine(input.segmentName);
  const isSuccess = input.result.status === 201;
  return {
    subject: `Segment "${cut(name)}": ${isSuccess ? succeeded[input.kind] : failed[input.kind]}`,
    body: [
      `Segment: ${name}`,
      `Operation: ${input.kind.toLowerCase()}`,
      `Request: ${toOneLine(input.requestId)}`,
      '',
      ...resultLines(input.result),
      ...rejectLines(input.rejects),
      '',
    ].join('\n'),
  };
}

const succeeded = {
  CREATE: 'created',
  ADD: 'users added',
  REMOVE: 'users removed',
  REPLACE: 'users replaced',
} as const;

const failed = {
  CREATE: 'creation failed',
  ADD: 'adding users failed',
  REMOVE: 'removing users failed',
  REPLACE: 'replacing users failed',
} as const;

function resultLines(result: OperationReportInput['result']): string[] {
  if (result.status !== 201) return [`Failed with status ${result.status}: ${toOneLine(result.errorMessage)}`];
  return [
    'Succeeded with status 201.',
    `Values found: ${result.valuesFound}`,
    `Values processed: ${result.valuesProcessed}`,
    `Users: ${result.userCount}`,
  ];
}

function rejectLines(rejects: OperationReportInput['rejects']): string[] {
  if (rejects.length === 0) return [];
  const shown = rejects.toSorted((left, right) => left.line - right.line).slice(0, maxRejects);
  const hidden = rejects.length - shown.length;
  return [
    '',
    'Rejected lines of the file:',
    ...shown.map((reject) => `  line ${reject.line}: ${toOneLine(reject.reason)}`),
    ...(hidden > 0 ? [`  and ${hidden} more`] : []),
  ];
}

/**
 * Returns text from others on one line. A line break would start a new header or fake a line of the report (fault 3.6,
 * V1.3.11), and characters that change the text direction would hide what follows.
 */
function toOneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .toWellFormed()
    .trim();
}

/** Truncates by code points, so that no character is cut in half. */
function cut(name: string): string {
  const points = Array.from(name);
  return points.length <= maxNameInSubject ? name : `${points.slice(0, maxNameInSubject - 1).join('')}…`;
}

/** Why a line was skipped, as worded in the report. */
export const rejectReasons = {
  empty: 'the line is empty',
  long: `the value is longer than ${maxFileValueBytes} bytes`,
  comma: 'the value contains a comma',
  quote: 'the value contains a quote',
  hash: 'the value contains #',
  control: 'the value contains a control character',
  encoding: 'the value is not UTF-8',
  number: 'the value is not a number',
  repeated: 'the value repeats an earlier line',
} as const;

export type RejectReason = keyof typeof rejectReasons;

/**
 * Returns the stored form of a number in a file, or undefined if the text is not a number: 7, 7.0 and 7e0 are one value
 * (decision D24). Hexadecimal, blanks and words for infinity are not numbers.
 */
export function parseFileNumber(text: string): string | undefined {
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? canonicalNumber(value) : undefined;
}

/** Returns why a file cannot be one column of values, judged by its first bytes; undefined if it can. */
export function fileFault(head: Uint8Array): string | undefined {
  const [first, second, third, fourth] = head;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return 'it is UTF-16, not UTF-8';
  if (first === 0x50 && second === 0x4b && third === 0x03 && fourth === 0x04) return 'it is a ZIP archive';
  if (first === 0x1f && second === 0x8b) return 'it is compressed, and the server did not say so';
  // UTF-16 without its mark: every other byte of Western text is NUL.
  const zeros = head.reduce((count, byte) => count + (byte === 0 ? 1 : 0), 0);
  if (head.length >= 4 && zeros * 3 >= head.length) return 'it is not UTF-8 text';
  const start = new TextDecoder('utf-8').decode(head).trimStart().toLowerCase();
  if (start.startsWith('<!doctype') || start.startsWith('<html')) return 'it is an HTML page';
  return undefined;
}

/** How a file's values identify users: by customer id, or by an attribute of a type. */
export type ValueMeaning =
  { kind: 'customer-id' } | { kind: 'attribute'; attribute: string; type: 'string' | 'double' };

type NamedBy = { attributeName: string; attributeType: 'string' | 'double' };

/** Returns how a file's values name users. The attribute is either the sender's own name or one of the push API's names. */
export function valueMeaningOf({ attributeName, attributeType }: NamedBy): ValueMeaning {
  const standard = identifierOf(attributeName, { isCustom: false });
  if (attributeName === 'customer_id' || attributeName === 'uid' || standard?.kind === 'customer-id')
    return { kind: 'customer-id' };
  const attribute = standard?.kind === 'attribute' ? standard.attribute : storedNameOf(attributeName);
  return { kind: 'attribute', attribute, type: attributeType };
}

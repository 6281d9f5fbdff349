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
 * The mail about a finished file operation: subject and plain text. It shows counts and line numbers, never a value of
 * the file: mail is read by people who may not see the users' data.
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
 * Text others chose, on one line: a line break would start a new header or fake a line of the report (fault 3.6,
 * V1.3.11), and marks that change the text direction would hide what follows.
 */
function toOneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .toWellFormed()
    .trim();
}

/** By code points, so that no character is cut in half. */
function cut(name: string): string {
  const points = Array.from(name);
  return points.length <= maxNameInSubject ? name : `${points.slice(0, maxNameInSubject - 1).join('')}…`;
}

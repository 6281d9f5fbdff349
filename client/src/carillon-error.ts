import type {
  CampaignErrorV1,
  CampaignErrorV5,
  DataError,
  FileSegmentError,
  FilterSegmentError,
  GatewayError,
  Problem,
  PushFailure,
  StatsError,
  TokenError,
} from './generated/shapes.ts';

/** All failures of a call, distinguished by `kind`. There are no others. */
export type CarillonFault =
  | { kind: 'token'; body: TokenError }
  | { kind: 'gateway'; body: GatewayError }
  | { kind: 'push'; body: PushFailure }
  | { kind: 'data'; body: DataError }
  | { kind: 'file-segment'; body: FileSegmentError }
  | { kind: 'filter-segment'; body: FilterSegmentError }
  | { kind: 'campaign-v1'; body: CampaignErrorV1 }
  | { kind: 'campaign-v5'; body: CampaignErrorV5 }
  | { kind: 'stats'; body: StatsError }
  | { kind: 'problem'; body: Problem }
  /** A response that is not from the service, such as a proxy's. */
  | { kind: 'foreign'; text: string }
  /** No response: the service was not reached, or not in time. */
  | { kind: 'unreachable' };

/** The service rejected a call. `code` is its own code (`ER011`, `Signature is not verified`, `ValueError`). */
export class CarillonError extends Error {
  override readonly name = 'CarillonError';
  /** HTTP status; 0 without a response. */
  readonly status: number;
  readonly code: string;
  readonly fault: CarillonFault;
  /** The wait in whole seconds that the service requests (429, 503). */
  readonly retryAfterSeconds: number | undefined;
  /** From problem details (RFC 9457): the invalid field, and the reason. */
  readonly field: string | undefined;
  readonly detail: string | undefined;
  /** All errors of a campaign by field (V5). */
  readonly faults: { field: string; message: string }[];
  /** The `X-Request-Id` of the call, by which an operator finds it in the log of the service; absent for tokens. */
  readonly requestId: string | undefined;
  /** Headers of the response; absent without one. */
  readonly headers: Headers | undefined;

  constructor(refusal: Refusal) {
    super(refusal.message, refusal.cause === undefined ? undefined : { cause: refusal.cause });
    this.status = refusal.status;
    this.code = refusal.code;
    this.fault = refusal.fault;
    this.retryAfterSeconds = refusal.retryAfterSeconds;
    this.field = refusal.field;
    this.detail = refusal.detail;
    this.faults = refusal.faults ?? [];
    this.requestId = refusal.requestId;
    this.headers = refusal.headers;
  }
}

type Refusal = {
  status: number;
  code: string;
  message: string;
  fault: CarillonFault;
  cause?: unknown;
  retryAfterSeconds?: number | undefined;
  field?: string | undefined;
  detail?: string | undefined;
  faults?: { field: string; message: string }[];
} & CallTrace;

/** What identifies a call and its response. */
export type CallTrace = { requestId?: string | undefined; headers?: Headers | undefined };

/** Returns the error for a connection without a response. */
export function unreachable(cause: unknown, trace: CallTrace = {}): CarillonError {
  const message = 'The service was not reached, or did not reply in time';
  return new CarillonError({
    status: 0,
    code: 'unreachable',
    message,
    fault: { kind: 'unreachable' },
    cause,
    ...trace,
  });
}

/** @throws CarillonError for a response that is not from the service, such as a proxy's login page */
export async function readJson(answer: Response, trace: CallTrace = {}): Promise<unknown> {
  const text = await answer.text();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const message = `HTTP ${answer.status} without JSON`;
    const fault: CarillonFault = { kind: 'foreign', text };
    throw new CarillonError({ status: answer.status, code: 'foreign', message, fault, ...trace });
  }
}

/** Parses an error response in any of the service's shapes. */
export async function toCarillonError(answer: Response, trace: CallTrace = {}): Promise<CarillonError> {
  const { status, headers } = answer;
  const fault = readFault(await answer.text());
  const retryAfter = Number(answer.headers.get('retry-after') ?? NaN);
  const retryAfterSeconds = Number.isFinite(retryAfter) ? retryAfter : undefined;
  return new CarillonError({ status, fault, retryAfterSeconds, headers, ...trace, ...describe(fault, status) });
}

function readFault(text: string): CarillonFault {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // A proxy may respond with HTML; the status is then enough.
  }
  const kind = kindOf(body);
  return kind === undefined ? { kind: 'foreign', text } : ({ kind, body } as CarillonFault);
}

/** Each shape has members that the others do not have. */
function kindOf(body: unknown): Exclude<CarillonFault['kind'], 'foreign' | 'unreachable'> | undefined {
  if (!isRecord(body)) return undefined;
  if (typeof body.error_type === 'string') return 'token';
  if (typeof body.Error_Message === 'string') return 'push';
  if (typeof body.type === 'string' && body.type.startsWith('urn:carillon:error:')) return 'problem';
  const { error } = body;
  if (isRecord(error)) {
    if (body.status === 'fail') return 'data';
    if (body.type === 'custom_segment') return 'filter-segment';
    if (!Array.isArray(error.details)) return undefined;
    return typeof body.response_id === 'string' ? 'campaign-v5' : 'campaign-v1';
  }
  if (typeof body.code === 'string' && typeof body.target === 'string') return 'gateway';
  if (typeof body.title === 'string') return typeof body.code === 'string' ? 'stats' : 'file-segment';
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Described = Pick<Refusal, 'code' | 'message' | 'field' | 'detail' | 'faults'>;

function describe(fault: CarillonFault, status: number): Described {
  switch (fault.kind) {
    case 'token':
      return { code: fault.body.error_type, message: fault.body.reason };
    case 'push':
      return { code: fault.body.Error_Message, message: fault.body.Error_Message };
    case 'data':
      return { code: fault.body.error.type, message: fault.body.error.message };
    case 'filter-segment':
      return { code: fault.body.error.code, message: fault.body.error.message };
    case 'campaign-v1':
    case 'campaign-v5': {
      const { code, message, details } = fault.body.error;
      return { code, message, faults: details.map(({ target, message: what }) => ({ field: target, message: what })) };
    }
    case 'gateway':
      return { code: fault.body.code, message: fault.body.message };
    case 'stats':
    case 'file-segment':
      return { code: fault.body.title, message: fault.body.description ?? fault.body.title };
    case 'problem': {
      const { code, title, field, detail } = fault.body as Problem & { field?: string; detail?: string };
      return { code, message: title, field, detail };
    }
    case 'foreign':
    case 'unreachable':
      return { code: String(status), message: `HTTP ${status}` };
    default:
      return fault satisfies never;
  }
}

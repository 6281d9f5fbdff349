/** The service refused a call. `code` is its own word (`ER011`, `Signature is not verified`, `ValueError`). */
export class CarillonError extends Error {
  override readonly name = 'CarillonError';
  readonly status: number;
  readonly code: string;
  /** Whole seconds the service asks to wait (429, 503). */
  readonly retryAfterSeconds: number | undefined;
  /** Of problem details (RFC 9457): the field concerned, and what is wrong with it. */
  readonly field: string | undefined;
  readonly detail: string | undefined;
  /** Everything that is wrong with a campaign, field by field (V5). */
  readonly faults: { field: string; message: string }[];

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.status = refusal.status;
    this.code = refusal.code;
    this.retryAfterSeconds = refusal.retryAfterSeconds;
    this.field = refusal.field;
    this.detail = refusal.detail;
    this.faults = refusal.faults ?? [];
  }
}

type Refusal = {
  status: number;
  code: string;
  message: string;
  retryAfterSeconds?: number | undefined;
  field?: string | undefined;
  detail?: string | undefined;
  faults?: { field: string; message: string }[];
};

type ErrorBody = {
  error_type?: string;
  reason?: string;
  Error_Message?: string;
  code?: string | number;
  message?: string;
  title?: string;
  field?: string;
  detail?: string;
  error?: { type?: string; code?: string; message?: string; details?: { target: string; message: string }[] };
};

/** Reads a refusal in any of the service's shapes: token, push, gateway, data, campaigns, problem details. */
export async function toCarillonError(answer: Response): Promise<CarillonError> {
  const text = await answer.text();
  let body: ErrorBody = {};
  try {
    body = JSON.parse(text) as ErrorBody;
  } catch {
    // A proxy may answer with HTML; the status says enough then.
  }
  const retryAfter = Number(answer.headers.get('retry-after') ?? NaN);
  const code =
    body.error_type ?? body.Error_Message ?? body.error?.type ?? body.error?.code ?? body.code ?? answer.status;
  const message =
    body.reason ?? body.Error_Message ?? body.error?.message ?? body.message ?? body.title ?? `HTTP ${answer.status}`;
  return new CarillonError({
    status: answer.status,
    code: String(code),
    message,
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
    field: body.field,
    detail: body.detail,
    faults: (body.error?.details ?? []).map(({ target, message: what }) => ({ field: target, message: what })),
  });
}

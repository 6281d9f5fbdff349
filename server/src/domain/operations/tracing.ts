export type SpanAttributes = Record<string, string | number | undefined>;

/** A step that is under way. Attributes are kept only if it is sampled. */
export type Span = {
  readonly context: TraceParent;
  set(attributes: SpanAttributes): void;
  /** `fault`: why it failed, in a word that tells nothing of a user. */
  end(ended?: { name?: string; fault?: string | undefined }): void;
};

export type SpanStart = {
  /** `server`: a call of ours that was answered; `consumer`: work that waited; `client`: a call of ours. */
  kind: 'server' | 'consumer' | 'client';
  /** The step it is part of; without one it begins a trace. */
  parent?: TraceParent | undefined;
  /** What it came of without being part of it: a fan-out has many steps of one request. */
  link?: TraceParent | undefined;
  attributes?: SpanAttributes;
};

/** There is one where the settings ask for traces; whoever has none does nothing. */
export type Tracing = { startSpan(name: string, start: SpanStart): Span };

/** Which trace and span a call is part of, as the header `traceparent` says it (W3C Trace Context, version 00). */
export type TraceParent = { traceId: string; spanId: string; isSampled: boolean };

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Undefined for what is not one: a caller's mistake there is no reason to refuse the call. */
export function parseTraceparent(text: string | undefined): TraceParent | undefined {
  const [, version, traceId, spanId, flags, more] = form.exec(text ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || version === 'ff') return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId) || (version === '00' && more !== undefined)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags!, 16) & 1) === 1 };
}

export function writeTraceparent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

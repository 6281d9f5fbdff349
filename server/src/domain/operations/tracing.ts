export type SpanAttributes = Record<string, string | number | undefined>;

/** A step in progress. Attributes are kept only if it is sampled. */
export type Span = {
  readonly context: TraceParent;
  set(attributes: SpanAttributes): void;
  /** `fault`: why it failed, in one word that reveals nothing about a user. */
  end(ended?: { name?: string; fault?: string | undefined }): void;
};

export type SpanStart = {
  /** `server`: an incoming call; `consumer`: queued work; `client`: an outgoing call. */
  kind: 'server' | 'consumer' | 'client';
  /** The step that it is part of; without one, it begins a trace. */
  parent?: TraceParent | undefined;
  /** The step that caused it without containing it: a fan-out makes many steps from one request. */
  link?: TraceParent | undefined;
  attributes?: SpanAttributes;
};

/** Present if the settings turn on traces; without it, callers record nothing. */
export type Tracing = { startSpan(name: string, start: SpanStart): Span };

/** The trace and span of a call, as in the header `traceparent` (W3C Trace Context, version 00). */
export type TraceParent = { traceId: string; spanId: string; isSampled: boolean };

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Parses the header; undefined if it is invalid, because a caller's mistake here is not a reason to reject the call. */
export function parseTraceparent(text: string | undefined): TraceParent | undefined {
  const [, version, traceId, spanId, flags, more] = form.exec(text ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || version === 'ff') return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId) || (version === '00' && more !== undefined)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags!, 16) & 1) === 1 };
}

export function writeTraceparent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

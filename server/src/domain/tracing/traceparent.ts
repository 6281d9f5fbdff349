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

import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseTraceparent, writeTraceparent } from '../../domain/operations/tracing.ts';
import type { TraceParent, Span, Tracing } from '../../domain/operations/tracing.ts';

/** The ids by which a caller finds a call again: its own id of the call, and the trace that the call is part of. */
export type CallTrace = {
  requestId?: string;
  /** The caller's trace, or ours if tracing is on. */
  trace?: TraceParent;
  span?: Span;
};

// An id of a caller is written to the log unchanged.
const requestId = /^[\w.:/+=@-]{1,128}$/;

/** Monitoring calls these every few seconds: they would be most of all traces. */
const untraced = new Set(['/livez', '/readyz', '/metrics']);

/**
 * Reads `x-request-id` and `traceparent` of a call and echoes them. With tracing, the call is a step of that trace, or
 * starts one. Values in another form are ignored.
 */
export function beginCallTrace(
  tracing: Tracing | undefined,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): CallTrace {
  const { headers } = request;
  const taken: CallTrace = {};
  const id = headers['x-request-id'];
  if (typeof id === 'string' && requestId.test(id)) {
    taken.requestId = id;
    reply.header('x-request-id', id);
  }
  const sent = headers['traceparent'];
  const parent = typeof sent === 'string' ? parseTraceparent(sent) : undefined;
  if (tracing && !untraced.has(request.routeOptions.url ?? '')) {
    taken.span = tracing.startSpan(request.method, { kind: 'server', parent });
    taken.trace = taken.span.context;
  } else if (parent) taken.trace = parent;
  if (taken.trace) reply.header('traceparent', writeTraceparent(taken.trace));
  return taken;
}

type EndedCall = {
  method: string;
  route: string;
  status: number;
  workspaceId: string | undefined;
  errorName: string | undefined;
};

/** Ends the span. A rejected call is the caller's error; only our own errors mark the span as failed. */
export function endCallTrace(
  { span, requestId: id }: CallTrace,
  { method, route, status, workspaceId, errorName }: EndedCall,
): void {
  if (!span) return;
  span.set({
    ...{ 'http.request.method': method, 'http.route': route, 'http.response.status_code': status },
    ...{ 'carillon.workspace.id': workspaceId, 'carillon.error': errorName, 'carillon.request.id': id },
  });
  span.end({ name: `${method} ${route}`, fault: status >= 500 ? (errorName ?? String(status)) : undefined });
}

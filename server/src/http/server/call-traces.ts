import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseTraceparent, writeTraceparent } from '../../domain/operations/tracing.ts';
import type { TraceParent, Span, Tracing } from '../../domain/operations/tracing.ts';

/** By what a caller finds a call again: its own id of it, and the trace that it is part of. */
export type CallTrace = {
  requestId?: string;
  /** The caller's, or ours where traces are asked for. */
  trace?: TraceParent;
  span?: Span;
};

// An id of a caller is written to the log as it is.
const requestId = /^[\w.:/+=@-]{1,128}$/;

/** Asked every few seconds by machines: they would be most of all traces. */
const untraced = new Set(['/livez', '/readyz', '/metrics']);

/**
 * Takes `x-request-id` and `traceparent` of a call and echoes them; with tracing the call is a step of that trace, or begins one.
 * What is not of their form is as if it were not there.
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

/** A refusal is the caller's; what is ours is a fault of the step. */
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

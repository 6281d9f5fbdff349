import type { FastifySchema } from 'fastify';
import { describeOperation } from '../openapi/describe-operation.ts';
import type { Dialect, Operation } from '../openapi/describe-operation.ts';
import { problemRefusals } from '../openapi/problem.ts';

const dialect: Dialect = {
  tag: 'Sandbox',
  // Nothing real is behind them.
  credentials: [],
  refusals: problemRefusals(['SCOPE_MISSING', 'SANDBOX_NOT_LOCAL', 'CLOCK_ADVANCING']),
};

/** A route of the sandbox; each refuses callers on other machines and pages of other sites. */
export function describeSandbox(operation: Operation): FastifySchema {
  return describeOperation(dialect, { ...operation, refuses: [403, ...(operation.refuses ?? [])] });
}

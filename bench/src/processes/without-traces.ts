/**
 * Loaded before a node (`--import`): its calls do not check for `x-request-id` and `traceparent`, nor for tracing.
 * bench/src/cases/metrics.ts measures the cost of these checks.
 */
import { registerHooks } from 'node:module';

registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith('/server/src/http/server/call-traces.ts')) return nextLoad(url, context);
    const source = 'export const beginCallTrace = () => undefined; export const endCallTrace = () => {};';
    return { format: 'module', source, shortCircuit: true };
  },
});

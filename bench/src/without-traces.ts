/**
 * Loaded before a node (`--import`): its calls do not look for `x-request-id` and `traceparent`, nor for a tracing that nobody asked
 * for. What it costs that they do is what bench/src/metrics.ts measures.
 */
import { registerHooks } from 'node:module';

registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith('/server/src/http/server/call-traces.ts')) return nextLoad(url, context);
    const source = 'export const beginCallTrace = () => undefined; export const endCallTrace = () => {};';
    return { format: 'module', source, shortCircuit: true };
  },
});

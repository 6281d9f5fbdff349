import type { SpanContext } from '@opentelemetry/api';
import type { TraceParent, Span, SpanAttributes, Tracing } from '../../domain/operations/tracing.ts';
import { carillonVersion } from '../carillon-version.ts';

export type RunningTracing = Tracing & {
  /** Sends the remaining spans. */
  stop(): Promise<void>;
};

/**
 * Starts tracing with OpenTelemetry. Its own packages read the `OTEL_` variables. They are loaded only now, so that nodes
 * without traces do not have them in memory.
 */
export async function startTracing({ role }: { role: string }): Promise<RunningTracing> {
  const [api, sdk, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const own = { 'service.name': 'carillon', 'service.version': carillonVersion, 'carillon.role': role };
  const asked = resources.detectResources({ detectors: [resources.envDetector] });
  const provider = new sdk.BasicTracerProvider({
    resource: resources.defaultResource().merge(resources.resourceFromAttributes(own)).merge(asked),
    spanProcessors: [new sdk.BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const tracer = provider.getTracer('carillon', carillonVersion);
  const kinds = { server: api.SpanKind.SERVER, consumer: api.SpanKind.CONSUMER, client: api.SpanKind.CLIENT };
  const toContext = ({ traceId, spanId, isSampled }: TraceParent): SpanContext => ({
    ...{ traceId, spanId, isRemote: true },
    traceFlags: isSampled ? api.TraceFlags.SAMPLED : api.TraceFlags.NONE,
  });
  return {
    startSpan(name, { kind, parent, link, attributes = {} }): Span {
      const root = api.ROOT_CONTEXT;
      const span = tracer.startSpan(
        name,
        { kind: kinds[kind], attributes: withoutGaps(attributes), links: link ? [{ context: toContext(link) }] : [] },
        parent ? api.trace.setSpanContext(root, toContext(parent)) : root,
      );
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        context: { traceId, spanId, isSampled: (traceFlags & api.TraceFlags.SAMPLED) !== 0 },
        set: (more) => void span.setAttributes(withoutGaps(more)),
        end({ name: better, fault } = {}) {
          if (better !== undefined) span.updateName(better);
          if (fault !== undefined) {
            span.setAttribute('error.type', fault);
            span.setStatus({ code: api.SpanStatusCode.ERROR });
          }
          span.end();
        },
      };
    },
    stop: () => provider.shutdown(),
  };
}

function withoutGaps(attributes: SpanAttributes): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(attributes).filter((one): one is [string, string | number] => one[1] !== undefined),
  );
}

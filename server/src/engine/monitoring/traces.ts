import { AsyncLocalStorage } from 'node:async_hooks';
import { providerOf } from '../../domain/delivery/providers.ts';
import { parseTraceparent } from '../../domain/operations/tracing.ts';
import type { Span, SpanAttributes, Tracing } from '../../domain/operations/tracing.ts';
import type { DeliveryBatch } from '../../providers/batch.ts';
import type { Delivery } from '../../providers/deliver.ts';
import type { Outcome } from '../../providers/provider.ts';
import type { SendWindow, Window } from '../fan-out/send-window.ts';

export type TraceSends = {
  traceDelivery(delivery: Delivery): Delivery;
  traceWindows(sendWindow: SendWindow): SendWindow;
};

/** The current window, and the functions that end its open spans. */
type OpenWindow = { span: Span; endings: (() => void)[] };

/**
 * The largest batch with one span per message. Requests that name users have such batches. A campaign has one span per batch.
 */
const maxDevicesApart = 10;

/**
 * Traces what is sent. A window to named users is a span in the trace of their request, with a child span per call of a
 * provider. A window of an audience starts a separate trace, linked to the request's, with a child span per batch, so that the
 * cost of tracing does not depend on the audience size. If a trace is not sampled, no spans are created.
 */
export function makeTraceSends(tracing: Tracing): TraceSends {
  const windows = new AsyncLocalStorage<OpenWindow>();
  return {
    traceWindows: (sendWindow) => async (window) => {
      const span = startWindow(tracing, window);
      if (!span?.context.isSampled) return sendWindow(window);
      const open: OpenWindow = { span, endings: [] };
      let fault: string | undefined;
      try {
        const result = await windows.run(open, () => sendWindow(window));
        span.set({ 'carillon.window.result': result.kind });
        return result;
      } catch (error) {
        fault = (error as Error).name;
        throw error;
      } finally {
        for (const end of open.endings) end();
        span.end({ fault });
      }
    },
    traceDelivery: (delivery) => ({
      ...delivery,
      openBatch(batch) {
        const open = windows.getStore();
        if (!open) return delivery.openBatch(batch);
        const trace = batch.devices.length <= maxDevicesApart ? traceEach : traceAll;
        const traced = trace({ tracing, open, batch });
        const send = delivery.openBatch(traced.batch);
        return (place) => {
          traced.onSend(place);
          send(place);
        };
      },
    }),
  };
}

/** Undefined for named users whose request was not sampled: its caller's decision applies to the whole trace. */
function startWindow(tracing: Tracing, { run, chunk }: Window): Span | undefined {
  const request = parseTraceparent(run.traceparent ?? undefined);
  const isNamed = run.lane === 0;
  if (isNamed && !request?.isSampled) return undefined;
  return tracing.startSpan('send window', {
    kind: 'consumer',
    ...(isNamed ? { parent: request } : { link: request }),
    attributes: {
      ...{
        'carillon.workspace.id': run.workspaceId,
        'carillon.campaign.id': run.campaignId,
        'carillon.run.id': run.id,
      },
      ...{ 'carillon.chunk': chunk.number, 'carillon.lane': isNamed ? 'named' : 'audience' },
    },
  });
}

type Tracee = { tracing: Tracing; open: OpenWindow; batch: DeliveryBatch };
type Traced = { batch: DeliveryBatch; onSend(place: number): void };

function startCall({ tracing, open, batch }: Tracee, attributes: SpanAttributes = {}): Span {
  const provider = providerOf(batch.devices[0]!);
  const of = { 'carillon.provider': provider, ...attributes };
  return tracing.startSpan(`send ${provider}`, { kind: 'client', parent: open.span.context, attributes: of });
}

function traceEach(of: Tracee): Traced {
  const { batch } = of;
  const spans = new Map<number, Span>();
  const end = (place: number, outcome: SpanAttributes, fault: string | undefined): void => {
    const span = spans.get(place);
    if (!span) return;
    spans.delete(place);
    span.set(outcome);
    span.end({ fault });
  };
  return {
    onSend: (place) => void spans.set(place, startCall(of)),
    batch: {
      ...batch,
      onOutcome(place, outcome) {
        const code = 'code' in outcome ? outcome.code : undefined;
        end(place, { 'carillon.outcome': outcome.kind, 'carillon.code': code }, faultOf(outcome));
        batch.onOutcome(place, outcome);
      },
      onFault(place, error) {
        end(place, { 'carillon.outcome': 'fault' }, 'fault');
        batch.onFault(place, error);
      },
    },
  };
}

function traceAll(of: Tracee): Traced {
  const { open, batch } = of;
  let span: Span | undefined;
  const outcomes: Record<string, number> = {};
  const count = (kind: string): void => {
    outcomes[`carillon.outcome.${kind}`] = (outcomes[`carillon.outcome.${kind}`] ?? 0) + 1;
  };
  open.endings.push(() => {
    span?.set(outcomes);
    span?.end();
  });
  return {
    onSend() {
      span ??= startCall(of, { 'carillon.devices': batch.devices.length });
    },
    batch: {
      ...batch,
      onOutcome(place, outcome) {
        count(outcome.kind);
        batch.onOutcome(place, outcome);
      },
      onFault(place, error) {
        count('fault');
        batch.onFault(place, error);
      },
    },
  };
}

function faultOf(outcome: Outcome): string | undefined {
  return outcome.kind === 'accepted' || outcome.kind === 'gone' ? undefined : outcome.code;
}

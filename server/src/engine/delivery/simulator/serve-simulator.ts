import type { ProviderName } from '../../../domain/delivery/provider-name.ts';
import { makeFaultSwitch, needsDevice } from '../../../domain/sandbox/fault-switch.ts';
import type { Fault } from '../../../domain/sandbox/faults.ts';
import { reasonOf, shownHeaders } from '../../../domain/sandbox/refusal.ts';
import type { SandboxRefusal } from '../../../domain/sandbox/refusal.ts';
import { fieldAnswer } from './field-answers.ts';
import { listenHttp1 } from './listen-http1.ts';
import type { SimulatorTls } from './listen-http1.ts';
import { listenHttp2 } from './listen-http2.ts';
import type { DeliveredMessage, Simulate, SimulatedAnswer, SimulatedRequest } from './simulator-account.ts';
import type { Exchange, SimulatorServer } from './simulator-server.ts';

export type SimulatorCounters = { received: number; accepted: number; refused: number };

export type ServedSimulator = SimulatorServer & { counters: SimulatorCounters };

export type ServeOptions = {
  provider: ProviderName;
  simulate: Simulate;
  /** HTTP/2 without TLS unless given. */
  protocol?: SimulatorProtocol | undefined;
  /** Where the same server issues access tokens. */
  tokenPath?: string | undefined;
  /** The address of the device that a request is for. */
  deviceOf: (request: { path: string; body: Buffer }) => string | undefined;
  times: () => Pick<SimulatedRequest, 'now' | 'shownAt'>;
  /** Resolves when there is room for more; the answer waits for it. */
  onDelivered: (message: DeliveredMessage) => Promise<void> | undefined;
  onRefused: (refusal: Refused) => void;
};

/** Some push services speak nothing newer. */
export type SimulatorProtocol = { version: 'http/1.1'; tls?: SimulatorTls };

/** What is told of a refusal beside who refused, and when. */
export type Refused = Omit<SandboxRefusal, 'number' | 'at' | 'provider'>;

/** Serves one simulated provider over a real network protocol on loopback, with its fault switch. */
export async function serveSimulator(options: ServeOptions): Promise<ServedSimulator> {
  const counters: SimulatorCounters = { received: 0, accepted: 0, refused: 0 };
  let faults: Fault[] = [];
  let strike = makeFaultSwitch(faults);
  const { protocol } = options;
  const onExchange = (exchange: Exchange): void => {
    // A token endpoint shares the server but is no device.
    if (exchange.path !== options.tokenPath) counters.received += 1;
    void answer(exchange);
  };
  const server = await (protocol ? listenHttp1(onExchange, protocol.tls) : listenHttp2(onExchange));

  async function answer({ method, path, headers, readBody, respond, cut }: Exchange): Promise<void> {
    const body = await readBody();
    const struck = strike({ device: faults.some(needsDevice) ? options.deviceOf({ path, body }) : undefined });
    if (struck?.delayMilliseconds) await new Promise((resolve) => setTimeout(resolve, struck.delayMilliseconds));
    const refuse = (refused: Pick<Refused, 'status' | 'reason' | 'rule'>): void =>
      options.onRefused({
        ...{ path, device: options.deviceOf({ path, body }) ?? null },
        ...{ ...refused, headers: shownHeaders(headers) },
      });
    if (struck?.reset) {
      counters.refused += 1;
      refuse({ status: null, reason: 'the stream was cut', rule: 'fault' });
      cut();
      return;
    }
    const given: SimulatedAnswer =
      (struck && answerOfFault(struck, options, { path, body })) ??
      (await askSimulator(options, { method, path, headers, body }));
    if (given === 'silence') {
      counters.refused += 1;
      refuse({ status: null, reason: 'no answer', rule: 'magic address' });
      return;
    }
    if (given.delivered) {
      counters.accepted += 1;
      await options.onDelivered(given.delivered);
    } else if (path !== options.tokenPath) counters.refused += 1;
    if (isRefusal(given)) refuse({ status: given.status, reason: reasonOf(given), rule: given.rule ?? 'payload' });
    respond(given);
  }

  return {
    origin: server.origin,
    counters,
    setFaults(next) {
      faults = [...next];
      strike = makeFaultSwitch(faults);
      server.setFaults(faults);
    },
    stop: () => server.stop(),
  };
}

type Asked = { path: string; body: Buffer };

/** Undefined for a fault that lets the simulator answer. */
function answerOfFault(
  fault: Fault,
  { provider, deviceOf }: Pick<ServeOptions, 'provider' | 'deviceOf'>,
  asked: Asked,
): Exclude<SimulatedAnswer, 'silence'> | undefined {
  const { status, headers, body = '', answer } = fault;
  if (answer !== undefined) return { ...fieldAnswer(provider, answer, deviceOf(asked) ?? ''), rule: 'fault' };
  return status === undefined ? undefined : { status, ...(headers ? { headers } : {}), body, rule: 'fault' };
}

/** What no rule foresaw is refused too: thrown, it would end the thread, and with it every simulator. */
async function askSimulator(
  { simulate, times }: Pick<ServeOptions, 'simulate' | 'times'>,
  request: Omit<SimulatedRequest, 'now' | 'shownAt'>,
): Promise<SimulatedAnswer> {
  try {
    return await simulate({ ...request, ...times() });
  } catch (error) {
    return { status: 400, body: `The request cannot be read: ${(error as Error).message}`, rule: 'payload' };
  }
}

/** Some services refuse with a success, and say so in the body. */
function isRefusal({ status, rule }: Exclude<SimulatedAnswer, 'silence'>): boolean {
  return status >= 400 || rule !== undefined;
}

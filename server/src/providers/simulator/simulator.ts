import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Fault } from '../../domain/sandbox/faults.ts';
import type { RefusalRule } from '../../domain/sandbox/refusals.ts';
import type { Screen } from '../../domain/sandbox/screen.ts';

/** A workspace with simulated devices. Each provider knows its account of it, under the provider's name. */
export type SimulatedWorkspace = { workspaceId: string };

/** A simulated provider. */
export type ProviderSimulator = {
  /** `secret` derives the keys of the simulated browsers. */
  make(accounts: () => SimulatedWorkspace[], options: { secret: Buffer }): Simulate;
  /** The path at which the same server issues access tokens. */
  tokenPath?: string;
  /** Returns the address of the device that a request is for. */
  findDevice(request: { path: string; body: Buffer }): string | undefined;
  /** Returns a response that real providers send in operation. It is always the same for the same device. */
  fieldAnswer(name: string, device: string): GivenAnswer;
};

/** A message as the device received it. */
export type DeliveredMessage = {
  workspaceId: string;
  platform: 'ANDROID' | 'IOS' | 'WEB';
  deviceToken: string;
  title: string;
  body: string;
  collapseId: string;
  campaignId?: string;
  messageId: string;
  receivedAt: Date;
  /** Delivery options in addition to the message, as the provider received them. */
  transport: Record<string, string>;
  /** All headers of the request; for authorization, only the scheme. */
  headers: Record<string, string>;
  payload: Record<string, unknown>;
  screen: Screen;
};

/** The response of a simulated provider; `silence` never responds. */
export type SimulatedAnswer =
  | {
      status: number;
      headers?: Record<string, string>;
      body?: unknown;
      delivered?: DeliveredMessage;
      /** The rule that refused the request, if any. */
      rule?: RefusalRule;
    }
  | 'silence';

/** Adds to a refusal the rule that it is refused by. */
export function refusedBy<Answer extends SimulatedAnswer | undefined>(rule: RefusalRule, answer: Answer): Answer {
  return typeof answer === 'object' ? { ...answer, rule } : answer;
}

export type SimulatedRequest = {
  method: string;
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
  /** The provider's time, which is real time: tokens are checked by it. */
  now: Date;
  /** The time that phones show: the service's own, which the sandbox moves. */
  shownAt: Date;
};

/** Returns the delivery options of a request, under the provider's own names; missing options are left out. */
export function transportOf(said: Record<string, unknown>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = said[name.toLowerCase()];
      return value === undefined ? [] : [[name, String(value)]];
    }),
  );
}

/** One provider's behaviour: request in, response out. */
export type Simulate = (request: SimulatedRequest) => SimulatedAnswer | Promise<SimulatedAnswer>;

/** A response, as opposed to silence. */
export type GivenAnswer = Exclude<SimulatedAnswer, 'silence'>;

/** A request and the way to respond to it, over any protocol. */
export type Exchange = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  readBody(): Promise<Buffer>;
  respond(answer: GivenAnswer): void;
  /** Ends it without a response. */
  cut(): void;
};

export type SimulatorServer = {
  /** Loopback origin. */
  origin: string;
  /** Sets the faults of connections. */
  setFaults(faults: readonly Fault[]): void;
  stop(): Promise<void>;
};

export function headersOf({ body, headers }: GivenAnswer): Record<string, string> {
  const isJson = body !== undefined && typeof body !== 'string';
  return { ...(isJson ? { 'content-type': 'application/json' } : {}), ...headers };
}

export function textOf({ body }: GivenAnswer): string {
  if (body === undefined) return '';
  return typeof body === 'string' ? body : JSON.stringify(body);
}

/** Returns the device in the body of a request: `message.token`, or the first of several, or `message.fid`. */
export function findDeviceInBody({ body }: { body: Buffer }): string | undefined {
  try {
    const { message } = JSON.parse(body.toString('utf8')) as { message?: { token?: unknown; fid?: unknown } };
    const [token] = [message?.token ?? message?.fid].flat();
    return typeof token === 'string' ? token : undefined;
  } catch {
    // A request for an access token, or one that is refused anyway.
    return undefined;
  }
}

export function findDeviceInPath({ path }: { path: string }): string | undefined {
  return path.split('/').at(-1);
}

const maxBodyBytes = 64 * 1024;

/** Returns the body of a request, or as much of it as a simulator reads. Never rejects. */
export function readBody(stream: Readable): Promise<Buffer> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    stream.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes <= maxBodyBytes) pieces.push(piece);
    });
    stream.on('end', () => resolve(Buffer.concat(pieces)));
    // A stream that ends early has no end event; its response is discarded.
    stream.on('close', () => resolve(Buffer.concat(pieces)));
  });
}

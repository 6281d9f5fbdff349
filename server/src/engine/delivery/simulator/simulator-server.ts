import type { IncomingHttpHeaders } from 'node:http';
import type { Fault } from '../../../domain/sandbox/faults.ts';
import type { SimulatedAnswer } from './simulator-account.ts';

type Given = Exclude<SimulatedAnswer, 'silence'>;

/** A request and the way to answer it, whatever protocol it came by. */
export type Exchange = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  readBody(): Promise<Buffer>;
  respond(answer: Given): void;
  /** Ends it without an answer. */
  cut(): void;
};

export type SimulatorServer = {
  /** Loopback origin. */
  origin: string;
  /** The faults of connections. */
  setFaults(faults: readonly Fault[]): void;
  stop(): Promise<void>;
};

export function headersOf({ body, headers }: Given): Record<string, string> {
  const isJson = body !== undefined && typeof body !== 'string';
  return { ...(isJson ? { 'content-type': 'application/json' } : {}), ...headers };
}

export function textOf({ body }: Given): string {
  if (body === undefined) return '';
  return typeof body === 'string' ? body : JSON.stringify(body);
}

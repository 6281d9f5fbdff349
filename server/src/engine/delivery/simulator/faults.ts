import { ServiceError } from '../../../domain/errors.ts';
import type { SimulatedProvider } from './simulator-account.ts';

/** One way in which a simulated provider fails. */
export type Fault = {
  /** Answer with this status, body and headers instead of working. */
  status?: number;
  body?: string;
  headers?: Record<string, string>;
  /** Wait this long before answering. */
  delayMilliseconds?: number;
  /** Reset the stream instead of answering. */
  reset?: boolean;
  /** Say GOAWAY after each so many streams of a connection. */
  goawayEvery?: number;
  /** Lower the streams a connection may hold. */
  maxStreams?: number;
  /** Only every n-th request. */
  every?: number;
  /** Only this share of requests, 0 to 1. */
  probability?: number;
  /** Only this many times, then the fault is over. */
  count?: number;
};

export type Faults = Partial<Record<SimulatedProvider, Fault>>;

const numbers: Record<string, [minimum: number, maximum: number]> = {
  status: [200, 599],
  delayMilliseconds: [0, 60_000],
  goawayEvery: [1, 1_000_000],
  maxStreams: [1, 10_000],
  every: [1, 1_000_000],
  probability: [0, 1],
  count: [1, 1_000_000_000],
};

/** Reads fault switches; an unknown one is refused by name, so that a misspelt one is noticed. @throws ServiceError */
export function parseFaults(input: unknown): Faults {
  const refuse = (field: string, reason: string): never => {
    throw new ServiceError('PARAMETER_INVALID', { field, reason });
  };
  if (input === null || typeof input !== 'object') return refuse('body', 'must be an object');
  for (const [provider, fault] of Object.entries(input)) {
    if (!['fcm', 'apns', 'webpush'].includes(provider)) refuse(provider, 'is not one of fcm, apns, webpush');
    if (fault === null || typeof fault !== 'object') refuse(provider, 'must be an object');
    for (const [name, value] of Object.entries(fault as object)) {
      const field = `${provider}.${name}`;
      const range = Object.hasOwn(numbers, name) ? numbers[name] : undefined;
      if (range) {
        if (typeof value !== 'number' || value < range[0] || value > range[1])
          refuse(field, `must be a number from ${range[0]} to ${range[1]}`);
      } else if (name === 'reset') {
        if (typeof value !== 'boolean') refuse(field, 'must be true or false');
      } else if (name === 'body') {
        if (typeof value !== 'string') refuse(field, 'must be a text');
      } else if (name === 'headers') {
        if (
          value === null ||
          typeof value !== 'object' ||
          Object.values(value).some((header) => typeof header !== 'string')
        )
          refuse(field, 'must map names to texts');
      } else refuse(field, 'is not a fault switch');
    }
  }
  return input as Faults;
}

/** Decides, request by request, whether the fault strikes. */
export function makeFaultSwitch(fault: Fault | undefined): () => Fault | undefined {
  let requests = 0;
  let struck = 0;
  // A fixed sequence (mulberry32), so that a failing run can be repeated.
  let state = 0x9e3779b9;
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return () => {
    if (!fault) return undefined;
    requests += 1;
    if (fault.count !== undefined && struck >= fault.count) return undefined;
    if (fault.every !== undefined && requests % fault.every !== 0) return undefined;
    if (fault.probability !== undefined && random() >= fault.probability) return undefined;
    struck += 1;
    return fault;
  };
}

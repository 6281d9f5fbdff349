import type { ProviderName } from '../delivery/provider-name.ts';
import { ServiceError } from '../errors.ts';
import { fieldAnswers, isFieldAnswer } from './field-answers.ts';
import type { FieldAnswerName } from './field-answers.ts';

/** One way in which a simulated provider, or the API itself, fails. */
export type Fault = {
  /** Answer with this status, body and headers instead of working. */
  status?: number;
  body?: string;
  headers?: Record<string, string>;
  /** Answer as the real provider does in operation (`fieldAnswers`). Requests for an access token are spared. */
  answer?: FieldAnswerName;
  /** Wait this long before answering. */
  delayMilliseconds?: number;
  /** Reset the stream, or the caller's connection, instead of answering. */
  reset?: boolean;
  /** Say GOAWAY after each so many streams of a connection. */
  goawayEvery?: number;
  /** Lower the streams a connection may hold. */
  maxStreams?: number;
  /** Only the device of this address, or those whose address begins so. */
  device?: string;
  /** Only this share of devices, 0 to 1: always the same ones, by a hash of `seed` and their addresses. */
  share?: number;
  /** Only this many times for each device, then the device works. */
  countPerDevice?: number;
  /** Only this route of the API, as `POST /v1/oauth/token` or `/v5/campaigns/*`. */
  route?: string;
  /** Only the n-th request. */
  nth?: number;
  /** Only every n-th request. */
  every?: number;
  /** Only this share of requests, 0 to 1. */
  probability?: number;
  /** Chooses which requests, or which devices, these are. */
  seed?: number;
  /** Only this many times, then the fault is over. */
  count?: number;
};

/** Of several of one kind the first that strikes decides. */
export type Faults = Record<ProviderName | 'api', Fault[]>;

/** A list is looked through for each request. */
export const maxFaultsOfKind = 20;

const numbers: Record<string, [minimum: number, maximum: number]> = {
  status: [200, 599],
  delayMilliseconds: [0, 60_000],
  goawayEvery: [1, 1_000_000],
  maxStreams: [1, 10_000],
  nth: [1, 1_000_000_000],
  every: [1, 1_000_000],
  probability: [0, 1],
  seed: [0, 4_294_967_295],
  count: [1, 1_000_000_000],
  share: [0, 1],
  countPerDevice: [1, 1_000_000_000],
};
const whole = new Set(['status', 'goawayEvery', 'maxStreams', 'nth', 'every', 'seed', 'count', 'countPerDevice']);

/** What has a meaning for one kind only. */
const ofProviders = new Set(['device', 'goawayEvery', 'maxStreams', 'answer', 'share', 'countPerDevice']);
const ofApi = new Set(['route']);

const routePattern = /^(?:[A-Z]{3,7} )?\/[!-~]*$/;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Reads fault switches; an unknown one is refused by name, so that a misspelt one is noticed. @throws ServiceError */
export function parseFaults(input: unknown): Faults {
  if (!isObject(input)) return refuse('body', 'must be an object');
  const faults: Faults = { fcm: [], apns: [], webpush: [], hms: [], api: [] };
  for (const [kind, given] of Object.entries(input)) {
    if (!Object.hasOwn(faults, kind)) refuse(kind, `is not one of ${Object.keys(faults).join(', ')}`);
    const list: unknown[] = Array.isArray(given) ? given : [given];
    if (list.length > maxFaultsOfKind) refuse(kind, `must have at most ${maxFaultsOfKind} faults`);
    for (const [index, fault] of list.entries()) {
      const name = Array.isArray(given) ? `${kind}[${index}]` : kind;
      checkFault(fault, { kind, name });
      faults[kind as keyof Faults].push(fault as Fault);
    }
  }
  return faults;
}

function checkFault(fault: unknown, { kind, name }: { kind: string; name: string }): void {
  if (!isObject(fault)) return refuse(name, 'must be an object');
  for (const [key, value] of Object.entries(fault)) {
    const field = `${name}.${key}`;
    if ((kind === 'api' ? ofProviders : ofApi).has(key)) refuse(field, `is not a fault switch of ${kind}`);
    const range = Object.hasOwn(numbers, key) ? numbers[key] : undefined;
    if (range) {
      if (typeof value !== 'number' || !(value >= range[0] && value <= range[1]))
        refuse(field, `must be a number from ${range[0]} to ${range[1]}`);
      if (whole.has(key) && !Number.isInteger(value)) refuse(field, 'must be a whole number');
    } else if (key === 'reset') {
      if (typeof value !== 'boolean') refuse(field, 'must be true or false');
    } else if (key === 'body') {
      if (typeof value !== 'string') refuse(field, 'must be a text');
    } else if (key === 'answer') {
      const provider = kind as ProviderName;
      if (!isFieldAnswer(provider, value))
        refuse(field, `is not one of ${Object.keys(fieldAnswers[provider]).join(', ')}`);
      if (fault.status !== undefined) refuse(field, 'cannot be combined with status');
    } else if (key === 'device') {
      if (typeof value !== 'string' || value === '') refuse(field, 'must be the beginning of a device address');
    } else if (key === 'route') {
      if (typeof value !== 'string' || !routePattern.test(value))
        refuse(field, 'must be a path, as /v5/campaigns/*, or a method and a path, as POST /v1/oauth/token');
    } else if (key === 'headers') {
      if (!isObject(value) || Object.values(value).some((header) => typeof header !== 'string'))
        refuse(field, 'must map names to texts');
      for (const [header, text] of Object.entries(value as Record<string, string>))
        if (!headerName.test(header) || !headerValue.test(text)) refuse(field, `cannot hold ${JSON.stringify(header)}`);
    } else refuse(field, 'is not a fault switch');
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function refuse(field: string, reason: string): never {
  throw new ServiceError('PARAMETER_INVALID', { field, reason });
}

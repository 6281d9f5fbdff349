import { providerNames, providers } from '../delivery/providers.ts';
import type { FieldAnswerNames, ProviderName } from '../delivery/providers.ts';
import { ServiceError } from '../errors.ts';

/** A way in which a simulated provider, or the API itself, fails. */
export type Fault = {
  /** Respond with this status, body and headers instead of working. */
  status?: number;
  body?: string;
  headers?: Record<string, string>;
  /** Respond as the real provider does in operation (`fieldAnswers` in `domain/providers`). Requests for an access token are not affected. */
  answer?: FieldAnswerName;
  /** Wait this long before the response. */
  delayMilliseconds?: number;
  /** Reset the stream, or the caller's connection, instead of responding. */
  reset?: boolean;
  /** Send GOAWAY after every N streams of a connection. */
  goawayEvery?: number;
  /** Reduce the number of streams that a connection may have. */
  maxStreams?: number;
  /** Only the device with this address, or those with an address that begins with it. */
  device?: string;
  /** Only this share of devices, 0 to 1: always the same ones, by a hash of `seed` and their addresses. */
  share?: number;
  /** Only this many times for each device; after that, the device works. */
  countPerDevice?: number;
  /** Only this route of the API, such as `POST /v1/oauth/token` or `/v5/campaigns/*`. */
  route?: string;
  /** Only the n-th request. */
  nth?: number;
  /** Only every n-th request. */
  every?: number;
  /** Only this share of requests, 0 to 1. */
  probability?: number;
  /** Determines which requests, or which devices, are affected. */
  seed?: number;
  /** Only this many times; after that, the fault is over. */
  count?: number;
};

/** If there are several faults of one kind, the first that matches applies. */
export type Faults = Record<ProviderName | 'api', Fault[]>;

/** The list is searched for each request. */
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

/** Switches that apply to one kind only. */
const ofProviders = new Set(['device', 'goawayEvery', 'maxStreams', 'answer', 'share', 'countPerDevice']);
const ofApi = new Set(['route']);

const routePattern = /^(?:[A-Z]{3,7} )?\/[!-~]*$/;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Parses fault switches. An unknown switch is rejected by name, so that a misspelling is noticed. @throws ServiceError */
export function parseFaults(input: unknown): Faults {
  if (!isObject(input)) return refuse('body', 'must be an object');
  const faults = Object.fromEntries([...providerNames, 'api'].map((kind) => [kind, []])) as unknown as Faults;
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
      const { fieldAnswers } = providers[provider].sandbox;
      if (typeof value !== 'string' || !Object.hasOwn(fieldAnswers, value))
        refuse(field, `is not one of ${Object.keys(fieldAnswers).join(', ')}`);
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

export type FieldAnswerName<Provider extends ProviderName = ProviderName> = FieldAnswerNames[Provider];

/** The properties of a request that faults match on. */
export type Struck = { device?: string | undefined; method?: string; path?: string };

export type FaultSwitch = ((request: Struck) => Fault | undefined) & {
  /** Returns the faults that may still apply; `count` is the number of times that are left. */
  left(): Fault[];
};

/** Returns a function that decides for each request which fault applies; each fault counts the requests that match it. */
export function makeFaultSwitch(faults: readonly Fault[]): FaultSwitch {
  const strikes = faults.map((fault) => ({ fault, strikes: makeStrikes(fault) }));
  const strike = (request: Struck): Fault | undefined =>
    strikes.find((each) => isAbout(each.fault, request) && each.strikes(request))?.fault;
  return Object.assign(strike, { left: () => strikes.flatMap((each) => each.strikes.left()) });
}

/**
 * True if a fault applies only to requests for a device: it is limited to some devices, or has a response that only a
 * message gets.
 */
export function needsDevice({ answer, device, share, countPerDevice }: Fault): boolean {
  return [answer, device, share, countPerDevice].some((given) => given !== undefined);
}

/** True if a fault affects the device with this address. The choice is the same after every start. */
export function strikesDevice({ device, share, seed = defaultSeed }: Fault, address: string): boolean {
  if (device !== undefined && !address.startsWith(device)) return false;
  return share === undefined || shareOf(`${seed} ${address}`) < share;
}

function isAbout(fault: Fault, request: Struck): boolean {
  const { route } = fault;
  if (needsDevice(fault) && (request.device === undefined || !strikesDevice(fault, request.device))) return false;
  if (route === undefined) return true;
  const [path, method] = route.split(' ').toReversed() as [string, string?];
  if (method !== undefined && method !== request.method) return false;
  return path.endsWith('*') ? request.path?.startsWith(path.slice(0, -1)) === true : request.path === path;
}

const defaultSeed = 0x9e3779b9;
// Each has an address of a few hundred bytes; beyond this number, the fault affects the first devices again.
const maxDevicesCounted = 100_000;

function makeStrikes(fault: Fault): ((request: Struck) => boolean) & { left(): Fault[] } {
  let requests = 0;
  let struck = 0;
  const struckOf = new Map<string, number>();
  const random = makeRandom(fault.seed ?? defaultSeed);
  const strikes = ({ device = '' }: Struck): boolean => {
    requests += 1;
    if (fault.count !== undefined && struck >= fault.count) return false;
    const struckBefore = struckOf.get(device) ?? 0;
    if (fault.countPerDevice !== undefined && struckBefore >= fault.countPerDevice) return false;
    if (fault.nth !== undefined && requests !== fault.nth) return false;
    if (fault.every !== undefined && requests % fault.every !== 0) return false;
    if (fault.probability !== undefined && random() >= fault.probability) return false;
    struck += 1;
    if (fault.countPerDevice !== undefined) {
      struckOf.set(device, struckBefore + 1);
      if (struckOf.size > maxDevicesCounted) struckOf.delete(struckOf.keys().next().value!);
    }
    return true;
  };
  return Object.assign(strikes, {
    left(): Fault[] {
      if (fault.nth !== undefined && requests >= fault.nth) return [];
      if (fault.count === undefined) return [fault];
      return struck >= fault.count ? [] : [{ ...fault, count: fault.count - struck }];
    },
  });
}

/** Returns a number from 0 to below 1 for a text (FNV-1a, mixed so that similar texts have different numbers). */
function shareOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return makeRandom(hash)();
}

/** Returns a deterministic sequence (mulberry32), so that a failing run can be repeated. */
function makeRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

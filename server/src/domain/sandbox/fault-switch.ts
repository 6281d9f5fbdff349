import type { Fault } from './faults.ts';

/** What a request is, as far as faults tell requests apart. */
export type Struck = { device?: string | undefined; method?: string; path?: string };

/** Decides, request by request, which of the faults strikes; each counts the requests that it is about. */
export function makeFaultSwitch(faults: Fault[]): (request: Struck) => Fault | undefined {
  const strikes = faults.map((fault) => ({ fault, strikes: makeStrikes(fault) }));
  return (request) => strikes.find((each) => isAbout(each.fault, request) && each.strikes(request))?.fault;
}

/** True if a fault is about a device's requests at all: one of some devices, or an answer that only a message gets. */
export function needsDevice({ answer, device, share, countPerDevice }: Fault): boolean {
  return [answer, device, share, countPerDevice].some((given) => given !== undefined);
}

/** True if the device of this address is among those that a fault is about. The same ones at every start. */
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
// Each has an address of some hundred bytes; of more devices the first are struck again.
const maxDevicesCounted = 100_000;

function makeStrikes(fault: Fault): (request: Struck) => boolean {
  let requests = 0;
  let struck = 0;
  const struckOf = new Map<string, number>();
  const random = makeRandom(fault.seed ?? defaultSeed);
  return ({ device = '' }) => {
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
}

/** A number from 0 to below 1 that follows from the text (FNV-1a, mixed so that similar texts have unlike numbers). */
function shareOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return makeRandom(hash)();
}

/** A fixed sequence (mulberry32), so that a failing run can be repeated. */
function makeRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

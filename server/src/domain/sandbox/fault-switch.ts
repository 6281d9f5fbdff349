import type { Fault } from './faults.ts';

/** What a request is, as far as faults tell requests apart. */
export type Struck = { device?: string | undefined; method?: string; path?: string };

/** Decides, request by request, which of the faults strikes; each counts the requests that it is about. */
export function makeFaultSwitch(faults: Fault[]): (request: Struck) => Fault | undefined {
  const strikes = faults.map((fault) => ({ fault, strikes: makeStrikes(fault) }));
  return (request) => strikes.find((each) => isAbout(each.fault, request) && each.strikes())?.fault;
}

function isAbout({ device, route }: Fault, request: Struck): boolean {
  if (device !== undefined && request.device?.startsWith(device) !== true) return false;
  if (route === undefined) return true;
  const [path, method] = route.split(' ').toReversed() as [string, string?];
  if (method !== undefined && method !== request.method) return false;
  return path.endsWith('*') ? request.path?.startsWith(path.slice(0, -1)) === true : request.path === path;
}

function makeStrikes(fault: Fault): () => boolean {
  let requests = 0;
  let struck = 0;
  const random = makeRandom(fault.seed ?? 0x9e3779b9);
  return () => {
    requests += 1;
    if (fault.count !== undefined && struck >= fault.count) return false;
    if (fault.nth !== undefined && requests !== fault.nth) return false;
    if (fault.every !== undefined && requests % fault.every !== 0) return false;
    if (fault.probability !== undefined && random() >= fault.probability) return false;
    struck += 1;
    return true;
  };
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

import type { Random } from '../rig/random.ts';
import { aboutDevice, dead, unreached } from './simulated-answers.ts';
import type { TrueAnswer, WorldProvider } from './simulated-answers.ts';

/**
 * The condition of a device, which lasts as long as the world. This is the simulator's own assignment: the auditor judges
 * by it whether an answer concerns a device, and never by what the product makes of the answer.
 */
export type DeviceCondition =
  | { kind: 'healthy' }
  /** The device gets too many messages, for some minutes of each period. */
  | { kind: 'limited' | 'throttled'; name: 'limited' | 'limited-bare' | 'throttled'; phase: number }
  /** Refused at its first messages, or for about a day, as a few iPhones are. */
  | { kind: 'sporadic'; refusals: number; refusedUntil: number }
  /** The address never works, and no answer says so for certain. */
  | { kind: 'malformed' | 'outdated' | 'foreign' }
  /** The host of the subscription is gone. */
  | { kind: 'unresolved' }
  | { kind: 'dead' };

const [minute, hour] = [60_000, 3_600_000];
const limitPeriod = 40 * minute;
const limitLasts = 15 * minute;

type Of = { provider: WorldProvider; origin: string | undefined; begin: number };

/** A device's condition by chance: four of five are healthy. */
export function drawCondition(random: Random, { provider, origin, begin }: Of): DeviceCondition {
  const share = random.next();
  const phase = begin + random.between(0, limitPeriod);
  if (share < 0.05) return { kind: 'dead' };
  switch (provider) {
    case 'fcm':
      if (share < 0.15) return { kind: 'limited', name: share < 0.12 ? 'limited' : 'limited-bare', phase };
      return { kind: share < 0.2 ? 'malformed' : 'healthy' };
    case 'apns':
      return { kind: share < 0.08 ? 'foreign' : 'healthy' };
    case 'webpush':
      if (origin?.includes('windows') && share < 0.35) return { kind: 'throttled', name: 'throttled', phase };
      return { kind: share < 0.1 ? 'outdated' : 'healthy' };
    case 'hms':
      return share < 0.2 ? { kind: 'limited', name: 'limited', phase } : { kind: 'healthy' };
  }
}

/** Most are refused once or twice; some for about a day. */
export function drawSporadic(random: Random, begin: number): DeviceCondition {
  return random.next() < 0.3
    ? { kind: 'sporadic', refusals: Infinity, refusedUntil: begin + random.between(20, 26) * hour }
    : { kind: 'sporadic', refusals: random.between(1, 2), refusedUntil: Infinity };
}

type Asking = { provider: WorldProvider; device: string; condition: DeviceCondition; asked: number; now: Date };

/** Returns what the provider answers because of the device's condition; undefined while the device works. */
export function answerForCondition({ provider, device, condition, asked, now }: Asking): TrueAnswer | undefined {
  const at = now.getTime();
  switch (condition.kind) {
    case 'healthy':
      return undefined;
    case 'limited':
    case 'throttled': {
      const isNow = (at - condition.phase + limitPeriod) % limitPeriod < limitLasts;
      return isNow ? aboutDevice({ provider, name: condition.name, device }) : undefined;
    }
    case 'sporadic': {
      const isNow = asked <= condition.refusals && at < condition.refusedUntil;
      return isNow ? aboutDevice({ provider, name: 'sporadic', device }) : undefined;
    }
    case 'malformed':
      return { ...aboutDevice({ provider, name: 'malformed', device }), isForEver: true };
    case 'outdated':
      return { ...aboutDevice({ provider, name: 'outdated-key', device }), isForEver: true };
    case 'foreign':
      // The answer of a credential of the wrong environment, for one token that is of another.
      return { ...aboutDevice({ provider, name: 'wrong-environment', device }), isForEver: true };
    case 'unresolved':
      return { ...unreached(`getaddrinfo ENOTFOUND ${device}.dead.example`), about: 'device', isForEver: true };
    case 'dead':
      return dead(provider, now);
  }
}

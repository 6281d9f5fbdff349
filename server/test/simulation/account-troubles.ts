import type { Clock } from '../../src/clock.ts';
import { hashOf, makeRandom } from '../rig/random.ts';
import type { Random } from '../rig/random.ts';
import { aboutAccount, accountLimited, busy, credentialRefused, unreached } from './simulated-answers.ts';
import type { TrueAnswer, WorldProvider } from './simulated-answers.ts';

/** A sender's account that can fail as a whole: at a provider, or at a push service by its origin. */
export type AccountName = string;

export type Trouble = {
  account: AccountName;
  provider: WorldProvider;
  /** Real time. */
  from: number;
  until: number;
  /** It ends because a user corrects the credential. */
  isOfCredential: boolean;
  answer(device: string): TrueAnswer;
};

const [minute, second] = [60_000, 1_000];
/** A wait that began at the end of the trouble may last as long as the longest delay of a retry, and what was asked for. */
const maxLagMilliseconds = 665 * second;

export const pushOrigins = [
  'https://fcm.googleapis.com',
  'https://updates.push.services.mozilla.com',
  'https://wns2-par02p.notify.windows.com',
] as const;

export type AccountTroubles = ReturnType<typeof makeAccountTroubles>;

/**
 * The troubles of whole accounts, by time: minutes in which an account answers with one fault only, and in some worlds a
 * credential that is wrong until a user corrects it.
 */
export function makeAccountTroubles({ seed, clock, hasHms }: { seed: number; clock: Clock; hasHms: boolean }) {
  const random = makeRandom(hashOf(`${seed} troubles`));
  const begin = clock.realNow().getTime();
  const accounts: [AccountName, WorldProvider][] = [
    ['fcm', 'fcm'],
    ['apns', 'apns'],
    ...pushOrigins.map((origin): [AccountName, WorldProvider] => [origin, 'webpush']),
    ...(hasHms ? ([['hms', 'hms']] as [AccountName, WorldProvider][]) : []),
  ];
  const troubles = [...drawOutages(random, { begin, accounts }), ...drawWrongCredentials(random, { begin, hasHms })];
  return {
    of: (account: AccountName): Trouble | undefined => {
      const now = clock.realNow().getTime();
      return troubles.find((trouble) => trouble.account === account && trouble.from <= now && now < trouble.until);
    },
    /** How often the credential of a provider has been corrected by now. */
    corrections(provider: WorldProvider): number {
      const now = clock.realNow().getTime();
      return troubles.filter((one) => one.isOfCredential && one.provider === provider && one.until <= now).length;
    },
    /** Real milliseconds until the next credential is corrected. */
    untilCorrection(): number {
      const now = clock.realNow().getTime();
      return Math.min(...troubles.flatMap((one) => (one.isOfCredential && one.until > now ? [one.until - now] : [])));
    },
    /** True if the account had a trouble at an instant of real time, or waits may still follow from one. */
    hadTrouble: (account: AccountName, at: number): boolean =>
      troubles.some(
        (one) =>
          one.account === account &&
          one.from <= at &&
          at < one.until + (one.isOfCredential ? minute : maxLagMilliseconds),
      ),
  };
}

type Drawing = { begin: number; accounts: [AccountName, WorldProvider][] };

function drawOutages(random: Random, { begin, accounts }: Drawing): Trouble[] {
  return Array.from({ length: random.between(0, 3) }, (): Trouble => {
    const from = begin + random.between(0, 3_600_000);
    const [account, provider] = accounts[random.between(0, accounts.length - 1)]!;
    const until = from + random.between(10, 900) * second;
    const seconds = random.between(5, 120);
    const kinds = [() => unreached(), () => busy(provider), () => accountLimited(provider, seconds)];
    const answer = kinds[random.between(0, 2)]!;
    return { account, provider, from, until, isOfCredential: false, answer };
  });
}

function drawWrongCredentials(random: Random, { begin, hasHms }: { begin: number; hasHms: boolean }): Trouble[] {
  const from = begin + random.between(0, 10) * minute;
  const until = from + random.between(10, 40) * minute;
  const of = (provider: WorldProvider, answer: Trouble['answer']): Trouble => {
    return { account: provider, provider, from, until, isOfCredential: true, answer };
  };
  const share = random.next();
  if (share < 0.1)
    return [of('apns', (device) => aboutAccount({ provider: 'apns', name: 'wrong-environment', device }))];
  if (share < 0.15) return [of('apns', (device) => aboutAccount({ provider: 'apns', name: 'wrong-topic', device }))];
  if (share < 0.2) return [of('apns', () => credentialRefused('apns'))];
  if (share < 0.25) return [of('fcm', () => credentialRefused('fcm'))];
  if (share < 0.35 && hasHms)
    return [of('hms', (device) => aboutAccount({ provider: 'hms', name: 'wrong-app', device }))];
  if (share < 0.4)
    // A proxy that leads nowhere, from the beginning: of this push service no browser was ever reached.
    return pushOrigins.slice(0, 1).map((account) => ({
      ...{ account, provider: 'webpush', from: begin, until, isOfCredential: false },
      answer: (device) => aboutAccount({ provider: 'webpush', name: 'not-found', device }),
    }));
  return [];
}

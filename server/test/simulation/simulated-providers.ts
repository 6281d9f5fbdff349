import type { Clock } from '../../src/clock.ts';
import type { Platform } from '../../src/domain/campaigns/content.ts';
import type { DeliveryRequest, Outcome } from '../../src/engine/delivery/provider.ts';
import { makeRandom } from '../torture/make-random.ts';

/** What one transaction of a worker settles: a window of a chunk, or a batch of deliveries that were due again. */
export type Wave = {
  worker: SimulatedProcess;
  kind: 'window' | 'retry';
  beganAt: number;
  /** `stored`: its outcomes are in the ledger. `lost`: its worker died, or another one took over. `unsure`: one may have. */
  end: 'open' | 'stored' | 'lost' | 'unsure';
};

/** What the providers know of the process that sends. */
export type SimulatedProcess = {
  name: string;
  state: 'alive' | 'dead';
  /** It stands still until then, as a process does that gets no turn: leases run out meanwhile. */
  stalledUntil: number;
  /** For so long it will stand still once its next request has left it: the answers find it with its window open. */
  stallMilliseconds: number | undefined;
  /** It dies when so many more requests have left it, at the latest before it learns what became of them. */
  requestsToDeath: number | undefined;
  /** A stall longer than a lease lets others take its work over. */
  outlivedLease: boolean;
};

export type SimulatedRequest = {
  wave: Wave;
  runId: string;
  deviceId: string;
  platform: Platform;
  /** By the clock that the sandbox moves, and by the real one. */
  at: number;
  realAt: number;
  collapseId: string;
  messageId: string;
  outcome: Outcome;
  /** Real time; undefined until the worker knows the outcome. */
  answeredAt: number | undefined;
};

type Sending = DeliveryRequest & { wave: Wave; resolve: (outcome: Outcome) => void };
type InFlight = { request: SimulatedRequest; dueAt: number; resolve: (outcome: Outcome) => void };

export type SimulatedProviders = ReturnType<typeof makeSimulatedProviders>;

type Options = {
  seed: number;
  clock: Clock;
  note: (line: string) => void;
  nameOf: (id: string, campaignId?: string) => string;
};

/**
 * The providers of a simulation. A request stays with them until the simulation asks for answers, so that all requests
 * of a window are under way before the first is answered, in one order. Each answer follows from the seed, the device,
 * the run and how often it was asked.
 */
export function makeSimulatedProviders({ seed, clock, note, nameOf }: Options) {
  const requests: SimulatedRequest[] = [];
  let arrived: Sending[] = [];
  let inFlight: InFlight[] = [];
  const asked = new Map<string, number>();
  // Workers that died with a device in their open window, before its request had left them; by run and device.
  const deathsBefore = new Map<string, number>();
  const outages = makeOutages(seed, clock);

  const keyOf = ({ message, device }: DeliveryRequest): string =>
    `${nameOf(message.runId, message.campaignId)} ${nameOf(device.deviceId)}`;

  function decide(sending: Sending): { outcome: Outcome; seconds: number } {
    const key = keyOf(sending);
    const times = (asked.get(key) ?? 0) + 1;
    asked.set(key, times);
    const random = makeRandom(hashOf(`${seed} ${key} ${times}`));
    const seconds = random.next() < 0.03 ? random.between(2, 30) : 0;
    return { outcome: outages.outcome(sending.device.platform) ?? pickOutcome(random), seconds };
  }

  function take(sending: Sending): void {
    const { wave, message, device, resolve } = sending;
    const { outcome, seconds } = decide(sending);
    const [at, realAt] = [clock.now().getTime(), clock.realNow().getTime()];
    const { collapseId, id: messageId } = message.identity;
    const of = { wave, runId: message.runId, deviceId: device.deviceId, platform: device.platform };
    const request = { ...of, at, realAt, collapseId, messageId, outcome, answeredAt: undefined };
    requests.push(request);
    if (wave.worker.stallMilliseconds !== undefined) {
      wave.worker.stalledUntil = realAt + wave.worker.stallMilliseconds;
      wave.worker.stallMilliseconds = undefined;
    }
    inFlight.push({ request, dueAt: realAt + seconds * 1000, resolve });
    note(`  ${wave.worker.name} → ${keyOf(sending)}: ${wordOf(outcome)} in ${seconds} s`);
  }

  function noteDeathBefore({ message, device }: Sending): void {
    const key = `${message.runId}/${device.deviceId}`;
    deathsBefore.set(key, (deathsBefore.get(key) ?? 0) + 1);
  }

  function die(worker: SimulatedProcess): void {
    worker.state = 'dead';
    note(`  ${worker.name} dies`);
  }

  return {
    requests,
    deathsBefore: (runId: string, deviceId: string): number => deathsBefore.get(`${runId}/${deviceId}`) ?? 0,
    /** A request leaves a worker. One that dies never learns what became of it. */
    deliver: (request: DeliveryRequest, wave: Wave): Promise<Outcome> =>
      new Promise((resolve) => arrived.push({ ...request, wave, resolve })),

    /** Takes what has arrived, and answers what is due. @returns whether anything happened */
    answer(): boolean {
      const [taken, late] = [arrived, inFlight];
      taken.sort((one, other) => compare(keyOf(one), keyOf(other)));
      arrived = [];
      for (const sending of taken) {
        const { worker } = sending.wave;
        if (worker.state === 'alive' && worker.requestsToDeath === 0) die(worker);
        if (worker.state === 'dead') {
          noteDeathBefore(sending);
          continue;
        }
        take(sending);
        if (worker.requestsToDeath) worker.requestsToDeath -= 1;
      }
      const now = clock.realNow().getTime();
      const isDue = ({ request: { wave }, dueAt }: InFlight): boolean =>
        dueAt <= now && wave.worker.stalledUntil <= now;
      const due = late.concat(inFlight.filter((flight) => !late.includes(flight))).filter(isDue);
      inFlight = inFlight.filter((flight) => !isDue(flight));
      for (const { request, resolve } of due) {
        const { worker } = request.wave;
        if (worker.state === 'alive' && worker.requestsToDeath !== undefined) die(worker);
        if (worker.state === 'dead') continue;
        request.answeredAt = now;
        resolve(request.outcome);
      }
      return taken.length + due.length > 0;
    },
    /** When the next answer is due of those that a living worker waits for. */
    nextAnswerAt: (): number | undefined =>
      inFlight
        .filter(({ request: { wave } }) => wave.worker.state === 'alive')
        .map(({ dueAt, request: { wave } }) => Math.max(dueAt, wave.worker.stalledUntil))
        .sort((one, other) => one - other)[0],
    kill: die,
  };
}

/** A provider that answers nothing but one fault for some minutes. */
function makeOutages(seed: number, clock: Clock) {
  const random = makeRandom(hashOf(`${seed} outages`));
  const begin = clock.realNow().getTime();
  const outages = Array.from({ length: random.between(0, 3) }, () => {
    const from = begin + random.between(0, 3_600_000);
    const platform = (['ANDROID', 'IOS', 'WEB'] as const)[random.between(0, 2)]!;
    const kinds: Outcome[] = [
      { kind: 'unreached', code: 'UNREACHABLE' },
      { kind: 'wait', code: '503', scope: 'device' },
      { kind: 'wait', code: '429', scope: 'credential', retryAfterSeconds: random.between(5, 120) },
    ];
    return { from, until: from + random.between(10, 900) * 1000, platform, outcome: kinds[random.between(0, 2)]! };
  });
  return {
    outcome(platform: Platform): Outcome | undefined {
      const now = clock.realNow().getTime();
      return outages.find((outage) => outage.platform === platform && outage.from <= now && now < outage.until)
        ?.outcome;
    },
  };
}

function pickOutcome(random: ReturnType<typeof makeRandom>): Outcome {
  const share = random.next();
  if (share < 0.72) return { kind: 'accepted', providerMessageId: 'p' };
  if (share < 0.77) return { kind: 'wait', code: '503', scope: 'device' };
  if (share < 0.81) return { kind: 'wait', code: '503', scope: 'device', retryAfterSeconds: random.between(1, 300) };
  if (share < 0.84)
    return { kind: 'wait', code: '429', scope: 'credential', retryAfterSeconds: random.between(1, 180) };
  // The connection was reset before or after the provider took the message: the worker cannot tell.
  if (share < 0.9) return { kind: 'unknown', code: 'RESET' };
  if (share < 0.92) return { kind: 'unreached', code: 'UNREACHABLE' };
  if (share < 0.95) return { kind: 'gone', code: 'UNREGISTERED' };
  if (share < 0.995) return { kind: 'rejected', code: 'TOO_BIG', detail: 'too big' };
  return { kind: 'stopped', code: 'THIRD_PARTY_AUTH_ERROR', detail: 'the credential is refused' };
}

function wordOf(outcome: Outcome): string {
  const after = outcome.kind === 'wait' ? outcome.retryAfterSeconds : undefined;
  return [
    outcome.kind,
    ...('code' in outcome ? [outcome.code] : []),
    ...(after === undefined ? [] : [`${after} s`]),
  ].join(' ');
}

/** FNV-1a. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193);
  return hash >>> 0;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

import type { Clock } from '../../src/clock.ts';
import type { Platform } from '../../src/domain/content/content.ts';
import { classifyApnsAnswer } from '../../src/providers/apns/classify.ts';
import { classifyFcmAnswer } from '../../src/providers/fcm/classify.ts';
import { classifyHmsAnswer } from '../../src/providers/hms/classify.ts';
import type { Answer, DeliveryRequest, Outcome } from '../../src/providers/provider.ts';
import { classifyWebPushAnswer } from '../../src/providers/webpush/classify.ts';
import { hashOf, makeRandom } from '../rig/random.ts';
import type { History } from '../rig/history.ts';
import type { Random } from '../rig/random.ts';
import {
  accepted,
  accountLimited,
  answerForCondition,
  busy,
  messageRefused,
  reset,
  unreached,
} from './simulated-answers.ts';
import type { AccountTroubles, TrueAnswer, WorldProvider } from './simulated-answers.ts';
import type { WorldDevice } from './simulated-world.ts';

/** What one transaction of a worker settles: a window of a chunk, or a batch of deliveries that were due again. */
export type Wave = {
  number: number;
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
  account: string;
  /** By the clock that the sandbox moves, and by the real one. */
  at: number;
  realAt: number;
  collapseId: string;
  messageId: string;
  /** What the provider answered, and the simulator's truth of it. */
  given: TrueAnswer;
  /** What the product makes of the answer, for the trace. */
  outcome: Outcome;
  /** How often the device was asked in the run, this time included. */
  asked: number;
  /** Real time; undefined until the worker knows the outcome. */
  answeredAt: number | undefined;
};

/** A message that the product did not send although it was due: it waits, or is over. */
export type PutOff = {
  runId: string;
  deviceId: string;
  /** By the clock that the sandbox moves, and by the real one. */
  at: number;
  realAt: number;
  /** Undefined: for ever. */
  until: number | undefined;
  code: string | null;
};

type Sending = DeliveryRequest & { wave: Wave; resolve: (outcome: Outcome) => void };
type InFlight = { request: SimulatedRequest; dueAt: number; resolve: (outcome: Outcome) => void };

export type SimulatedProviders = ReturnType<typeof makeSimulatedProviders>;

type Options = {
  seed: number;
  clock: Clock;
  note: (line: string) => void;
  nameOf: (id: string, campaignId?: string) => string;
  deviceOf: (id: string) => WorldDevice;
  troubles: AccountTroubles;
  history: History;
};

const classify: Record<WorldProvider, (answer: Answer, now: Date) => Outcome> = {
  fcm: classifyFcmAnswer,
  apns: classifyApnsAnswer,
  webpush: classifyWebPushAnswer,
  hms: classifyHmsAnswer,
};

/**
 * The providers of a simulation. A request stays with them until the simulation asks for answers, so that all requests
 * of a window are under way before the first is answered, in one order. Each answer follows from the seed, the device,
 * the run and how often it was asked. It is what comes from the network, and becomes an outcome as the product classifies
 * it; its truth stays beside it.
 */
export function makeSimulatedProviders({ seed, clock, note, nameOf, deviceOf, troubles, history }: Options) {
  const requests: SimulatedRequest[] = [];
  let arrived: Sending[] = [];
  let inFlight: InFlight[] = [];
  const asked = new Map<string, number>();
  // Workers that died with a device in their open window, before its request had left them; by run and device.
  const deathsBefore = new Map<string, number>();
  const askedOfDevice = new Map<string, number>();
  const putOffs: PutOff[] = [];

  const keyOf = ({ message, device }: DeliveryRequest): string =>
    `${nameOf(message.runId, message.campaignId)} ${nameOf(device.deviceId)}`;

  function decide(sending: Sending): { given: TrueAnswer; asked: number; seconds: number } {
    const key = keyOf(sending);
    const times = (asked.get(key) ?? 0) + 1;
    asked.set(key, times);
    const random = makeRandom(hashOf(`${seed} ${key} ${times}`));
    const seconds = random.next() < 0.03 ? random.between(2, 30) : 0;
    return { given: pickAnswer(sending, random), asked: times, seconds };
  }

  function pickAnswer({ message, device: { deviceId } }: Sending, random: Random): TrueAnswer {
    const { name, provider, account, condition } = deviceOf(deviceId);
    const askedBefore = askedOfDevice.get(deviceId) ?? 0;
    askedOfDevice.set(deviceId, askedBefore + 1);
    const trouble = troubles.of(account);
    if (trouble && condition.kind !== 'unresolved') return trouble.answer(name);
    const now = clock.realNow();
    const own = answerForCondition({ provider, device: name, condition, asked: askedBefore + 1, now });
    if (own) return own;
    // A personal text that is too large is so each time.
    if (makeRandom(hashOf(`${seed} ${nameOf(message.runId)} ${name} text`)).next() < 0.045)
      return messageRefused(provider);
    return pickOrdinaryAnswer(provider, random);
  }

  function take(sending: Sending): void {
    const { wave, message, device, resolve } = sending;
    const { given, asked: times, seconds } = decide(sending);
    const { provider, account } = deviceOf(device.deviceId);
    const outcome = classify[provider](given.answer, clock.realNow());
    const [at, realAt] = [clock.now().getTime(), clock.realNow().getTime()];
    const { collapseId, id: messageId } = message.identity;
    const of = { wave, runId: message.runId, deviceId: device.deviceId, platform: device.platform, account };
    const identity = { collapseId, messageId };
    const request = { ...of, at, realAt, ...identity, given, outcome, asked: times, answeredAt: undefined };
    requests.push(request);
    history.note({
      ...{ kind: 'message', wave: wave.number, worker: wave.worker.name, at, campaign: message.campaignId },
      ...{ run: message.runId, device: device.deviceId, address: deviceOf(device.deviceId).name },
      ...{ platform: device.platform, collapse: collapseId, message: messageId },
      ...{ answer: given.final ?? (given.about === 'acceptance' ? 'ACCEPTED' : 'OTHER'), word: given.word },
    });
    if (wave.worker.stallMilliseconds !== undefined) {
      history.note({ kind: 'fault', what: 'stall', worker: wave.worker.name });
      wave.worker.stalledUntil = realAt + wave.worker.stallMilliseconds;
      wave.worker.stallMilliseconds = undefined;
    }
    inFlight.push({ request, dueAt: realAt + seconds * 1000, resolve });
    note(
      `  ${wave.worker.name} → ${keyOf(sending)} (${account}): ${given.word} about the ${given.about}, ` +
        `so ${wordOf(outcome)}, in ${seconds} s`,
    );
  }

  function noteDeathBefore({ message, device }: Sending): void {
    const key = `${message.runId}/${device.deviceId}`;
    deathsBefore.set(key, (deathsBefore.get(key) ?? 0) + 1);
  }

  function die(worker: SimulatedProcess): void {
    worker.state = 'dead';
    history.note({ kind: 'fault', what: 'kill', worker: worker.name });
    note(`  ${worker.name} dies`);
  }

  return {
    requests,
    putOffs,
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

/** What an account without trouble answers for a device that is well. */
function pickOrdinaryAnswer(provider: WorldProvider, random: Random): TrueAnswer {
  const share = random.next();
  if (share < 0.8) return accepted(provider);
  if (share < 0.85) return busy(provider);
  if (share < 0.89) return busy(provider, random.between(1, 300));
  if (share < 0.91) return accountLimited(provider, random.between(1, 180));
  if (share < 0.97) return reset();
  return share < 0.98 ? unreached() : accepted(provider);
}

function wordOf(outcome: Outcome): string {
  const after = outcome.kind === 'wait' ? outcome.retryAfterSeconds : undefined;
  return [
    outcome.kind,
    ...('code' in outcome ? [outcome.code] : []),
    ...(after === undefined ? [] : [`${after} s`]),
  ].join(' ');
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

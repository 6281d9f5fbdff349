import type { CredentialsOfApps, FoundCredentials } from '../../domain/credentials/credentials.ts';
import { maxEvidenceDevices, makeRefusal } from '../../domain/delivery/evidence.ts';
import type { Hold, Seen } from '../../domain/delivery/evidence.ts';
import { retryDelaySeconds } from '../../domain/delivery/retry-delay.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import type { DecidedOutcome, Outcome } from '../../providers/provider.ts';
import type { SendAccount } from '../../providers/send-account.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import type { BatchKey, Evidence, Judgement } from '../governor/provider-evidence.ts';
import type { Addressee } from './compose-message.ts';
import { settleOutcome, settleUntried, waitForCredential } from './settle-outcome.ts';
import type { DeviceResult, SettleDependencies } from './settle-outcome.ts';

export type JudgeDependencies = SettleDependencies & { evidence: Evidence };

export type AmbiguousOutcome = Extract<Outcome, { kind: 'ambiguous' }>;

/** Devices of one app, language and badge that one provider reaches through one account. */
export type Batch = {
  indexes: number[];
  account: SendAccount | undefined;
  found: FoundCredentials;
  key: BatchKey | undefined;
  /** The hold in force when the batch began. In that case the devices of the batch are probes. */
  hold?: Hold;
};

export type Postponed = { index: number; batch: Batch; outcome: AmbiguousOutcome };

export type AnsweredWindow = {
  run: RunToSend;
  addressees: readonly Addressee[];
  batches: readonly Batch[];
  /** Filled for all addressees except those in `postponed`. */
  results: DeviceResult[];
  postponed: readonly Postponed[];
  credentialsOf: CredentialsOfApps;
};

/** Maximum attempts for a code that fails intermittently, and for a code that too few devices got to decide its cause. */
const maxAttempts = { reject: 3, undecided: 2 } as const;

/**
 * Settles the ambiguous responses of a window by the outcomes of its other devices and fills in their results. Also records
 * what the window shows about its credentials. Never rejects.
 */
export async function judgeWindow(deps: JudgeDependencies, window: AnsweredWindow): Promise<void> {
  const byKey = Map.groupBy(
    window.batches.filter(({ key }) => key),
    ({ key }) => key!.text,
  );
  for (const batches of byKey.values()) await judgeKey(deps, { window, batches, key: batches[0]!.key! });
  for (const postponed of window.postponed)
    if (!postponed.batch.key)
      window.results[postponed.index] = settleJudged(deps, { window, postponed, judgement: unknownJudgement });
}

/** Without a key nothing is known about other devices. */
const unknownJudgement: Judgement = { verdict: 'undecided', isHealthy: false };

type OfKey = { window: AnsweredWindow; batches: readonly Batch[]; key: BatchKey };

async function judgeKey(deps: JudgeDependencies, { window, batches, key }: OfKey): Promise<void> {
  const { results } = window;
  const { evidence } = deps;
  const indexes = batches.flatMap((batch) => batch.indexes);
  const postponed = window.postponed.filter(({ batch }) => batches.includes(batch));
  const isAccepted = (index: number): boolean => results[index]?.delivery.outcome === 'ACCEPTED';
  const hold = batches.find((batch) => batch.hold)?.hold;
  if (hold && indexes.some(isAccepted)) await evidence.release(hold.key);
  const refused = indexes.find((index) => results[index]?.refused?.by === 'the provider');
  if (refused !== undefined) await noteRefusal(deps, { key, hold, result: results[refused]! });
  if (postponed.length === 0) {
    const accepted = sampleOf(indexes.filter(isAccepted));
    if (accepted.length > 0)
      evidence.noteAccepted(
        key,
        accepted.map((index) => results[index]!.delivery.deviceId),
      );
    return;
  }
  const answers = await answersOf(deps, { window, indexes, postponed });
  const codes = [...Map.groupBy(postponed, ({ outcome }) => outcome.code).values()].map(([first, ...others]) => ({
    code: first!.outcome.code,
    detail: first!.outcome.detail,
    effect: first!.outcome.ifAccount,
    isDrop: first!.outcome.ifDevice === 'drop',
    retryAfterSeconds: pauseSeconds(window, [first!, ...others]),
  }));
  const judgements = await evidence.judge(key, { answers, codes });
  for (const one of postponed) {
    const judgement = judgements.get(one.outcome.code) ?? unknownJudgement;
    results[one.index] = settleJudged(deps, { window, postponed: one, judgement });
  }
}

/**
 * Returns how long a key pauses, in seconds: what the provider asked for, growing with each attempt as a single device's delay
 * would. Otherwise all devices would return together each time and use up their attempts.
 */
function pauseSeconds({ addressees }: AnsweredWindow, postponed: readonly Postponed[]): number {
  const attempts = Math.max(...postponed.map(({ index }) => addressees[index]!.attempt));
  const asked = postponed.map(({ outcome }) => outcome.retryAfterSeconds).find((seconds) => seconds !== undefined);
  const after = asked === undefined ? {} : { retryAfterSeconds: asked };
  return retryDelaySeconds({ attempts, ...after, isRateLimited: true, random: 1 });
}

type Refusing = { key: BatchKey; hold: Hold | undefined; result: DeviceResult };

/**
 * Records that the provider definitely refused the credential. Its key is held. If a probe is refused again, a different device
 * probes next.
 */
async function noteRefusal({ evidence }: JudgeDependencies, { key, hold, result }: Refusing): Promise<void> {
  const { refusal } = result.refused!;
  if (refusal.evidenceKey !== key.credential) return;
  const ofCredential = { ...key, text: key.credential };
  const { code, detail } = wordsOf(refusal.words);
  if (hold) await evidence.noteFailed(ofCredential, { deviceId: result.delivery.deviceId, code });
  else await evidence.hold(ofCredential, { code, detail });
}

function wordsOf(words: string): { code: string; detail: string } {
  const end = words.indexOf(': ');
  return { code: words.slice(0, end), detail: words.slice(end + 2) };
}

/** Returns at most as many devices as a key remembers, evenly spaced. */
function sampleOf(indexes: readonly number[]): number[] {
  if (indexes.length <= maxEvidenceDevices) return [...indexes];
  return Array.from(
    { length: maxEvidenceDevices },
    (_, nth) => indexes[Math.floor((nth * indexes.length) / maxEvidenceDevices)]!,
  );
}

type Answered = { window: AnsweredWindow; indexes: readonly number[]; postponed: readonly Postponed[] };

/**
 * Returns the responses that the devices of a key got in this window. If only a few devices failed, looks them up in the
 * ledger. Failures of devices that registered themselves and were never accepted are left out.
 */
async function answersOf(
  { clock, evidence }: JudgeDependencies,
  { window: { run, results, addressees }, indexes, postponed }: Answered,
): Promise<Seen[]> {
  const at = clock.now().getTime();
  const answers: Seen[] = [];
  const failing = indexes.filter((index) => results[index] && results[index].delivery.outcome !== 'ACCEPTED');
  const notAccepted = [...failing, ...postponed.map(({ index }) => index)].map((index) => addressees[index]!.device);
  const unproven = await evidence.findUnproven({ workspaceId: run.workspaceId, devices: notAccepted });
  for (const index of indexes) {
    const delivery = results[index]?.delivery;
    if (delivery && unproven.has(delivery.deviceId)) continue;
    if (delivery?.outcome === 'ACCEPTED') answers.push({ deviceId: delivery.deviceId, code: null, at });
    else if (delivery?.outcome === 'GONE' || delivery?.outcome === 'REJECTED')
      answers.push({ deviceId: delivery.deviceId, code: delivery.code ?? '', at });
  }
  const failed = postponed.map(({ index }) => addressees[index]!.device);
  const known = failed.length < maxEvidenceDevices ? await evidence.findAccepted(failed) : new Set<string>();
  for (const { index, outcome } of postponed) {
    const { id: deviceId } = addressees[index]!.device;
    if (unproven.has(deviceId)) continue;
    answers.push({ deviceId, code: outcome.code, at, ...(known.has(deviceId) && { wasAccepted: true }) });
  }
  return answers;
}

type Judging = { window: AnsweredWindow; postponed: Postponed; judgement: Judgement };

/** Returns the result of a device with an ambiguous response. */
function settleJudged(deps: JudgeDependencies, { window, postponed, judgement }: Judging): DeviceResult {
  const { run, addressees } = window;
  const { index, batch, outcome } = postponed;
  const { device, attempt } = addressees[index]!;
  const { code, detail, ifDevice } = outcome;
  const hold = judgement.hold ?? (ifDevice === 'wait' ? undefined : batch.hold);
  // A pause costs the devices that were sent to an attempt, so that their delays grow. Devices that were not sent to lose
  // nothing.
  if (hold && !hold.until) return settleHeld(deps, { run, addressee: addressees[index]!, batch, hold });
  const settle = (instead: DecidedOutcome): DeviceResult =>
    settleOutcome(deps, {
      ...{ run, device, attempt, account: batch.account, outcome: instead, acceptedCode: null },
      ...{ credential: batch.found.name, evidenceKey: batch.key?.credential },
    });
  const { retryAfterSeconds, goneSince } = outcome;
  const wait = {
    kind: 'wait',
    code,
    scope: 'device',
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  } as const;
  const rejected = { kind: 'rejected', code, detail } as const;
  if (ifDevice === 'wait')
    return settle(hold?.until ? { ...wait, retryAfterSeconds: secondsTo(hold.until, deps) } : wait);
  const attempts =
    ifDevice === 'reject' ? maxAttempts.reject : judgement.verdict === 'undecided' ? maxAttempts.undecided : 1;
  if (attempt < attempts) {
    const result = settle(wait);
    // A message that ends before the next attempt is not reported as expired, because its provider refused it.
    if (result.delivery.outcome === 'WAITING') return result;
  }
  switch (ifDevice) {
    case 'drop':
      if (judgement.verdict === 'device') return settle({ kind: 'gone', code, ...(goneSince && { goneSince }) });
      return { ...settle(rejected), suspected: { code, isHealthy: judgement.isHealthy } };
    case 'suspect':
      return { ...settle(rejected), suspected: { code, isHealthy: judgement.isHealthy } };
    case 'reject':
      return settle(rejected);
    default:
      return unknownCase(ifDevice);
  }
}

function secondsTo(until: Date, { clock }: Pick<JudgeDependencies, 'clock'>): number {
  return Math.max(0, (until.getTime() - clock.now().getTime()) / 1000);
}

type Held = { run: RunToSend; addressee: Addressee; batch: Batch; hold: Hold };

/** Makes a device of a held key wait for the end of a pause, or until the credential works again. */
export function settleHeld(
  { random }: Pick<SettleDependencies, 'random'>,
  { run, addressee, batch, hold }: Held,
): DeviceResult {
  if (hold.until)
    return settleUntried({ run, ...addressee }, { code: 'PROVIDER_WAIT', until: hold.until, random: random() });
  const { code, detail, key } = hold;
  const refusal = makeRefusal({
    ...{ credential: batch.found.name, platform: addressee.device.platform, code, detail, evidenceKey: key },
  });
  return waitForCredential({ run, ...addressee }, { refusal, by: 'the provider' });
}

import { randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { hashSecret } from '../domain/access/keys.ts';
import { payloadOfApp } from '../domain/apps.ts';
import type { AppSettings } from '../domain/apps.ts';
import { settlePayload } from '../domain/content/content.ts';
import type { AndroidPayload, PhoneDefaults } from '../domain/content/content.ts';
import { messageIdentity } from '../domain/content/message.ts';
import type { Message } from '../domain/content/message.ts';
import { maxDeliveryAttempts } from '../domain/limits/delivery.ts';
import { unknownCase } from '../domain/unknown-case.ts';
import type { Logger } from '../log.ts';
import type { Delivery } from '../providers/deliver.ts';
import type { DecidedOutcome } from '../providers/provider.ts';
import { sendAccountOf } from '../providers/send-account.ts';
import type { Database } from '../storage/database.ts';
import { claimDueChallenges, settleChallenge, storeChallengeCode } from '../storage/push-token-challenges.ts';
import type { DueChallenge, SettledChallenge } from '../storage/push-token-challenges.ts';
import { findWorkspace } from '../storage/workspaces.ts';
import type { LoadCredentials } from './credentials.ts';
import type { Governor } from './governor/governor.ts';
import { makeLeasedJob } from './jobs/leased-job.ts';
import type { LeasedJob } from './jobs/leased-job.ts';
import type { OutcomeBuffer } from './jobs/outcome-buffer.ts';
import { settleLiveOutcome } from './live-activities.ts';

export type SendTokenChallengesDependencies = {
  database: Database;
  clock: Clock;
  log: Logger;
  delivery: Pick<Delivery, 'deliver'>;
  loadCredentials: LoadCredentials;
  governor: Governor;
  phoneDefaults: PhoneDefaults;
  random: () => number;
  outcomes: OutcomeBuffer;
};

const maxUnderWay = 50;

/**
 * The job that sends silent challenges: a code to the device that has a push token, which only the app on that device can send
 * back. Each attempt has a new code, of which only the digest is stored.
 */
export function makeSendTokenChallenges(deps: SendTokenChallengesDependencies): LeasedJob {
  const { database, clock, log, outcomes } = deps;
  return makeLeasedJob({
    ...{ name: 'send-token-challenges', what: 'challenge of a push token', maxUnderWay, clock, log, outcomes },
    claim: (claim) => claimDueChallenges(database, claim),
    async deliver(challenge) {
      const settled = await sendChallenge(deps, challenge);
      if (settled) await outcomes.store(() => settleChallenge(database, { ...challenge, settled }));
    },
  });
}

/** @returns undefined if another worker has the challenge now */
async function sendChallenge(
  deps: SendTokenChallengesDependencies,
  challenge: DueChallenge,
): Promise<SettledChallenge | undefined> {
  const { database, clock, governor } = deps;
  const { workspaceId, address, attempts, sendUntil } = challenge;
  const now = clock.now();
  if (now >= sendUntil) return { state: 'EXPIRED', code: 'TTL' };
  // Workers died until no attempt was left.
  if (attempts > maxDeliveryAttempts) return { state: 'FAILED', code: 'SET_ASIDE' };
  const found = (await deps.loadCredentials(workspaceId)).find(address);
  const workspace = await findWorkspace(database, workspaceId);
  const account = found && sendAccountOf(address, found.credentials);
  if (!found || !workspace || !account) return { state: 'REJECTED', code: 'NO_CREDENTIAL' };
  const until = await new Promise<Date | undefined>((resolve) =>
    governor.acquire(account, { lane: 0, messages: 1, onTurn: resolve }),
  );
  if (until) return settleLiveOutcome(deps, { message: challenge, account, outcome: { kind: 'held', until } });
  const code = randomBytes(32).toString('base64url');
  if (!(await storeChallengeCode(database, { ...challenge, codeHash: hashSecret(code) }))) return undefined;
  const { androidPayload } = workspace;
  const ttlSeconds = Math.ceil((sendUntil.getTime() - now.getTime()) / 1000);
  const message = challengeMessage({ ...deps, challenge, code, ttlSeconds, androidPayload, app: found.settings });
  const device = { ...address, deviceId: challenge.installationId };
  const outcome = await deps.delivery.deliver({ message, device, credentials: found.credentials });
  // A token that a stranger chose proves nothing about the account, so an ambiguous response is never evidence.
  const decided: DecidedOutcome =
    outcome.kind === 'ambiguous' ? { kind: 'rejected', code: outcome.code, detail: outcome.detail } : outcome;
  return settleLiveOutcome(deps, { message: challenge, account, outcome: decided });
}

type Composing = {
  challenge: DueChallenge;
  code: string;
  ttlSeconds: number;
  androidPayload: AndroidPayload;
  app: AppSettings | undefined;
  phoneDefaults: PhoneDefaults;
};

/** Returns the silent message with a code. It belongs to no campaign. Pure. */
function challengeMessage({ challenge, code, ttlSeconds, androidPayload, app, phoneDefaults }: Composing): Message {
  const { workspaceId, installationId, address, id } = challenge;
  const { platform } = address;
  const payload = settlePayload(payloadOfApp(androidPayload, app), phoneDefaults);
  const base = {
    ...{ workspaceId, campaignId: '', runId: '', ttlSeconds, identity: messageIdentity(id, installationId) },
    challenge: { installationId, code },
  };
  const content = { title: '', message: '', richContent: [], additionalActions: [] };
  switch (platform) {
    case 'ANDROID':
      return { ...base, platform, priority: 'NORMAL', content, payload, isSilent: true };
    case 'IOS': {
      const { dataPrefix } = payload;
      return {
        ...base,
        platform,
        priority: 5,
        content: { ...content, enableBadge: false },
        dataPrefix,
        isSilent: true,
      };
    }
    case 'WEB': {
      const shown = { title: '', message: '', redirectUrl: '', iconUrl: '', autoDismiss: true };
      return { ...base, platform, urgency: 'high', content: shown };
    }
    default:
      return unknownCase(platform);
  }
}

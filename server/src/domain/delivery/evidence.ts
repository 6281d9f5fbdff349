import { defaultAppId } from '../apps.ts';
import type { Platform } from '../content/content.ts';
import type { CredentialName, CredentialsOfApps } from '../credentials/credentials.ts';
import { providerOf, providers, providersOf } from './providers.ts';
import type { ProviderCredentials, Reachable } from './providers.ts';
import { isKnownPushService } from './push-services.ts';

/**
 * The devices that one response of a provider can concern together: those that one credential, in one version, reaches in
 * one environment, under one bundle id or platform, at one origin (decision 0064).
 */
export type EvidenceKey = {
  text: string;
  /** The key of the credential itself, a prefix of `text`: for refusals that certainly do not depend on the device. */
  credential: string;
  /** False for a push service that a device chose: its responses concern only its own devices. */
  canHold: boolean;
};

export type Reached = {
  workspaceId: string;
  name: CredentialName;
  credentials: ProviderCredentials;
  device: Reachable;
  /** The push service of a browser; undefined for other providers, and if the subscription cannot be read. */
  origin: string | undefined;
};

/** Returns the key of a device; undefined if the workspace has no credential for it. Pure. */
export function evidenceKeyOf({ workspaceId, name, credentials, device, origin }: Reached): EvidenceKey | undefined {
  const provider = providerOf(device);
  const facts = providers[provider].evidence;
  const stored = credentials[provider];
  if (!stored) return undefined;
  const scope = facts.scope({ credential: stored, platform: device.platform, origin });
  const credential = [workspaceId, provider, name.appId, name.version].join(' ');
  return {
    text: [credential, ...scope].join(' '),
    credential: facts.refusesByScope ? [credential, ...scope].join(' ') : credential,
    canHold: origin === undefined || isKnownPushService(origin),
  };
}

/** True if a key belongs to the key of a credential, or equals it. Pure. */
export function isOfKey(key: string | undefined, of: string): boolean {
  return key !== undefined && (key === of || key.startsWith(`${of} `));
}

/** The last response of a provider about a device. `code` is null if the provider accepted the message. */
export type Seen = {
  deviceId: string;
  code: string | null;
  at: number;
  /** True if a provider accepted the device at any time before. The device is then a witness against its credential. */
  wasAccepted?: boolean;
};

/** Maximum distinct devices that a key remembers. */
export const maxEvidenceDevices = 20;
/** A response older than this says nothing about the credential any more. */
export const evidenceMilliseconds = 24 * 3_600_000;
/** With fewer distinct devices, a key is held only if all of them got the code and enough of them are witnesses. */
const fewDevices = maxEvidenceDevices;
/** At least this many devices, each accepted before, make a case against the credential. */
const minWitnesses = 3;
/** The share of the devices that must get an ambiguous code before the credential, and not the devices, is to blame. */
const accountShare = 0.9;
/** The same for a code that usually means a dead address: nine of ten devices may be dead after a purge. */
const accountShareOfDrops = 0.98;
/** An address counts as dead only if this share of the devices, and at least three, were accepted. */
const witnessShareOfDrops = 0.05;
/** The share of few devices that must be accepted before one response concerns its device alone. */
const witnessShareOfFew = 0.25;
/** A credential that was accepted this recently is not held because of one response. */
const recentMilliseconds = 60_000;

/**
 * The effect of an ambiguous code that concerns one device. `suspect`: the message is rejected, and the device leaves the
 * audience after more of them. `drop`: it leaves at once. `reject`: retried, then rejected. `wait`: retried.
 */
export type DeviceEffect = 'suspect' | 'drop' | 'reject' | 'wait';

/** The effect of an ambiguous code that concerns the whole key. */
export type AccountEffect = 'hold' | 'hold at once' | 'pause' | 'none';

export type Weighed = {
  /** Distinct devices with a response. */
  devices: number;
  withCode: number;
  accepted: number;
  /** Devices with this code that were accepted before. */
  witnesses: number;
  isAcceptedLately: boolean;
};

/** Counts the responses to distinct devices of a key: the current ones, and the remembered ones of other devices. Pure. */
export function weighEvidence(
  remembered: readonly Seen[],
  { answers, code, now }: { answers: readonly Seen[]; code: string; now: number },
): Weighed {
  const latest = new Map<string, Seen>();
  for (const seen of [...remembered, ...answers])
    if (now - seen.at < evidenceMilliseconds) latest.set(seen.deviceId, seen);
  const all = [...latest.values()];
  const withCode = all.filter((seen) => seen.code === code);
  const accepted = all.filter((seen) => seen.code === null);
  return {
    devices: all.length,
    withCode: withCode.length,
    accepted: accepted.length,
    witnesses: withCode.filter(({ wasAccepted }) => wasAccepted).length,
    isAcceptedLately: accepted.some(({ at }) => now - at < recentMilliseconds),
  };
}

/** What an ambiguous response concerns. `undecided`: too few devices have a response to decide. */
export type Verdict = 'account' | 'device' | 'undecided';

export type Judged = {
  weighed: Weighed;
  effect: AccountEffect;
  /** True if the code drops its device when it concerns the device. */
  isDrop: boolean;
  canHold: boolean;
};

/** Decides what an ambiguous response concerns, from the responses to the key's other devices (decision 0064). Pure. */
export function judgeAnswer({ weighed, effect, isDrop, canHold }: Judged): Verdict {
  const { devices, withCode, accepted, witnesses } = weighed;
  if (canHold && effect !== 'none') {
    const share = withCode / devices;
    if (devices >= fewDevices && share >= (isDrop ? accountShareOfDrops : accountShare)) return 'account';
    if (devices < fewDevices && withCode === devices && witnesses >= minWitnesses) return 'account';
    if (effect === 'hold at once' && !weighed.isAcceptedLately) return 'account';
  }
  if (devices < fewDevices) return accepted > 0 && accepted >= devices * witnessShareOfFew ? 'device' : 'undecided';
  if (!isDrop) return 'device';
  return accepted >= Math.max(minWitnesses, devices * witnessShareOfDrops) ? 'device' : 'undecided';
}

/** A suspicion counts only if the credential worked for at least this share of the key's devices. */
const healthyShare = 0.5;

/** True if the key's other devices show that its credential works. Pure. */
export function isHealthy({ devices, accepted }: Pick<Weighed, 'devices' | 'accepted'>): boolean {
  return accepted > 0 && accepted >= devices * healthyShare;
}

/**
 * Returns what a key remembers after a window. Of many responses it is an even sample, so that the shares stay those of the
 * window, in whatever order the responses arrived. Of few, it is the newest devices. Pure.
 */
export function rememberAnswers(
  remembered: readonly Seen[],
  { answers, now }: { answers: readonly Seen[]; now: number },
): Seen[] {
  if (answers.length > maxEvidenceDevices) {
    const sorted = answers.toSorted((one, other) => compareCodes(one.code, other.code));
    return Array.from({ length: maxEvidenceDevices }, (_, index) => {
      return sorted[Math.floor(((index + 0.5) * sorted.length) / maxEvidenceDevices)]!;
    });
  }
  const fresh = new Set(answers.map(({ deviceId }) => deviceId));
  const kept = remembered.filter(({ deviceId, at }) => !fresh.has(deviceId) && now - at < evidenceMilliseconds);
  return [...kept, ...answers].slice(-maxEvidenceDevices);
}

function compareCodes(one: string | null, other: string | null): number {
  const [first, second] = [one ?? '', other ?? ''];
  return first < second ? -1 : first > second ? 1 : 0;
}

/** A key with waiting devices, and the reason. */
export type Hold = {
  key: string;
  /** The provider's code, and its message. */
  code: string;
  detail: string;
  /** The end of a pause; null: the hold ends when a device is accepted or the credential changes. */
  until: Date | null;
  /** The key's remembered responses. A device that failed recently is not used to test whether the key works. */
  remembered: readonly Seen[];
};

/** A device that failed cannot be a probe for this long. */
const failedMilliseconds = 60_000;

/** True if a message to the device can show whether a held key works again. Pure. */
export function canProbe({ remembered }: Hold, { deviceId, now }: { deviceId: string; now: number }): boolean {
  const seen = remembered.find((one) => one.deviceId === deviceId);
  return !seen || seen.code === null || now - seen.at >= failedMilliseconds;
}

/** The numbers of these rules; docs/provider-answers.md is generated from them. */
export const evidenceNumbers = {
  maxEvidenceDevices,
  evidenceHours: evidenceMilliseconds / 3_600_000,
  accountShare,
  accountShareOfDrops,
  minWitnesses,
  witnessShareOfFew,
  witnessShareOfDrops,
  recentSeconds: recentMilliseconds / 1_000,
  healthyShare,
} as const;

/** A credential that a provider refuses, for some or all of its devices. */
export type Refusal = CredentialName & {
  platform: Platform | null;
  /** The key of the waiting devices (evidence.ts); null: all devices that the credential serves. */
  evidenceKey: string | null;
};

export type ToldRefusal = Refusal & { words: string };

type Refused = {
  credential: CredentialName;
  platform: Platform;
  code: string;
  detail: string;
  evidenceKey: string | undefined;
};

/** Returns the refusal of a credential, in the words of the provider. Pure. */
export function makeRefusal({ credential, platform, code, detail, evidenceKey }: Refused): ToldRefusal {
  const { provider, appId } = credential;
  const { codesOfPlatform = [] } = providers[provider].evidence;
  return {
    ...credential,
    platform: codesOfPlatform.includes(code) ? platform : null,
    evidenceKey: evidenceKey ?? null,
    words: `${code}: ${detail}${appId === defaultAppId ? '' : ` (app ${appId})`}`,
  };
}

type Asked = { credential: CredentialName; platform: Platform; evidenceKey: string | undefined };

/** Finds the refusal that blocks a device. A credential that has changed since is tried again. Pure. */
export function findRefusal<One extends Refusal>(
  refusals: readonly One[],
  { credential: { provider, appId, version }, platform, evidenceKey }: Asked,
): One | undefined {
  return refusals.find(
    (refusal) =>
      refusal.provider === provider &&
      refusal.appId === appId &&
      refusal.version === version &&
      (refusal.platform === null || refusal.platform === platform) &&
      (refusal.evidenceKey === null || isOfKey(evidenceKey, refusal.evidenceKey)),
  );
}

type Run = {
  workspaceId: string;
  platforms: readonly Platform[];
  appIds: readonly string[] | undefined;
  refusals: readonly Refusal[];
};

/** True if a device of a run could still be reached: a credential that its devices may need is not refused. Pure. */
export function reachesOthers(
  { workspaceId, platforms, appIds, refusals }: Run,
  credentialsOf: CredentialsOfApps,
): boolean {
  return platforms.some((platform) => {
    const known = [
      defaultAppId,
      ...credentialsOf.apps.filter((app) => app.platform === platform).map((app) => app.appId),
    ];
    const apps = appIds ? known.filter((appId) => appIds.includes(appId)) : known;
    return providersOf[platform].some((provider) =>
      apps.some((appId) => {
        const found = credentialsOf.find({ platform, provider, appId: appId === defaultAppId ? null : appId });
        if (found?.credentials[provider] === undefined) return false;
        const { name, credentials } = found;
        // If one push service refuses, the others can still be reached.
        const key = evidenceKeyOf({
          workspaceId,
          name,
          credentials,
          device: { platform, provider },
          origin: undefined,
        });
        return !findRefusal(refusals, { credential: name, platform, evidenceKey: key?.text });
      }),
    );
  });
}

import { defaultAppId } from '../apps/app.ts';
import type { CredentialName, CredentialsOfApps } from '../apps/credentials-of-apps.ts';
import type { Platform } from '../campaigns/content.ts';
import { evidenceKeyOf, isOfKey } from './evidence.ts';
import { providersOf } from './provider-name.ts';

/** A credential that a provider refuses, for some or all of its devices. */
export type Refusal = CredentialName & {
  platform: Platform | null;
  /** The key of the devices that wait (evidence.ts); null where it is all that the credential serves. */
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

/** A refused credential, in the words of the provider. Pure. */
export function makeRefusal({ credential, platform, code, detail, evidenceKey }: Refused): ToldRefusal {
  const { appId } = credential;
  return {
    ...credential,
    // Firebase lacks the key of Apple or of browsers; its Android apps are reached.
    platform: code === 'THIRD_PARTY_AUTH_ERROR' ? platform : null,
    evidenceKey: evidenceKey ?? null,
    words: `${code}: ${detail}${appId === defaultAppId ? '' : ` (app ${appId})`}`,
  };
}

type Asked = { credential: CredentialName; platform: Platform; evidenceKey: string | undefined };

/** The refusal that stands in the way; a credential that has changed since is asked about again. Pure. */
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

/** Whether anybody of a run could still be reached: some credential that its devices may need is not refused. Pure. */
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
        // A push service that refuses leaves the other ones.
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

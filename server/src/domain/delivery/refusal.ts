import { defaultAppId } from '../apps/app.ts';
import type { CredentialName, CredentialsOfApps } from '../apps/credentials-of-apps.ts';
import type { Platform } from '../campaigns/content.ts';
import { providersOf } from './provider-name.ts';

/** What a provider refuses. `platform` is null where it is all that the credential serves. */
export type Refusal = CredentialName & { platform: Platform | null };

export type ToldRefusal = Refusal & { words: string };

type Refused = { credential: CredentialName; platform: Platform; code: string; detail: string };

/** A refused credential, in the words of the provider. Pure. */
export function makeRefusal({ credential, platform, code, detail }: Refused): ToldRefusal {
  const { appId } = credential;
  return {
    ...credential,
    // Firebase lacks the key of Apple or of browsers; its Android apps are reached.
    platform: code === 'THIRD_PARTY_AUTH_ERROR' ? platform : null,
    words: `${code}: ${detail}${appId === defaultAppId ? '' : ` (app ${appId})`}`,
  };
}

type Asked = { credential: CredentialName; platform: Platform };

/** The refusal that stands in the way; a credential that has changed since is asked about again. Pure. */
export function findRefusal<One extends Refusal>(
  refusals: readonly One[],
  { credential: { provider, appId, version }, platform }: Asked,
): One | undefined {
  return refusals.find(
    (refusal) =>
      refusal.provider === provider &&
      refusal.appId === appId &&
      refusal.version === version &&
      (refusal.platform === null || refusal.platform === platform),
  );
}

type Run = { platforms: readonly Platform[]; appIds: readonly string[] | undefined; refusals: readonly Refusal[] };

/** Whether anybody of a run could still be reached: some credential that its devices may need is not refused. Pure. */
export function reachesOthers({ platforms, appIds, refusals }: Run, credentialsOf: CredentialsOfApps): boolean {
  return platforms.some((platform) => {
    const known = [
      defaultAppId,
      ...credentialsOf.apps.filter((app) => app.platform === platform).map((app) => app.appId),
    ];
    const apps = appIds ? known.filter((appId) => appIds.includes(appId)) : known;
    return providersOf[platform].some((provider) =>
      apps.some((appId) => {
        const found = credentialsOf.find({ platform, provider, appId: appId === defaultAppId ? null : appId });
        return (
          found?.credentials[provider] !== undefined && !findRefusal(refusals, { credential: found.name, platform })
        );
      }),
    );
  });
}

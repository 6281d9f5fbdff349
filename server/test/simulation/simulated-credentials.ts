import type { Clock } from '../../src/clock.ts';
import type { ProviderCredentials, ProviderName } from '../../src/domain/delivery/providers.ts';
import type { Database } from '../../src/storage/database.ts';
import type { AccountTroubles } from './account-troubles.ts';
import type { WorldProvider } from './simulated-answers.ts';
import { readCredentialVersions, storeCredentials } from './simulated-store.ts';

type Options = {
  database: Database;
  clock: Clock;
  /** Names the accounts: other ones than the last seed's, which may have been asked to wait. */
  seed: number;
  world: { workspaceId: string; hasHms: boolean };
  troubles: AccountTroubles;
};

/** Stores the credentials of a workspace, and replaces one when a user corrects what was wrong with it. */
export async function makeStoredCredentials({ database, clock, seed, world, troubles }: Options) {
  const { workspaceId, hasHms } = world;
  const credentials = {
    fcm: { projectId: `p${seed}`, simulated: true },
    apns: { teamId: `t${seed}`, simulated: true },
    webpush: { publicKey: `k${seed}` },
    ...(hasHms ? { hms: { owner: { kind: 'app', id: `h${seed}` }, simulated: true } } : {}),
  } as unknown as ProviderCredentials;
  const providers = Object.keys(credentials) as WorldProvider[];
  const corrected = new Map<WorldProvider, number>();
  await storeCredentials(database, { workspaceId, providers, at: clock.now() });
  let versions = await readCredentialVersions(database, workspaceId);
  return {
    credentials,
    versionOf: (provider: ProviderName): string => versions.get(provider) ?? '',
    /** Stores what was corrected by now. @returns of which providers */
    async correct(): Promise<WorldProvider[]> {
      const due = providers.filter((name) => troubles.corrections(name) > (corrected.get(name) ?? 0));
      if (due.length === 0) return due;
      for (const name of due) corrected.set(name, troubles.corrections(name));
      await storeCredentials(database, { workspaceId, providers: due, at: clock.now() });
      versions = await readCredentialVersions(database, workspaceId);
      return due;
    },
  };
}

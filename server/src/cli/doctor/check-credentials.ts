import { askCredential, listConnected } from '../../app/credentials/manage-credentials.ts';
import type { Clock } from '../../clock.ts';
import { defaultAppId } from '../../domain/apps/app.ts';
import { adviseOnCheck } from '../../domain/credentials/credential-check.ts';
import { encryptionContext } from '../../domain/encryption-context.ts';
import type { Encryption } from '../../domain/encryption.ts';
import { makeAskProvider } from '../../engine/credentials/ask-provider.ts';
import type { ShareProviderToken } from '../../engine/delivery/apns/apns-provider-token.ts';
import type { OutgoingProxy } from '../../engine/outgoing-http/outgoing-proxy.ts';
import type { Logger } from '../../log.ts';
import type { Database } from '../../storage/database.ts';
import { listWorkspaces } from '../../storage/installation/overview.ts';
import { findProviderToken } from '../../storage/keys/provider-credentials.ts';
import { findProviderEndpoints } from '../find-provider-endpoints.ts';
import { diagnosing } from './diagnosis.ts';
import type { Diagnosis } from './diagnosis.ts';

const { good, attention, wrong } = diagnosing('credentials');
// Each provider of each may take seconds.
const maxWorkspaces = 20;

type Asked = {
  database: Database;
  clock: Clock;
  log: Logger;
  encryption: Encryption;
  proxy: OutgoingProxy | undefined;
  /** One workspace; undefined: the first twenty. */
  workspaceId: string | undefined;
};

/** Asks each provider about the stored credentials, as `carillon credentials check` does, and stores nothing of it. */
export async function checkCredentials(asked: Asked): Promise<Diagnosis[]> {
  const { database, clock, log, encryption, proxy, workspaceId } = asked;
  const endpoints = await findProviderEndpoints(database);
  const shareToken = makeReadProviderToken(asked);
  const ask = makeAskProvider({ clock, log, allowedNetworks: [], proxy, endpoints, shareToken });
  const all = (await listWorkspaces(database)).filter(({ id }) => workspaceId === undefined || id === workspaceId);
  const diagnoses: Diagnosis[] = [];
  for (const { id, name } of all.slice(0, maxWorkspaces)) {
    const told: string[] = [];
    for (const { provider, appId, connected } of await listConnected({ database }, id)) {
      if (connected.isSimulated && !endpoints.simulators) continue;
      const check = await askCredential({ database, encryption, ask }, { workspaceId: id, provider, appId });
      const named = appId === defaultAppId ? provider : `${provider} ${appId}`;
      const found = `${named} of ${name}: ${check.words.replace(/\.$/, '')}.`;
      const todo = adviseOnCheck({ ...check, provider });
      if (check.verdict === 'ACCEPTED') told.push(connected.isSimulated ? `${named} (simulated)` : named);
      else diagnoses.push(check.verdict === 'REFUSED' ? wrong(found, todo) : attention(found, todo));
    }
    if (told.length > 0) diagnoses.push(good(`${name}: ${told.join(', ')} accepted.`));
  }
  if (all.length > maxWorkspaces)
    diagnoses.push(
      attention(`Only ${maxWorkspaces} of ${all.length} workspaces were looked at.`, 'Name one with --workspace.'),
    );
  return diagnoses.length === 0 ? [good('None is stored.')] : diagnoses;
}

/**
 * The nodes' own token for Apple, which refuses a team that makes new ones too often. One that is made here is not stored.
 */
function makeReadProviderToken({ database, encryption }: Pick<Asked, 'database' | 'encryption'>): ShareProviderToken {
  return async ({ key, isUsable, make }) => {
    const stored = await findProviderToken(database, key);
    const kept = stored && {
      token: encryption.decrypt(stored.encrypted, encryptionContext.providerToken({ key })).toString('utf8'),
      issuedAt: stored.issuedAt,
    };
    return kept && isUsable(kept) ? kept : make();
  };
}

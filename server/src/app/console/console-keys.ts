import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Encryption } from '../../domain/encryption.ts';
import type { KeyKind } from '../../domain/tokens/key-kinds.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { archiveApiKey, findApiKey, listApiKeys } from '../../storage/keys/api-keys.ts';
import type { ApiKey } from '../../storage/keys/api-keys.ts';
import type { SignedIn } from '../accounts/account-dependencies.ts';
import { audit } from '../accounts/audit.ts';
import { createKey } from '../keys/create-key.ts';
import { makeKeyCurl } from '../keys/make-key-curl.ts';
import { rotateKey } from '../keys/rotate-key.ts';
import { requireWorkspace } from '../workspaces/require-workspace.ts';

type Call = { by: SignedIn; workspaceId: string; url: string };

/** A newly created key: its secret is shown only here. */
export type MadeKey = { key: ApiKey; secret: string; curl: string };

/** Keys as the console makes, shows, rotates and revokes them; each change with its line in the audit log. */
export function makeConsoleKeys(deps: {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  headerPrefix: string;
}) {
  const { database, clock, headerPrefix } = deps;

  return {
    /** Newest first. @throws ServiceError NOT_FOUND */
    async list(workspaceId: string): Promise<ApiKey[]> {
      await requireWorkspace(database, workspaceId);
      return listApiKeys(database, workspaceId);
    },

    /** @throws ServiceError NOT_FOUND, PARAMETER_INVALID */
    async create(command: Call & { kind: KeyKind; name: string; accessTokenMinutes?: number }): Promise<MadeKey> {
      const { by, workspaceId, url, ...settings } = command;
      const { dbName } = await requireWorkspace(database, workspaceId);
      const at = clock.now();
      return await inTransaction(database, async (tx) => {
        const { key, secret } = await createKey(deps, tx, { ...settings, workspaceId, at });
        const object = { id: key.id, name: key.name };
        await audit(tx, {
          actor: by,
          workspaceId,
          action: 'key.create',
          object,
          detail: { kind: key.kind },
          at: clock.realNow(),
        });
        return { key, secret, curl: makeKeyCurl({ kind: key.kind, workspaceId, dbName, url, secret, headerPrefix }) };
      });
    },

    /** @throws ServiceError NOT_FOUND, PARAMETER_INVALID */
    async rotate(command: Call & { id: string; overlapHours: number }): Promise<MadeKey & { endsAt: Date }> {
      const { by, workspaceId, url, id, overlapHours } = command;
      const { dbName } = await requireWorkspace(database, workspaceId);
      const at = clock.now();
      return inTransaction(database, async (tx) => {
        const { key, secret, endsAt } = await rotateKey(deps, tx, { workspaceId, keyId: id, overlapHours, at });
        const detail = { successor: key.id, endsAt: endsAt.toISOString() };
        await audit(tx, {
          actor: by,
          workspaceId,
          action: 'key.rotate',
          object: { id, name: key.name },
          detail,
          at: clock.realNow(),
        });
        const curl = makeKeyCurl({ kind: key.kind, workspaceId, dbName, url, secret, headerPrefix });
        return { key, secret, curl, endsAt };
      });
    },

    /** Permanent and immediate. Revoking twice changes nothing. @throws ServiceError NOT_FOUND */
    async revoke({ by, workspaceId, id }: Omit<Call, 'url'> & { id: string }): Promise<void> {
      const at = clock.now();
      await inTransaction(database, async (tx) => {
        const key = await findApiKey(tx, { workspaceId, id });
        if (!key) throw new ServiceError('NOT_FOUND');
        if (!(await archiveApiKey(tx, { workspaceId, id, at }))) return;
        await audit(tx, {
          actor: by,
          workspaceId,
          action: 'key.revoke',
          object: { id, name: key.name },
          at: clock.realNow(),
        });
      });
    },
  };
}

export type ConsoleKeys = ReturnType<typeof makeConsoleKeys>;

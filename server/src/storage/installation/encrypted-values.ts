import { encryptionContext } from '../../domain/crypto/encryption.ts';
import type { ProviderCredential } from '../../domain/delivery/providers.ts';
import type { Fragment, Queryable, Transaction, Value } from '../database.ts';

/**
 * Lists every column of values encrypted under the master key, with the key of its rows in primary key order and the
 * context of a row. A test compares the list with the catalogue.
 */
export const encryptedColumns: readonly EncryptedColumn[] = [
  ofInstallation('master_key_check', encryptionContext.masterKeyCheck),
  ofInstallation('demo_seed_sealed', encryptionContext.demoSeed),
  ofInstallation('interactions_secret_sealed', () => encryptionContext.installationSecret('interactions')),
  ofInstallation('simulator_secret_sealed', () => encryptionContext.installationSecret('simulator')),
  valuesOf<{ workspaceId: string }>({
    ...{ table: 'workspaces', column: 'webhook_secret_sealed', key: { workspaceId: 'id' } },
    contextOf: encryptionContext.webhookSecret,
  }),
  valuesOf<{ id: string; workspaceId: string }>({
    ...{ table: 'event_streams', column: 'secret_sealed', key: { id: 'id' }, besides: { workspaceId: 'workspace_id' } },
    contextOf: encryptionContext.eventStreamSecret,
  }),
  valuesOf<{ id: string; workspaceId: string }>({
    ...{ table: 'api_keys', column: 'secret_sealed', key: { id: 'id' }, besides: { workspaceId: 'workspace_id' } },
    contextOf: encryptionContext.pushKey,
  }),
  valuesOf<{ workspaceId: string; id: string }>({
    ...{ table: 'identity_keys', column: 'secret_sealed', key: { workspaceId: 'workspace_id', id: 'id' } },
    contextOf: encryptionContext.identityKey,
  }),
  valuesOf<{ workspaceId: string; provider: ProviderCredential['provider']; appId: string }>({
    ...{ table: 'provider_credentials', column: 'sealed' },
    key: { workspaceId: 'workspace_id', provider: 'provider', appId: 'app_id' },
    contextOf: encryptionContext.providerCredential,
  }),
  valuesOf<{ key: string }>({
    ...{ table: 'provider_tokens', column: 'sealed', key: { key: 'key' } },
    contextOf: encryptionContext.providerToken,
  }),
  valuesOf<{ number: number }>({
    ...{ table: 'token_secrets', column: 'secret_sealed', key: { number: 'number' } },
    contextOf: encryptionContext.tokenSecret,
  }),
  valuesOf<{ accountId: string }>({
    ...{ table: 'account_authenticators', column: 'secret_sealed', key: { accountId: 'account_id' } },
    contextOf: encryptionContext.authenticator,
  }),
  valuesOf<{ stateHash: Buffer }>({
    ...{ table: 'company_sign_ins', column: 'sealed', key: { stateHash: 'state_hash' } },
    contextOf: encryptionContext.companySignIn,
  }),
  valuesOf<{ workspaceId: string; operation: string; keyHash: Buffer }>({
    ...{ table: 'idempotency_keys', column: 'answer_sealed' },
    key: { workspaceId: 'workspace_id', operation: 'operation', keyHash: 'key_hash' },
    contextOf: encryptionContext.idempotentAnswer,
  }),
];

type RowNames = Record<string, Value>;

export type EncryptedColumn = {
  table: string;
  column: string;
  /** Columns of the primary key, by their names in the context. */
  key: Record<string, string>;
  besides?: Record<string, string>;
  contextOf(row: RowNames): string;
};

export type EncryptedValue = { context: string; encrypted: Buffer; key: readonly Value[] };

/** Counts the values of a column that are encrypted under other keys. Reads the whole table. */
export async function countUnderOtherKeys(
  tx: Queryable,
  { table, column }: EncryptedColumn,
  masterKeyId: string,
): Promise<number> {
  const [row] = await tx<{ values: number }[]>`
    select count(*)::int as values from ${tx(table)}
    where ${tx(column)} is not null and ${isUnderAnother(tx, { column, masterKeyId })}`;
  return row!.values;
}

/**
 * Locks the next values that are under another key, until the transaction ends. In primary key order, after `after`.
 * Skips rows locked by another transaction and leaves them for the next pass, so that no transaction waits for two
 * rows. The lock does not cover the row's own key, so rows that refer to it can be stored meanwhile. Index: primary
 * key.
 */
export async function lockUnderOtherKeys(
  tx: Transaction,
  encryptedColumn: EncryptedColumn,
  page: { masterKeyId: string; after: readonly Value[] | undefined; limit: number },
): Promise<EncryptedValue[]> {
  const { table, column, key, besides, contextOf } = encryptedColumn;
  const names = Object.entries({ ...key, ...besides });
  const selected = names.map(([name, from]) => tx`, ${tx(from)} as ${tx(name)}`);
  const rows = await tx<(RowNames & { encrypted: Buffer })[]>`
    select ${tx(column)} as encrypted ${selected} from ${tx(table)}
    where ${tx(column)} is not null and ${isUnderAnother(tx, { column, masterKeyId: page.masterKeyId })}
      ${page.after ? tx`and (${listKey(tx, key)}) > (${listValues(tx, page.after)})` : tx``}
    order by ${listKey(tx, key)} limit ${page.limit} for no key update skip locked`;
  return rows.map((row) => ({
    context: contextOf(row),
    encrypted: row.encrypted,
    key: Object.keys(key).map((name) => row[name]!),
  }));
}

/** Stores the re-encrypted form of a value that `lockUnderOtherKeys` locked. Index: primary key. */
export async function storeUnderNewKey(
  tx: Transaction,
  { table, column, key }: EncryptedColumn,
  value: Pick<EncryptedValue, 'encrypted' | 'key'>,
): Promise<void> {
  await tx`
    update ${tx(table)} set ${tx(column)} = ${value.encrypted}
    where (${listKey(tx, key)}) = (${listValues(tx, value.key)})`;
}

// The first byte is the version, the next four are the id of the key (`domain/crypto/encryption.ts`).
function isUnderAnother(tx: Queryable, { column, masterKeyId }: { column: string; masterKeyId: string }): Fragment {
  return tx`substring(${tx(column)} from 2 for 4) <> ${Buffer.from(masterKeyId, 'hex')}`;
}

function listKey(tx: Queryable, key: Record<string, string>): Fragment[] {
  return Object.values(key).map((column, index) => (index === 0 ? tx`${tx(column)}` : tx`, ${tx(column)}`));
}

function listValues(tx: Queryable, values: readonly Value[]): Fragment[] {
  return values.map((value, index) => (index === 0 ? tx`${value}` : tx`, ${value}`));
}

/** Checks the names of a column's key against the parameters of its context. */
function valuesOf<Row extends RowNames>(
  column: Omit<EncryptedColumn, 'contextOf' | 'key' | 'besides'> & {
    key: Partial<Record<keyof Row & string, string>>;
    besides?: Partial<Record<keyof Row & string, string>>;
    contextOf(row: Row): string;
  },
): EncryptedColumn {
  return column as EncryptedColumn;
}

function ofInstallation(column: string, contextOf: () => string): EncryptedColumn {
  return { table: 'installation', column, key: { onlyRow: 'only_row' }, contextOf };
}

import type { ExportUsersQuery } from '../../app/data/export-users.ts';
import type { MergeUsersCommand } from '../../app/data/merge-users.ts';
import { customerIdFault } from '../../domain/users/user-attributes.ts';
import { identityKindOf } from '../../domain/users/user-identity.ts';
import type { UserIdentity } from '../../domain/users/user-identity.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { DataBody } from './data-call.ts';
import { invalid, missing, readRecord, requireText } from './parse-data.ts';
import { maxExportedUsers, maxMergedUsers } from '../../domain/users/limits.ts';
import { isAbsent } from '../is-absent.ts';

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID, DATA_LIMIT_BREACHED */
export function parseExport(body: DataBody, prefixes: readonly string[]): Omit<ExportUsersQuery, 'workspaceId'> {
  if (!isAbsent(body.type) && body.type !== 'export_users') throw invalid('type', "must be 'export_users'");
  if (isAbsent(body.data)) throw missing('data');
  const data = readRecord(body.data, 'data');
  const identifiers = requireList(data, 'identifiers', maxExportedUsers).map((item, index) => {
    const at = `identifiers[${index}]`;
    const identifier = readRecord(item ?? null, at);
    return {
      kind: readKind(identifier, { field: 'identifier_type', at, prefixes }),
      value: requireText(identifier, 'identifier', { at }),
    };
  });
  return { identities: identifiers, fields: readFields(data.user_fields_to_export) };
}

function readFields(value: unknown): string[] | undefined {
  if (isAbsent(value)) return undefined;
  if (!Array.isArray(value) || value.some((field) => typeof field !== 'string'))
    throw invalid('user_fields_to_export', 'must be a list of texts');
  // An empty list asks for no selection, as an absent one does.
  return value.length === 0 ? undefined : (value as string[]);
}

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID, DATA_LIMIT_BREACHED */
export function parseMerge(body: DataBody): Omit<MergeUsersCommand, 'workspaceId' | 'at'> {
  const pairs = requireList(body, 'merge_data', maxMergedUsers).map((item, index) => {
    const at = `merge_data[${index}]`;
    const pair = readRecord(item ?? null, at);
    const [merged, retained] = (['merged_user', 'retained_user'] as const).map((field) => {
      const customerId = requireText(pair, field, { at });
      const fault = customerIdFault(customerId);
      if (fault !== undefined) throw invalid(`${at}.${field}`, fault);
      return customerId;
    }) as [string, string];
    if (merged === retained) throw invalid(`${at}.merged_user`, 'must be another user than retained_user');
    return { merged, retained };
  });
  return { pairs };
}

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID */
export function parseDelete(body: DataBody, prefixes: readonly string[]): { identity: UserIdentity } {
  const kind = readKind(body, { field: 'identity_type', prefixes });
  return { identity: { kind, value: requireText(body, 'identity_value') } };
}

type KindField = { field: string; at?: string; prefixes: readonly string[] };

export function readKind(body: DataBody, { field, at, prefixes }: KindField): UserIdentity['kind'] {
  const type = requireText(body, field, at === undefined ? {} : { at });
  const kind = identityKindOf(type, prefixes);
  if (kind) return kind;
  throw invalid(at === undefined ? field : `${at}.${field}`, "must be 'customer_id' or 'id'");
}

function requireList(body: DataBody, field: string, most: number): unknown[] {
  const value = body[field];
  if (isAbsent(value)) throw missing(field);
  if (!Array.isArray(value)) throw invalid(field, 'must be a list');
  if (value.length === 0) throw invalid(field, 'can not be an empty list');
  if (value.length > most) throw new ServiceError('DATA_LIMIT_BREACHED', { field, reason: String(most) });
  return value;
}

import { acceptDeletion, acceptDeviceBlock, acceptMerge } from '../../app/data.ts';
import type { BlockDevicesCommand } from '../../app/users/devices.ts';
import { exportUsers } from '../../app/users/users.ts';
import type { ExportUsersQuery, MergeUsersCommand } from '../../app/users/users.ts';
import { ServiceError } from '../../domain/errors.ts';
import {
  maxBlockedDevices,
  maxBlockReasonCharacters,
  maxPushIdCharacters,
  maxExportedUsers,
  maxMergedUsers,
} from '../../domain/limits/users.ts';
import { deviceNameKinds } from '../../domain/users/devices.ts';
import type { DeviceName } from '../../domain/users/devices.ts';
import { customerIdFault } from '../../domain/users/user-attributes.ts';
import { identityKindOf } from '../../domain/users/users.ts';
import type { UserIdentity } from '../../domain/users/users.ts';
import { isAbsent, isBlank } from '../route/json-body.ts';
import type { Body, Route } from '../route/route.ts';
import { presentAccepted, presentExport } from './answers.ts';
import { onceOf } from './call.ts';
import type { DataRouteDependencies, DeclareDataRoute } from './call.ts';
import { invalid, missing, readRecord, requireText } from './parse-data.ts';
import { blockBody, deleteBody, exportAnswer, exportBody, mergeAnswer, mergeBody } from './shapes.ts';

const workspaceIn = { query: 'app_id' };

/** Routes for existing users: export, merge, delete, and block devices (fact 5). */
export function usersRoutes(deps: DataRouteDependencies, dataRoute: DeclareDataRoute): Route[] {
  const { prefixes } = deps.vendorHeaders;
  return [
    dataRoute({
      operationId: 'blockDevices',
      url: '/v1/devices/manage',
      summary: "Block a user's devices, or unblock them",
      workspaceIn,
      body: blockBody,
      isRepeatable: true,
      operations: ['data-block'],
      read: ({ body }) => parseBlock(body, prefixes),
      async handle({ input, workspaceId, ...call }) {
        return presentAccepted(
          await acceptDeviceBlock(deps, { command: { ...input, workspaceId }, once: onceOf(call) }),
        );
      },
    }),
    dataRoute({
      operationId: 'exportCustomers',
      url: '/v1/customers/export',
      summary: 'Get users with their attributes, up to 20',
      workspaceIn,
      body: exportBody,
      answer: exportAnswer,
      isAnswerSecret: true,
      operations: ['data-export'],
      countUses: (body) => [
        { operation: 'data-export', wanted: lengthOf((body as { data?: Body } | null)?.data?.identifiers) },
      ],
      read: ({ body }) => parseExport(body, prefixes),
      async handle({ input, workspaceId }) {
        return presentExport(input, await exportUsers(deps, { ...input, workspaceId }));
      },
    }),
    dataRoute({
      operationId: 'mergeCustomers',
      url: '/v1/customer/merge',
      summary: 'Merge users into others, up to 50',
      workspaceIn,
      body: mergeBody,
      answer: mergeAnswer,
      isRepeatable: true,
      operations: ['data-merge'],
      countUses: (body) => [{ operation: 'data-merge', wanted: lengthOf((body as Body | null)?.merge_data) }],
      read: ({ body }) => parseMerge(body),
      async handle({ input, workspaceId, ...call }) {
        await acceptMerge(deps, { command: { ...input, workspaceId }, once: onceOf(call) });
        return { status: 'success', operation: 'created' };
      },
    }),
    dataRoute({
      operationId: 'deleteCustomer',
      url: '/v1/customer/delete',
      summary: 'Delete a user and all that is known of them',
      workspaceIn,
      body: deleteBody,
      isRepeatable: true,
      operations: ['data-delete'],
      read: ({ body }) => parseDelete(body, prefixes),
      async handle({ input, workspaceId, ...call }) {
        return presentAccepted(await acceptDeletion(deps, { command: { ...input, workspaceId }, once: onceOf(call) }));
      },
    }),
  ];
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID */
export function parseBlock(body: Body, prefixes: readonly string[]): Omit<BlockDevicesCommand, 'workspaceId' | 'at'> {
  const kind = readKind(body, { field: 'user_identifier_type', prefixes });
  const identity = { kind, value: requireText(body, 'user_identifier_value') };
  const action = requireText(body, 'action_type');
  if (action !== 'block' && action !== 'unblock') throw invalid('action_type', "must be 'block' or 'unblock'");
  return {
    identity,
    action,
    devices: readDevices(body.device_identifiers, prefixes),
    reason: readText(body, 'reason'),
    reference: readText(body, 'client_reference_id'),
  };
}

function readText(body: Body, field: string): string | null {
  const value = body[field];
  return isBlank(value) ? null : requireText(body, field, { longest: maxBlockReasonCharacters });
}

/** Returns undefined for all devices. Rejects an empty list, because it must not mean the opposite of what it says. */
function readDevices(value: unknown, prefixes: readonly string[]): DeviceName[] | undefined {
  if (isAbsent(value)) return undefined;
  if (!Array.isArray(value)) throw invalid('device_identifiers', 'must be a list');
  if (value.length === 0) throw invalid('device_identifiers', 'can not be an empty list');
  if (value.length > maxBlockedDevices)
    throw invalid('device_identifiers', `must have at most ${maxBlockedDevices} entries`);
  return value.flatMap((item, index) => readDevice(item, { at: `device_identifiers[${index}]`, prefixes }));
}

/**
 * Reads `{"push_id": "…"}`, or `{"identifier_type": "push_id", "identifier": "…"}` as an export names users
 * (docs/decisions/0010).
 */
function readDevice(item: unknown, { at, prefixes }: { at: string; prefixes: readonly string[] }): DeviceName[] {
  const device = readRecord(item ?? null, at);
  const kinds = deviceNameKinds(prefixes);
  if (!isAbsent(device.identifier_type)) {
    const type = requireText(device, 'identifier_type', { at });
    const kind = kinds.get(type);
    if (!kind) throw invalid(`${at}.identifier_type`, `must be one of ${[...kinds.keys()].join(', ')}`);
    return [{ kind, value: requireText(device, 'identifier', { at, longest: maxPushIdCharacters }) }];
  }
  const given = Object.keys(device).filter((name) => kinds.has(name));
  if (given.length === 0) throw missing(`${at}.${[...kinds.keys()][0]}`);
  return given.map((name) => ({
    kind: kinds.get(name)!,
    value: requireText(device, name, { at, longest: maxPushIdCharacters }),
  }));
}

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID, DATA_LIMIT_BREACHED */
export function parseExport(body: Body, prefixes: readonly string[]): Omit<ExportUsersQuery, 'workspaceId'> {
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
  // An empty list means no selection, like a missing one.
  return value.length === 0 ? undefined : (value as string[]);
}

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID, DATA_LIMIT_BREACHED */
export function parseMerge(body: Body): Omit<MergeUsersCommand, 'workspaceId' | 'at'> {
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
export function parseDelete(body: Body, prefixes: readonly string[]): { identity: UserIdentity } {
  const kind = readKind(body, { field: 'identity_type', prefixes });
  return { identity: { kind, value: requireText(body, 'identity_value') } };
}

type KindField = { field: string; at?: string; prefixes: readonly string[] };

function readKind(body: Body, { field, at, prefixes }: KindField): UserIdentity['kind'] {
  const type = requireText(body, field, at === undefined ? {} : { at });
  const kind = identityKindOf(type, prefixes);
  if (kind) return kind;
  throw invalid(at === undefined ? field : `${at}.${field}`, "must be 'customer_id' or 'id'");
}

function requireList(body: Body, field: string, most: number): unknown[] {
  const value = body[field];
  if (isAbsent(value)) throw missing(field);
  if (!Array.isArray(value)) throw invalid(field, 'must be a list');
  if (value.length === 0) throw invalid(field, 'can not be an empty list');
  if (value.length > most) throw new ServiceError('DATA_LIMIT_BREACHED', { field, reason: String(most) });
  return value;
}

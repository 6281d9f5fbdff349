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
import { identityKindOf } from '../../domain/users/users.ts';
import type { UserIdentity } from '../../domain/users/users.ts';
import {
  choice,
  list,
  literal,
  part,
  readWith,
  record,
  required,
  requiredId,
  requiredText,
  text,
} from '../../fields/combinators.ts';
import { reading, schemaOf } from '../../fields/field.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import type { Body, Route } from '../route/route.ts';
import { exportAnswer, mergeAnswer, presentAccepted, presentExport } from './answers.ts';
import { onceOf } from './call.ts';
import type { DataRouteDependencies, DeclareDataRoute } from './call.ts';
import { customerId, readData } from './parse-data.ts';

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
      summary: 'Delete a user and all data about the user',
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

const identityType = requiredText({ description: 'customer_id or id' });

/** Reads the kind of a user's identifier: `customer_id`, `id`, or the vendor's spelling of the latter. */
function readIdentityKind(
  part: RequestReader,
  { name, prefixes }: { name: string; prefixes: readonly string[] },
): UserIdentity['kind'] {
  const kind = identityKindOf(part.requiredText(name), prefixes);
  if (kind === undefined) part.invalid(name, "must be 'customer_id' or 'id'");
  return kind ?? 'id';
}

const actions = ['block', 'unblock'] as const;

const blockMembers = {
  user_identifier_type: identityType,
  user_identifier_value: requiredId(),
  action_type: readWith(required(choice(actions)), (body, name) => {
    body.requiredText(name);
    return choice(actions).read(body, name);
  }),
  device_identifiers: list(record(text()), {
    max: maxBlockedDevices,
    description: 'Absent: all devices. {"push_id": "…"}, or svc_gaid, unique_id, device_unique_id',
  }),
  reason: text({ maxLength: maxBlockReasonCharacters }),
  client_reference_id: text({ maxLength: maxBlockReasonCharacters }),
};

const blockBody = schemaOf(blockMembers, { title: 'DeviceBlockRequest' });

type Block = Omit<BlockDevicesCommand, 'workspaceId' | 'at'>;

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID */
function parseBlock(sent: Body, prefixes: readonly string[]): Block {
  return readData(sent, (body) => {
    const read = reading(body, blockMembers);
    const kind = readIdentityKind(body, { name: 'user_identifier_type', prefixes });
    return {
      identity: { kind, value: read('user_identifier_value') },
      action: read('action_type')!,
      devices: readDevices(body, prefixes),
      // Forms send an empty text for a field that was left empty.
      reason: read('reason') || null,
      reference: read('client_reference_id') || null,
    };
  });
}

/** Returns undefined for all devices. Rejects an empty list, because it must not mean the opposite of what it says. */
function readDevices(body: RequestReader, prefixes: readonly string[]): DeviceName[] | undefined {
  const name = 'device_identifiers';
  if (body.get(name) === undefined) return undefined;
  const items = body.items(name, maxBlockedDevices);
  if (items.names().length === 0) body.invalid(name, 'can not be an empty list');
  if (body.faults.length > 0) return [];
  return items.names().flatMap((index) => readDevice(items.part(index), prefixes));
}

/**
 * Reads `{"push_id": "…"}`, or `{"identifier_type": "push_id", "identifier": "…"}` as an export names users
 * (docs/decisions/0010).
 */
function readDevice(device: RequestReader, prefixes: readonly string[]): DeviceName[] {
  const kinds = deviceNameKinds(prefixes);
  if (!device.isAbsent('identifier_type')) {
    const kind = kinds.get(device.requiredText('identifier_type'));
    if (!kind) device.invalid('identifier_type', `must be one of ${[...kinds.keys()].join(', ')}`);
    const value = device.requiredId('identifier', maxPushIdCharacters);
    return kind ? [{ kind, value }] : [];
  }
  const given = device.names().filter((name) => kinds.has(name));
  if (given.length === 0) device.missing([...kinds.keys()][0]!);
  return given.map((name) => ({ kind: kinds.get(name)!, value: device.requiredId(name, maxPushIdCharacters) }));
}

/** Reads a list of at least one item. A longer one than `max` exceeds a documented limit, which is a separate error. */
function readLimited<Value>(
  part: RequestReader,
  { name, max }: { name: string; max: number },
  readItem: (item: RequestReader) => Value,
): Value[] {
  part.requires(name);
  const items = part.items(name, Infinity);
  const count = items.names().length;
  if (count === 0) part.invalid(name, 'can not be an empty list');
  const context = { field: part.pathOf(name), reason: String(max) };
  if (count > max) part.reject(new ServiceError('DATA_LIMIT_BREACHED', context));
  if (part.faults.length > 0) return [];
  return items.names().map((index) => readItem(items.part(index)));
}

const identifierMembers = { identifier_type: identityType, identifier: requiredId() };

const exportedMembers = {
  identifiers: required(list(part(identifierMembers), { minItems: 1, maxItems: maxExportedUsers })),
  user_fields_to_export: readWith(list(text(), { max: Infinity }), readFields),
};

const exportMembers = {
  type: literal('export_users'),
  data: required(part(exportedMembers)),
};

const exportBody = schemaOf(exportMembers, { title: 'ExportRequest' });

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID, DATA_LIMIT_BREACHED */
function parseExport(sent: Body, prefixes: readonly string[]): Omit<ExportUsersQuery, 'workspaceId'> {
  return readData(sent, (body) => {
    exportMembers.type.read(body, 'type');
    body.requires('data');
    // The faults of this family do not name `data`.
    const data = body.over(body.part('data').members);
    const identities = readLimited(data, { name: 'identifiers', max: maxExportedUsers }, (item) => {
      const kind = readIdentityKind(item, { name: 'identifier_type', prefixes });
      return { kind, value: reading(item, identifierMembers)('identifier') };
    });
    return { identities, fields: exportedMembers.user_fields_to_export.read(data, 'user_fields_to_export') };
  });
}

/** An empty list means no selection, like a missing one. */
function readFields(data: RequestReader, name: string): string[] | undefined {
  const sent = data.get(name);
  if (sent === undefined) return undefined;
  if (!Array.isArray(sent) || sent.some((field) => typeof field !== 'string')) {
    data.invalid(name, 'must be a list of texts');
    return undefined;
  }
  return sent.length === 0 ? undefined : (sent as string[]);
}

const pairMembers = {
  merged_user: customerId('Customer id of the user that is merged and removed'),
  retained_user: customerId('Customer id of the user that keeps everything'),
};

const mergeMembers = { merge_data: required(list(part(pairMembers), { minItems: 1, maxItems: maxMergedUsers })) };

const mergeBody = schemaOf(mergeMembers, { title: 'MergeRequest' });

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID, DATA_LIMIT_BREACHED */
function parseMerge(sent: Body): Omit<MergeUsersCommand, 'workspaceId' | 'at'> {
  return readData(sent, (body) => ({
    pairs: readLimited(body, { name: 'merge_data', max: maxMergedUsers }, (pair) => {
      const read = reading(pair, pairMembers);
      const [merged, retained] = [read('merged_user'), read('retained_user')];
      if (merged === retained) pair.invalid('merged_user', 'must be another user than retained_user');
      return { merged, retained };
    }),
  }));
}

const deleteMembers = { identity_type: identityType, identity_value: requiredId() };

const deleteBody = schemaOf(deleteMembers, { title: 'DeleteRequest' });

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID */
function parseDelete(sent: Body, prefixes: readonly string[]): { identity: UserIdentity } {
  return readData(sent, (body) => {
    const kind = readIdentityKind(body, { name: 'identity_type', prefixes });
    return { identity: { kind, value: reading(body, deleteMembers)('identity_value') } };
  });
}

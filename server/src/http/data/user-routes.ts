import { acceptDeletion, acceptDeviceBlock, acceptMerge } from '../../app/data/accept-data.ts';
import { exportUsers } from '../../app/data/export-users.ts';
import { onceOf } from './data-call.ts';
import type { DataBody } from './data-call.ts';
import type { DataRoute } from './data-route.ts';
import { parseBlock } from './parse-block.ts';
import { parseDelete, parseExport, parseMerge } from './parse-users.ts';
import { presentAccepted, presentExport } from './present.ts';
import { blockBody, deleteBody, exportAnswer, exportBody, mergeAnswer, mergeBody } from './shapes.ts';

const workspaceIn = { query: 'app_id' };

/** What is done with people who are there: exported, merged, deleted, their devices blocked (fact 5). */
export const usersRoutes: DataRoute[] = [
  {
    operationId: 'blockDevices',
    url: '/v1/devices/manage',
    isRepeatable: true,

    summary: "Block a user's devices, or unblock them",
    workspaceIn,
    shape: blockBody,
    operations: ['data-block'],
    async handle(deps, { request, body, workspaceId }) {
      const command = parseBlock(body, deps.vendorHeaders.prefixes);
      return presentAccepted(
        await acceptDeviceBlock(deps, { command: { ...command, workspaceId }, once: onceOf(request) }),
      );
    },
  },
  {
    operationId: 'exportCustomers',
    url: '/v1/customers/export',

    summary: 'Get users with their attributes, up to 20',
    workspaceIn,
    shape: exportBody,
    answer: exportAnswer,
    isAnswerSecret: true,
    operations: ['data-export'],
    countUses: (body) => [
      { operation: 'data-export', wanted: lengthOf((body as { data?: DataBody } | null)?.data?.identifiers) },
    ],
    async handle(deps, { body, workspaceId }) {
      const query = parseExport(body, deps.vendorHeaders.prefixes);
      return presentExport(query, await exportUsers(deps, { ...query, workspaceId }));
    },
  },
  {
    operationId: 'mergeCustomers',
    url: '/v1/customer/merge',
    isRepeatable: true,

    summary: 'Merge users into others, up to 50',
    workspaceIn,
    shape: mergeBody,
    answer: mergeAnswer,
    operations: ['data-merge'],
    countUses: (body) => [{ operation: 'data-merge', wanted: lengthOf((body as DataBody | null)?.merge_data) }],
    async handle(deps, { request, body, workspaceId }) {
      await acceptMerge(deps, { command: { ...parseMerge(body), workspaceId }, once: onceOf(request) });
      return { status: 'success', operation: 'created' };
    },
  },
  {
    operationId: 'deleteCustomer',
    url: '/v1/customer/delete',
    isRepeatable: true,

    summary: 'Delete a user and all that is known of them',
    workspaceIn,
    shape: deleteBody,
    operations: ['data-delete'],
    async handle(deps, { request, body, workspaceId }) {
      const command = parseDelete(body, deps.vendorHeaders.prefixes);
      return presentAccepted(
        await acceptDeletion(deps, { command: { ...command, workspaceId }, once: onceOf(request) }),
      );
    },
  },
];

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

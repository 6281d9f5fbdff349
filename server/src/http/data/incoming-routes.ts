import { acceptBulk, acceptDevice, acceptEvents, acceptUser } from '../../app/data/accept-data.ts';
import type { ElementFault } from '../../app/data/take-bulk.ts';
import { onceOf } from './data-call.ts';
import type { DataRoute } from './data-route.ts';
import { parseCustomer, parseDevice } from './parse-data.ts';
import { countActions, parseEvents } from './parse-event.ts';
import { countElements, parseTransition } from './parse-transition.ts';
import { describeElementFault, presentAccepted } from './present.ts';
import { customerBody, deviceBody, eventBody, transitionBody } from './shapes.ts';
import { maxBatchBodyBytes } from '../../domain/users/limits.ts';

// Of the faults of a bulk request; the log's detail is read by people.
const maxFaultsKept = 20;

/**
 * Users, devices and events in (fact 5).
 *
 * @param prefixes spellings of the vendor's abbreviation, lower-case
 */
export function incomingRoutes(prefixes: readonly string[]): DataRoute[] {
  return [
    {
      operationId: 'upsertCustomer',
      url: '/v1/customer/:app_id',
      isRepeatable: true,

      summary: 'Create or update a user',
      workspaceIn: { path: 'app_id' },
      shape: customerBody,
      operations: ['data-customer'],
      async handle(deps, { request, body, workspaceId }) {
        return presentAccepted(
          await acceptUser(deps, { command: { ...parseCustomer(body, prefixes), workspaceId }, once: onceOf(request) }),
        );
      },
    },
    {
      operationId: 'upsertDevice',
      url: '/v1/device/:app_id',
      isRepeatable: true,

      summary: 'Create or update a device of a user',
      workspaceIn: { path: 'app_id' },
      shape: deviceBody(prefixes),
      operations: ['data-device'],
      async handle(deps, { request, body, workspaceId }) {
        return presentAccepted(
          await acceptDevice(deps, { command: { ...parseDevice(body, prefixes), workspaceId }, once: onceOf(request) }),
        );
      },
    },
    {
      operationId: 'trackEvents',
      url: '/v1/event/:workspace_id',
      isRepeatable: true,

      summary: 'Track what a user did',
      workspaceIn: { path: 'workspace_id' },
      shape: eventBody,
      operations: ['data-event'],
      countUses: (body) => [{ operation: 'data-event', wanted: countActions(body) }],
      async handle(deps, { request, body, workspaceId }) {
        return presentAccepted(
          await acceptEvents(deps, { command: { ...parseEvents(body, prefixes), workspaceId }, once: onceOf(request) }),
        );
      },
    },
    {
      operationId: 'importInBulk',
      url: '/v1/transition/:workspace_id',
      isRepeatable: true,

      summary: 'Users, devices and events in bulk',
      workspaceIn: { path: 'workspace_id' },
      shape: transitionBody(prefixes),
      maxBodyBytes: maxBatchBodyBytes,
      operations: ['data-bulk-users', 'data-bulk-events'],
      countUses: countElements,
      async handle(deps, { request, body, workspaceId }) {
        const { elements, faults } = parseTransition(body, prefixes);
        const answer = await acceptBulk(deps, { command: { elements, workspaceId }, once: onceOf(request) });
        // Fact 5: the caller is not told; who reads the API log is.
        const all = [...faults, ...answer.faults].sort((a, b) => a.index - b.index);
        if (all.length > 0) request.facts.errorDetail = describeFaults(all);
        return presentAccepted(answer);
      },
    },
  ];
}

function describeFaults(faults: ElementFault[]): string {
  const told = faults
    .slice(0, maxFaultsKept)
    .map(({ index, error }) => `elements[${index}]: ${describeElementFault(error)}`);
  const others = faults.length - told.length;
  return `${faults.length} elements refused. ${told.join('; ')}${others > 0 ? `; and ${others} more` : ''}`;
}

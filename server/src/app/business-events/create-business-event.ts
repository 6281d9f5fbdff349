import { maxBusinessEvents } from '../../domain/business-events/limits.ts';
import type { BusinessAttribute } from '../../domain/business-events/business-event.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import {
  countBusinessEvents,
  insertBusinessEvent,
  lockBusinessEvents,
} from '../../storage/campaigns/business-events.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import type { AuthoringCaller, AuthoringDependencies } from '../campaigns/authoring-dependencies.ts';

export type BusinessEventDependencies = Omit<AuthoringDependencies, 'limits'>;

export type BusinessEventCommand = AuthoringCaller & {
  name: string;
  attributes: BusinessAttribute[];
  createdBy: string;
};

/** @throws ServiceError BUSINESS_EVENT_NAME_TAKEN, BUSINESS_EVENT_LIMITED */
export async function createBusinessEvent(
  deps: BusinessEventDependencies,
  command: BusinessEventCommand,
): Promise<{ id: string }> {
  const { workspaceId, name, attributes, createdBy, idempotencyKey: key, rawBody } = command;
  const at = deps.clock.now();
  return answerOnce(deps, { workspaceId, operation: 'business-event', key, rawBody, at }, async (tx) => {
    await lockBusinessEvents(tx, workspaceId);
    const count = await countBusinessEvents(tx, workspaceId);
    const id = makeId(at);
    const isNew = await insertBusinessEvent(tx, { id, workspaceId, name, attributes, createdBy, createdAt: at });
    if (!isNew) throw new ServiceError('BUSINESS_EVENT_NAME_TAKEN', { field: 'event_name' });
    if (count >= maxBusinessEvents) throw new ServiceError('BUSINESS_EVENT_LIMITED');
    return { id };
  });
}

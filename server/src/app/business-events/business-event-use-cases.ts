import type { Clock } from '../../clock.ts';
import type { Encryption } from '../../domain/encryption.ts';
import type { Database } from '../../storage/pool.ts';
import { listBusinessEvents } from '../../storage/campaigns/business-events.ts';
import type { BusinessEvent, BusinessEventPage } from '../../storage/campaigns/business-events.ts';
import { findWorkspace } from '../../storage/installation/workspaces.ts';
import { createBusinessEvent } from './create-business-event.ts';
import type { BusinessEventCommand } from './create-business-event.ts';
import { triggerBusinessEvent } from './trigger-business-event.ts';
import type { TriggerCommand } from './trigger-business-event.ts';

export type { BusinessEvent };

/** The business event use cases with their dependencies bound. */
export function makeBusinessEventUseCases(deps: { database: Database; clock: Clock; encryption: Encryption }) {
  const { database } = deps;
  return {
    create: (command: BusinessEventCommand) => createBusinessEvent(deps, command),
    trigger: (command: TriggerCommand) => triggerBusinessEvent(deps, command),
    list: (page: BusinessEventPage) => listBusinessEvents(database, page),
    /** V1 says it beside each event. */
    dbNameOf: async (workspaceId: string): Promise<string> => (await findWorkspace(database, workspaceId))!.dbName,
  };
}

export type BusinessEventUseCases = ReturnType<typeof makeBusinessEventUseCases>;

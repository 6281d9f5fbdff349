import { makeReadSegments } from '../app/segments/read-segments.ts';
import { documentedSegmentLimits } from '../app/segments/segment-dependencies.ts';
import type { CommandContext } from './command-context.ts';
import { ensureWebhookSecret } from '../engine/callbacks/webhook-secret.ts';
import type { Queryable } from '../storage/database.ts';

/** The segment use cases over the database of a command. */
export function composeSegments({ database, clock, encryption, segmentUsersPerDay }: CommandContext) {
  const dependencies = {
    database,
    clock,
    encryption,
    limits: { ...documentedSegmentLimits, usersPerDay: segmentUsersPerDay },
  };
  const webhookSecretOf = (tx: Queryable, workspaceId: string): Promise<string> =>
    ensureWebhookSecret({ database: tx, encryption }, workspaceId);
  return { dependencies, read: makeReadSegments({ ...dependencies, webhookSecretOf }) };
}

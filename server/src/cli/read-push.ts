import { admitOperatorPush } from '../app/push/admit-operator-push.ts';
import type { PushOfWorkspace } from '../app/push/admit-push.ts';
import { ServiceError } from '../domain/errors.ts';
import type { PushCommand } from '../domain/push/push-command.ts';
import { parsePush } from '../http/push/parse-push.ts';
import { presentContentWarnings } from '../http/push/present-content-warnings.ts';
import { pushBodyV21 } from '../http/push/shapes.ts';
import { findUnknownFields } from '../http/unknown-fields.ts';
import type { CommandContext } from './command-context.ts';

/** A push that the API would take, and what it would warn of. */
export type ReadPush = { admitted: PushOfWorkspace; command: PushCommand; warnings: string[] };

type Reading = { body: Record<string, unknown>; workspaceId: string; purpose: 'send' | 'look' };

/** As the push API reads it, with its refusals in its order (decision D31). @throws ServiceError */
export async function readPush(
  { database, clock, prefixes }: CommandContext,
  { body, workspaceId, purpose }: Reading,
): Promise<ReadPush> {
  if (body.requestType !== undefined && body.requestType !== 'push')
    throw new ServiceError('PUSH_REQUEST_TYPE_INVALID');
  const named = workspaceOf(body);
  if (named !== undefined && named !== workspaceId) throw new ServiceError('PUSH_APP_ID_INVALID');
  const { campaignName, targetAudience: audience } = body;
  const name = typeof campaignName === 'string' ? campaignName : undefined;
  const by = 'Command line';
  const admitted = await admitOperatorPush(
    { database, clock },
    { workspaceId, campaignName: name, audience, by, purpose },
  );
  const command = parsePush(body, { admitted, now: clock.now(), queryType: undefined, prefixes });
  const warnings = [
    ...(body.signature === undefined ? [] : ['signature is not needed here and was not checked']),
    ...findUnknownFields(pushBodyV21, body).map((path) => `unknown field ${path}`),
    ...command.warnings,
    ...presentContentWarnings(command, { payload: admitted.workspace.androidPayload, apps: admitted.apps }),
  ];
  return { admitted, command, warnings };
}

/** A body of v2 names its workspace. */
export function workspaceOf({ appId }: Record<string, unknown>): string | undefined {
  return typeof appId === 'string' && appId !== '' ? appId : undefined;
}

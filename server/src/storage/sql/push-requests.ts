import type { Queryable } from '../pool.ts';

export type PushRequest = {
  responseId: string;
  workspaceId: string;
  requestId: string;
  campaignId: string;
  /** Null: the campaign is sent later. */
  runId: string | null;
  receivedAt: Date;
};

/** Records what was promised to callers, in one statement. */
export async function insertPushRequests(tx: Queryable, requests: PushRequest[]): Promise<void> {
  if (requests.length === 0) return;
  const rows = requests.map((request) => ({
    response_id: request.responseId,
    workspace_id: request.workspaceId,
    request_id: request.requestId,
    campaign_id: request.campaignId,
    run_id: request.runId,
    received_at: request.receivedAt,
  }));
  await tx`insert into push_requests ${tx(rows as never)}`;
}

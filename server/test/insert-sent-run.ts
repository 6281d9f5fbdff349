import type { Database } from '../src/storage/database.ts';

/** A run that is over, with a campaign of its own id. */
export async function insertSentRun(
  database: Database,
  { workspaceId, id, at }: { workspaceId: string; id: string; at: Date },
): Promise<void> {
  await database`
    insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
      created_by, created_at, updated_at)
    values (${id}, ${workspaceId}, ${`Campaign ${id}`}, 'PUSH_API', 'ONE_TIME', 'ALL_USERS', '{ANDROID}',
      '{"ANDROID": {"title": "Hello"}}', '{}', 'SENT', 'test', ${at}, ${at})`;
  await database`
    insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at, started_at, ended_at)
    values (${id}, ${workspaceId}, ${id}, 1, 'SENT', ${at}, ${at}, ${at}, ${at}, ${at})`;
}

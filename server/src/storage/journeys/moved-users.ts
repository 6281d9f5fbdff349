import { utcDay } from '../runs/runs.ts';
import type { Queryable } from '../database.ts';

type AtStep = { workspaceId: string; journeyId: string; step: string };

export type StepRule = AtStep & {
  to: string;
  version: number;
  /** Steps that a person may pass from there. People who passed one of them already cannot be moved. */
  ahead: readonly string[];
  at: Date;
};

/**
 * Moves the users at a step to a step of another version, where they are due at once. Users who passed that step or a later one stay,
 * because a step is passed once in an entry. Indexes: journey_positions_step, primary key of journey_passages.
 */
export async function moveUsersAtStep(tx: Queryable, rule: StepRule): Promise<void> {
  const { workspaceId, journeyId, step, to, version, ahead, at } = rule;
  await tx`
    update journey_positions as positions
    set step = ${to}, version = ${version}, arrived_at = ${at}, due_at = ${at}, planned_at = null,
      event_at = null, attempts = 0
    where workspace_id = ${workspaceId} and journey_id = ${journeyId} and step = ${step} and ended_at is null
      and not exists (
        select 1 from journey_passages as passages
        where passages.workspace_id = positions.workspace_id and passages.bucket = positions.bucket
          and passages.user_id = positions.user_id and passages.journey_id = positions.journey_id
          and passages.entry_id = positions.entry_id and passages.step = any(${[...ahead]})
      )`;
}

/** Ends the entries of the users at a step, and counts them. Index: journey_positions_step. */
export async function endUsersAtStep(tx: Queryable, { at, ...of }: AtStep & { at: Date }): Promise<void> {
  const { workspaceId, journeyId, step } = of;
  await tx`
    with ended as (
      update journey_positions set ended_at = ${at}, end_reason = 'STEP_REMOVED', due_at = null, planned_at = null
      where workspace_id = ${workspaceId} and journey_id = ${journeyId} and step = ${step} and ended_at is null
      returning version
    )
    insert into journey_figures (workspace_id, journey_id, version, step, edge, day, slot, entries)
    select ${workspaceId}, ${journeyId}, version, '', 'STEP_REMOVED', ${utcDay(at)}::date, 0, count(*)
    from ended group by version
    on conflict (workspace_id, journey_id, version, step, edge, day, slot) do update
      set entries = journey_figures.entries + excluded.entries`;
}

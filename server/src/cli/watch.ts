import { StartError } from '../start/start-errors.ts';
import { findCampaignSummary } from '../storage/campaigns/campaigns.ts';
import type { CampaignSummary } from '../storage/campaigns/campaigns.ts';
import type { Database } from '../storage/database.ts';
import { listCampaignRuns } from '../storage/runs/campaign-runs.ts';
import { findWorkspaceToUse } from './command-context.ts';
import type { CommandContext } from './command-context.ts';
import { toPlainLine, printJsonLine } from './print-table.ts';

const lookMilliseconds = 500;
/** A user who wants to wait longer runs the command again. */
const maxWatchMilliseconds = 3_600_000;

/**
 * Polls until the watched object reaches its end, and prints changes on standard error.
 *
 * @throws StartError SETTING_INVALID after an hour
 */
export async function watchUntil<Found>(
  look: () => Promise<Found>,
  { describe, isOver }: { describe: (found: Found) => string; isOver: (found: Found) => boolean },
): Promise<Found> {
  const deadline = performance.now() + maxWatchMilliseconds;
  let said: string | undefined;
  for (;;) {
    const found = await look();
    const line = toPlainLine(describe(found));
    if (line !== said) process.stderr.write(`${line}\n`);
    said = line;
    if (isOver(found)) return found;
    if (performance.now() > deadline)
      throw new StartError('SETTING_INVALID', `Stopped watching after an hour. The last state was: ${line}.`);
    await new Promise((resolve) => setTimeout(resolve, lookMilliseconds));
  }
}

/** Campaigns in these states send, or will. A paused one waits for a user, who may be waiting for this command. */
const live = new Set(['SCHEDULED', 'SENDING', 'ACTIVE']);

/**
 * `carillon campaigns watch`: watches until the campaign stops sending or is paused.
 *
 * @throws StartError SETTING_INVALID, also when it failed
 */
export async function watchCampaign(
  { database }: Pick<CommandContext, 'database'>,
  { id, workspace, json }: { id: string; workspace?: string; json?: true },
): Promise<void> {
  const workspaceId = await findWorkspaceToUse(database, workspace);
  const campaign = await followCampaign(database, { workspaceId, id });
  const { status, statusReason } = campaign;
  const reason = statusReason === null ? '' : `: ${toPlainLine(statusReason)}`;
  if (json) printJsonLine({ id: campaign.id, status, statusReason });
  else process.stdout.write(`Campaign   ${campaign.id}\nStatus     ${status}${reason}\n`);
  if (status === 'FAILED') throw new StartError('SETTING_INVALID', `The campaign failed${reason}`);
}

/** Prints a campaign's progress on standard error until it stops sending or is paused. @throws StartError SETTING_INVALID */
export async function followCampaign(
  database: Database,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<CampaignSummary> {
  async function look() {
    const campaign = await findCampaignSummary(database, { workspaceId, id });
    if (!campaign)
      throw new StartError('SETTING_INVALID', `There is no campaign ${toPlainLine(id)} in this workspace.`);
    const [run] = await listCampaignRuns(database, { campaignId: campaign.id, limit: 1 });
    return { campaign, run };
  }
  const { campaign } = await watchUntil(look, {
    describe: ({ campaign: { status, nextAt }, run }) =>
      [
        status,
        ...(run ? [`run ${run.id} ${run.status}`] : []),
        ...(nextAt && live.has(status) ? [`next ${nextAt.toISOString()}`] : []),
      ].join(', '),
    isOver: ({ campaign: { status } }) => !live.has(status),
  });
  return campaign;
}

import type { Command } from 'commander';
import { changeCampaignState } from '../app/campaigns/change-campaign-state.ts';
import type { CampaignAction } from '../domain/campaigns/campaign-states.ts';
import { nextOccurrences } from '../domain/timing/next-occurrences.ts';
import { fromStoredTiming } from '../domain/timing/stored-timing.ts';
import { StartError } from '../start/start-errors.ts';
import { findCampaignRecord, listCampaignRecords } from '../storage/campaigns/campaigns.ts';
import type { CampaignRecord } from '../storage/campaigns/campaigns.ts';
import { listCampaignRuns } from '../storage/runs/campaign-runs.ts';
import type { CampaignRun } from '../storage/runs/campaign-runs.ts';
import { withInstallation } from './command-context.ts';
import type { CommandContext } from './command-context.ts';
import { jsonLineOption, jsonOption, workspaceOption } from './command-options.ts';
import { findWorkspaceToUse } from './find-workspace-to-use.ts';
import { printJsonLine, printTable, takeNewest, toPlainLine } from './print-table.ts';
import { registerCampaignSearch } from './search-campaigns-command.ts';
import { registerWinner } from './winner-command.ts';
import { watchCampaign } from './watch-campaign.ts';
import { unknownCase } from '../domain/unknown-case.ts';

/** `carillon campaigns`: lists and searches campaigns, shows one, and pauses, resumes or stops it, and names its winner. */
export function registerCampaigns(program: Command): void {
  const campaigns = program.command('campaigns').description('Campaigns and their schedules');
  campaigns
    .command('list')
    .description('List the newest campaigns')
    .option(...jsonOption)
    .option(...workspaceOption)
    .action((options: { workspace?: string; json?: true }) =>
      withInstallation(program, (context) => campaignsCommand.list(context, options)),
    );
  registerCampaignSearch(program, campaigns);
  registerWinner(program, campaigns);
  for (const [name, description] of [
    ['show', 'Show a campaign, its next moments and its last runs'],
    ['pause', 'Pause a campaign: it sends nothing until it is resumed'],
    ['resume', 'Resume a paused campaign with its next moment, or with the run it was sending'],
    ['stop', 'Stop a campaign for good: what is not sent yet is not sent any more'],
    ['watch', 'Tell what a campaign does until it sends nothing any more or is paused, for an hour at most'],
  ] as const) {
    campaigns
      .command(name)
      .description(description)
      .argument('<id>')
      .option(...jsonLineOption)
      .option(...workspaceOption)
      .action((id: string, options: { workspace?: string; json?: true }) =>
        withInstallation(program, (context) => campaignsCommand[name](context, { id, ...options })),
      );
  }
}

export type CampaignOptions = { id: string; workspace?: string; json?: true };

type ChangeContext = Pick<CommandContext, 'database' | 'clock'>;

/** What the commands of this family do. */
export const campaignsCommand = {
  list: listCampaigns,
  show: showCampaign,
  watch: watchCampaign,
  pause: (context: ChangeContext, options: CampaignOptions) => changeCampaign(context, { ...options, action: 'pause' }),
  resume: (context: ChangeContext, options: CampaignOptions) =>
    changeCampaign(context, { ...options, action: 'resume' }),
  stop: (context: ChangeContext, options: CampaignOptions) => changeCampaign(context, { ...options, action: 'stop' }),
};

const maxCampaignsShown = 50;
const maxRunsShown = 20;
const occurrencesShown = 3;

async function listCampaigns({ database }: ChangeContext, options: { workspace?: string; json?: true }): Promise<void> {
  const workspaceId = await findWorkspaceToUse(database, options.workspace);
  const found = await listCampaignRecords(database, { workspaceId, limit: maxCampaignsShown + 1 });
  const more = 'are listed; carillon campaigns search pages through all of them.';
  const campaigns = takeNewest(found, { max: maxCampaignsShown, more });
  printTable(
    ['ID', 'STATUS', 'TYPE', 'NEXT', 'NAME'],
    campaigns.map((campaign) => [
      campaign.id,
      campaign.status,
      campaign.deliveryType,
      shown(nextAtOf(campaign)),
      campaign.name,
    ]),
    options,
  );
}

async function showCampaign({ database, clock }: ChangeContext, options: CampaignOptions): Promise<void> {
  const workspaceId = await findWorkspaceToUse(database, options.workspace);
  const campaign = await findCampaignRecord(database, { workspaceId, id: options.id });
  if (!campaign) throw noCampaign(options.id);
  const next = followingOccurrences(campaign, clock.now());
  const found = await listCampaignRuns(database, { campaignId: campaign.id, limit: maxRunsShown + 1 });
  const runs = takeNewest(found, { max: maxRunsShown, more: 'of its runs are shown; the console has all of them.' });
  if (options.json) {
    const { id, name, deliveryType, audience, status, statusReason, createdAt, createdBy } = campaign;
    return printJsonLine({ id, name, deliveryType, audience, status, statusReason, createdAt, createdBy, next, runs });
  }
  const facts: [string, string][] = [
    ['Campaign', campaign.name],
    ['Id', campaign.id],
    ['Type', campaign.deliveryType],
    ['Audience', campaign.audience],
    ['Status', campaign.statusReason === null ? campaign.status : `${campaign.status}: ${campaign.statusReason}`],
    ['Created', `${campaign.createdAt.toISOString()} by ${campaign.createdBy}`],
    ['Next', next.map(shown).join(', ') || '–'],
  ];
  for (const [title, value] of facts) process.stdout.write(`${title.padEnd(10)}${toPlainLine(value)}\n`);
  if (runs.length === 0) return;
  process.stdout.write('\n');
  printTable(
    ['RUN', 'STATUS', 'DUE', 'MADE', 'ENDED', 'REASON'],
    runs.map((run) => [
      run.id,
      run.status,
      shown(run.dueAt),
      shown(run.createdAt),
      shown(run.endedAt),
      run.statusReason ?? lateness(run),
    ]),
  );
}

async function changeCampaign(
  { database, clock }: ChangeContext,
  { id, workspace, json, action }: CampaignOptions & { action: CampaignAction },
): Promise<void> {
  const workspaceId = await findWorkspaceToUse(database, workspace);
  const change = { workspaceId, campaignId: id, action, by: 'the command line' };
  const changed = await changeCampaignState({ database, clock }, change);
  switch (changed.kind) {
    case 'changed':
      if (json) return printJsonLine({ id, status: changed.status });
      process.stdout.write(`Campaign  ${id}\nStatus    ${changed.status}\n`);
      return;
    case 'not-found':
      throw noCampaign(id);
    case 'not-allowed':
      throw new StartError('SETTING_INVALID', `A campaign that is ${changed.status} takes no ${action}.`);
    default:
      return unknownCase(changed);
  }
}

function noCampaign(id: string): StartError {
  return new StartError('SETTING_INVALID', `There is no campaign ${toPlainLine(id)} in this workspace.`);
}

/** The next occurrence of a campaign; a paused recurring one gets its next when resumed. */
function nextAtOf(campaign: CampaignRecord): Date | null {
  return campaign.status === 'PAUSED' && campaign.deliveryType !== 'ONE_TIME' ? null : campaign.nextAt;
}

function followingOccurrences(campaign: CampaignRecord, now: Date): Date[] {
  const nextAt = nextAtOf(campaign);
  if (!nextAt) return [];
  const after = nextAt > now ? nextAt : now;
  return [nextAt, ...nextOccurrences(fromStoredTiming(campaign.timing), { after, count: occurrencesShown - 1 })];
}

function shown(at: Date | null): string {
  return at?.toISOString() ?? '–';
}

/** A late occurrence says how late, rounded down to minutes (fault F14). */
function lateness({ dueAt, startedAt, createdAt }: CampaignRun): string {
  if (!dueAt) return '';
  const firedAt = dueAt > createdAt ? (startedAt ?? dueAt) : createdAt;
  const minutes = Math.floor((firedAt.getTime() - dueAt.getTime()) / 60_000);
  return minutes < 1 ? '' : `${minutes} minutes late`;
}

import { Option } from 'commander';
import type { Command } from 'commander';
import { changeCampaignState } from '../../app/campaigns/change-campaign-state.ts';
import { makeCampaignTotals, readSearchSettings, searchCampaigns } from '../../app/campaigns/search-campaigns.ts';
import type { CampaignRecord } from '../../app/campaigns/search-campaigns.ts';
import { nameWinner, readWinner } from '../../app/campaigns/winner.ts';
import type { WinnerChoice, CampaignWinner } from '../../app/campaigns/winner.ts';
import { campaignChannels, campaignDeliveryTypes, campaignStatuses } from '../../domain/campaigns/campaign.ts';
import type { CampaignAction } from '../../domain/campaigns/campaign.ts';
import { learningMeasures, variationName } from '../../domain/experiments/variants.ts';
import type { LearningMeasure } from '../../domain/experiments/variants.ts';
import { maxCampaignsPerPage, maxVariations } from '../../domain/limits/campaigns.ts';
import { nextOccurrences } from '../../domain/timing/occurrences.ts';
import { fromStoredTiming } from '../../domain/timing/timing.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { presentWinner } from '../../http/campaigns/present-winner.ts';
import { parseSearch } from '../../http/campaigns/search.ts';
import { presentV5Campaign } from '../../http/campaigns/v5-answers.ts';
import { StartError } from '../../start/start-errors.ts';
import { findCampaignSummary, listCampaignSummaries } from '../../storage/campaigns/campaigns.ts';
import type { CampaignSummary } from '../../storage/campaigns/campaigns.ts';
import { listCampaignRuns } from '../../storage/runs/campaign-runs.ts';
import type { CampaignRun } from '../../storage/runs/campaign-runs.ts';
import { commandLine, withInstallation, findWorkspaceToUse } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonLineOption, jsonOption, workspaceOption, parseCount } from '../command-options.ts';
import { printJsonLine, printTable, takeNewest, toPlainLine, nothing } from '../print-table.ts';
import { watchCampaign } from '../watch.ts';

/** `carillon campaigns`: lists, searches and shows campaigns, pauses, resumes or stops one, and chooses its winner. */
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
    ['show', 'Show a campaign, its next occurrences and its last runs'],
    ['pause', 'Pause a campaign: it sends nothing until it is resumed'],
    ['resume', 'Resume a paused campaign at its next occurrence, or with the run that it was sending'],
    ['stop', 'Stop a campaign permanently: its remaining messages are not sent'],
    ['watch', 'Report the progress of a campaign until it ends or is paused, for an hour at most'],
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

/** The actions of these commands. */
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
  const found = await listCampaignSummaries(database, { workspaceId, limit: maxCampaignsShown + 1 });
  const more = 'are listed; carillon campaigns search finds all of them.';
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
  const campaign = await findCampaignSummary(database, { workspaceId, id: options.id });
  if (!campaign) throw noCampaign(options.id);
  const next = followingOccurrences(campaign, clock.now());
  const found = await listCampaignRuns(database, { campaignId: campaign.id, limit: maxRunsShown + 1 });
  const runs = takeNewest(found, { max: maxRunsShown, more: 'runs are shown; the console lists all of them.' });
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
    ['RUN', 'STATUS', 'DUE', 'CREATED', 'ENDED', 'REASON'],
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
  const change = { workspaceId, campaignId: id, action, actor: commandLine };
  const changed = await changeCampaignState({ database, clock }, change);
  switch (changed.kind) {
    case 'changed':
      if (json) return printJsonLine({ id, status: changed.status });
      process.stdout.write(`Campaign  ${id}\nStatus    ${changed.status}\n`);
      return;
    case 'not-found':
      throw noCampaign(id);
    case 'not-allowed':
      throw new StartError('SETTING_INVALID', `A campaign that is ${changed.status} does not allow ${action}.`);
    default:
      return unknownCase(changed);
  }
}

function noCampaign(id: string): StartError {
  return new StartError('SETTING_INVALID', `There is no campaign ${toPlainLine(id)} in this workspace.`);
}

/** Returns the next occurrence of a campaign. A paused recurring campaign has none until it is resumed. */
function nextAtOf(campaign: CampaignSummary): Date | null {
  return campaign.status === 'PAUSED' && campaign.deliveryType !== 'ONE_TIME' ? null : campaign.nextAt;
}

function followingOccurrences(campaign: CampaignSummary, now: Date): Date[] {
  const nextAt = nextAtOf(campaign);
  if (!nextAt) return [];
  const after = nextAt > now ? nextAt : now;
  return [nextAt, ...nextOccurrences(fromStoredTiming(campaign.timing), { after, count: occurrencesShown - 1 })];
}

function shown(at: Date | null): string {
  return at?.toISOString() ?? '–';
}

/** Returns how late a late occurrence was, rounded down to minutes (fault F14). */
function lateness({ dueAt, startedAt, createdAt }: CampaignRun): string {
  if (!dueAt) return '';
  const firedAt = dueAt > createdAt ? (startedAt ?? dueAt) : createdAt;
  const minutes = Math.floor((firedAt.getTime() - dueAt.getTime()) / 60_000);
  return minutes < 1 ? '' : `${minutes} minutes late`;
}

const maxRows = maxCampaignsPerPage.V5;

/** `carillon campaigns search`: V5's search with its filters, page by page. */
function registerCampaignSearch(program: Command, campaigns: Command): void {
  campaigns
    .command('search')
    .description('Search campaigns as the campaign API (V5) does, newest first; find drafts with --status DRAFT')
    .option('--name <part>', 'part of the name, in any case')
    .addOption(new Option('--status <status...>', 'any of them').choices([...campaignStatuses]))
    .addOption(new Option('--type <type...>', 'delivery types, any of them').choices([...campaignDeliveryTypes]))
    .addOption(new Option('--channel <channel...>', 'any of them').choices([...campaignChannels]))
    .option('--tag <tag...>', 'any of them')
    .option('--created-by <name...>', 'any of them')
    .option('--created-from <date>', 'YYYY-MM-DD, or with Thh:mm:ss')
    .option('--created-to <date>', 'YYYY-MM-DD, or with Thh:mm:ss; included')
    .option('--id <id...>', 'any of them')
    .option('--version-number <number>', 'in a workspace that keeps versions', parseCount)
    .option('--children', 'include the sends of recurring campaigns')
    .option('--archived', 'include archived campaigns')
    .option('--limit <rows>', `rows per page, 1 to ${maxRows}`, parseCount, maxRows)
    .option('--page <number>', 'page number, from 1', parseCount, 1)
    .option('--json', 'print each campaign as one line of JSON, as the campaign API returns it')
    .option(...workspaceOption)
    .action((options: SearchOptions) => withInstallation(program, (context) => printSearch(context, options)));
}

type SearchOptions = {
  name?: string;
  status?: string[];
  type?: string[];
  channel?: string[];
  tag?: string[];
  createdBy?: string[];
  createdFrom?: string;
  createdTo?: string;
  id?: string[];
  versionNumber?: number;
  children?: true;
  archived?: true;
  limit: number;
  page: number;
  json?: true;
  workspace?: string;
};

async function printSearch({ database, clock }: CommandContext, options: SearchOptions): Promise<void> {
  const workspaceId = await findWorkspaceToUse(database, options.workspace);
  const { versioning } = await readSearchSettings({ database }, workspaceId);
  const dialect = { version: 'V5', versioning } as const;
  const asked = { ...parseSearch(toBody(options), dialect), ...dialect, workspaceId };
  const deps = { database, totals: makeCampaignTotals({ database, clock }) };
  const { campaigns } = await searchCampaigns(deps, asked);
  if (options.json)
    for (const campaign of campaigns)
      process.stdout.write(`${JSON.stringify(presentV5Campaign(campaign, versioning))}\n`);
  else printCampaigns(campaigns);
  // V5 returns no total, so the first campaign after the page is requested to know whether there are more.
  const behind = { ...asked, limit: 1, page: asked.page * asked.limit + 1 };
  const hasMore = campaigns.length === asked.limit && (await searchCampaigns(deps, behind)).campaigns.length > 0;
  process.stderr.write(
    hasMore ? `There are more: --page ${asked.page + 1}\n` : describeEnd(campaigns.length, asked.page),
  );
}

function describeEnd(rows: number, page: number): string {
  if (rows > 0) return 'That is all.\n';
  return page === 1 ? 'No campaign matches.\n' : `Page ${page} is after the last page.\n`;
}

/** Builds the request body that the campaign API would get. */
function toBody(options: SearchOptions): Record<string, unknown> {
  const { limit, page, children, archived, createdFrom, createdTo } = options;
  return {
    limit,
    page,
    include_child_campaigns: children === true,
    include_archive_campaigns: archived === true,
    campaign_fields: {
      ids: options.id,
      name: options.name,
      status: options.status,
      campaign_delivery_type: options.type,
      channels: options.channel,
      tags: options.tag,
      created_by: options.createdBy,
      created_date: { from_date: createdFrom, to_date: createdTo },
      version_number: options.versionNumber,
    },
  };
}

function printCampaigns(campaigns: readonly CampaignRecord[]): void {
  if (campaigns.length === 0) return;
  printTable(
    ['ID', 'STATUS', 'TYPE', 'CHANNEL', 'CREATED', 'SENT', 'BY', 'TAGS', 'NAME'],
    campaigns.map((campaign) => [
      campaign.id,
      campaign.status,
      campaign.deliveryType,
      campaign.channel,
      shownMinute(campaign.createdAt),
      campaign.sentAt === null ? nothing : shownMinute(campaign.sentAt),
      campaign.createdBy,
      campaign.tags.join(', ') || nothing,
      campaign.name,
    ]),
  );
}

function shownMinute(at: Date): string {
  return `${at.toISOString().slice(0, 16)}Z`;
}

const names = Array.from({ length: maxVariations }, (_, index) => variationName(index + 1));

/** `carillon campaigns winner`: compares the variations of a campaign, and chooses the one that the remaining users get. */
function registerWinner(program: Command, campaigns: Command): void {
  campaigns
    .command('winner')
    .description('Show the results of the variations of a campaign, or choose the one that the remaining users get')
    .argument('<id>')
    .addOption(new Option('--variation <name>', 'choose this variation').choices(names).conflicts(['metric', 'none']))
    .addOption(
      new Option('--metric <metric>', 'choose the variation that is best by this metric with 95 % confidence')
        .choices(learningMeasures)
        .conflicts('none'),
    )
    .option('--none', 'remove the winner, so that the shares apply again')
    .option(...jsonLineOption)
    .option(...workspaceOption)
    .action((id: string, options: WinnerOptions) =>
      withInstallation(program, (context) => winnerCommand(context, { ...options, id })),
    );
}

type WinnerOptions = { variation?: string; metric?: LearningMeasure; none?: true; json?: true; workspace?: string };

export async function winnerCommand(
  context: Pick<CommandContext, 'database' | 'clock' | 'encryption'>,
  { id, json, workspace, ...asked }: WinnerOptions & { id: string },
): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, workspace);
  const key = { workspaceId, id };
  const choice = choiceOf(asked);
  const result = choice
    ? await nameWinner(context, { ...key, choice, actor: commandLine, idempotencyKey: undefined, rawBody: '' })
    : await readWinner(context, key);
  if (json) return printJsonLine(presentWinner(result));
  printWinner(result);
}

function choiceOf({ variation, metric, none }: WinnerOptions): WinnerChoice | undefined {
  if (variation !== undefined) return { kind: 'variation', variation: names.indexOf(variation) + 1 };
  if (metric !== undefined) return { kind: 'figures', measure: metric };
  return none ? { kind: 'none' } : undefined;
}

function printWinner({ campaign, figures }: CampaignWinner): void {
  const { name, winner, namedAt, namedBy } = campaign;
  process.stdout.write(`Campaign  ${toPlainLine(name)}\n`);
  const named =
    winner === null ? nothing : `${variationName(winner)}, named ${namedAt!.toISOString()} by ${toPlainLine(namedBy!)}`;
  process.stdout.write(`Winner    ${named}\n`);
  if (figures.length === 0) return;
  process.stdout.write('\n');
  printTable(
    ['METRIC', 'VARIATION', 'SENT', 'SUCCESSES', 'RATE', '95 %', 'BEST'],
    figures.flatMap(({ measure, variations }) =>
      variations.map(({ variation, trials, successes, rate, interval, bestPercent }) => [
        ...[measure, variationName(variation), String(trials), String(successes)],
        rate === undefined ? nothing : inPercent(rate),
        interval ? `${inPercent(interval.low)} to ${inPercent(interval.high)}` : nothing,
        `${bestPercent} %`,
      ]),
    ),
  );
}

function inPercent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}

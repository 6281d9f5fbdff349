import { Option } from 'commander';
import type { Command } from 'commander';
import { makeCampaignTotals } from '../app/campaigns/campaign-totals.ts';
import { readSearchSettings, searchCampaigns } from '../app/campaigns/search-campaigns.ts';
import type { CampaignRecord } from '../app/campaigns/search-campaigns.ts';
import { campaignChannels, campaignDeliveryTypes } from '../domain/campaigns/campaign-search.ts';
import { campaignStatuses } from '../domain/campaigns/campaign-states.ts';
import { maxCampaignsPerPage } from '../domain/campaigns/limits.ts';
import { parseSearch } from '../http/campaigns/parse-search.ts';
import { presentV5Campaign } from '../http/campaigns/present-v5.ts';
import { withInstallation } from './command-context.ts';
import type { CommandContext } from './command-context.ts';
import { parseCount, workspaceOption } from './command-options.ts';
import { findWorkspaceToUse } from './find-workspace-to-use.ts';
import { nothing, printTable } from './print-table.ts';

const maxRows = maxCampaignsPerPage.V5;

/** `carillon campaigns search`: V5's search with its filters, a page at a time. */
export function registerCampaignSearch(program: Command, campaigns: Command): void {
  campaigns
    .command('search')
    .description('Search campaigns as the campaign API (V5) does, newest first; drafts are found by --status DRAFT')
    .option('--name <part>', 'any part of the name, in any case')
    .addOption(new Option('--status <status...>', 'any of them').choices([...campaignStatuses]))
    .addOption(new Option('--type <type...>', 'delivery types, any of them').choices([...campaignDeliveryTypes]))
    .addOption(new Option('--channel <channel...>', 'any of them').choices([...campaignChannels]))
    .option('--tag <tag...>', 'any of them')
    .option('--created-by <name...>', 'any of them')
    .option('--created-from <date>', 'YYYY-MM-DD, or with Thh:mm:ss')
    .option('--created-to <date>', 'the same, included')
    .option('--id <id...>', 'any of them')
    .option('--version-number <number>', 'in a workspace that keeps versions', parseCount)
    .option('--children', 'the sends of recurring campaigns too')
    .option('--archived', 'archived campaigns too')
    .option('--limit <rows>', `rows of a page, 1 to ${maxRows}`, parseCount, maxRows)
    .option('--page <number>', 'from 1', parseCount, 1)
    .option('--json', 'each campaign as one line of JSON, as the campaign API gives it')
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
  else print(campaigns);
  // V5 has no total: whether there are more is one look at the campaign behind the page.
  const behind = { ...asked, limit: 1, page: asked.page * asked.limit + 1 };
  const hasMore = campaigns.length === asked.limit && (await searchCampaigns(deps, behind)).campaigns.length > 0;
  process.stderr.write(hasMore ? `There are more: --page ${asked.page + 1}\n` : toldEnd(campaigns.length, asked.page));
}

function toldEnd(rows: number, page: number): string {
  if (rows > 0) return 'That is all.\n';
  return page === 1 ? 'No campaign is like that.\n' : `Page ${page} is behind the last one.\n`;
}

/** The request that the campaign API would get. */
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

function print(campaigns: readonly CampaignRecord[]): void {
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

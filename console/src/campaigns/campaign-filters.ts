import type { CampaignSearchBody } from '../api/campaigns.ts';
import { columnsOf, listOf, textOf } from '../shell/address-search.ts';
import type { AddressSearch } from '../shell/address-search.ts';

/** The search parameters of the list. Each is a filter of the V5 search (interface 2.12), except view and page. */
export type CampaignFilters = {
  view?: CampaignView;
  name?: string;
  tag?: string[];
  channel?: string[];
  type?: string[];
  creator?: string[];
  from?: string;
  to?: string;
  id?: string[];
  version?: string;
  /** `with` lists executions of recurring campaigns as separate rows. */
  children?: 'with';
  page?: number;
  order?: 'oldest';
  /** The shown columns; undefined for the default ones. */
  columns?: string[];
};

/** Views of the list, with the statuses that they contain. */
export const campaignViews = {
  all: { name: 'All', statuses: undefined },
  ongoing: { name: 'Ongoing', statuses: ['SENDING', 'ACTIVE'] },
  scheduled: { name: 'Scheduled', statuses: ['SCHEDULED'] },
  paused: { name: 'Paused', statuses: ['PAUSED'] },
  drafts: { name: 'Drafts', statuses: ['DRAFT'] },
  history: { name: 'History', statuses: ['SENT', 'RETIRED', 'STOPPED', 'FAILED'] },
  archive: { name: 'Archive', statuses: ['ARCHIVED'] },
} as const satisfies Record<string, { name: string; statuses: readonly string[] | undefined }>;

export type CampaignView = keyof typeof campaignViews;

// V5 returns at most this many.
export const campaignsPerPage = 15;

export function readCampaignFilters(search: AddressSearch): CampaignFilters {
  const list = (name: string) => (listOf(search[name]).length === 0 ? {} : { [name]: listOf(search[name]) });
  const text = (name: string) => (textOf(search[name]) === undefined ? {} : { [name]: textOf(search[name]) });
  const view = textOf(search.view);
  const page = Number(textOf(search.page) ?? 1);
  return {
    ...(view !== undefined && view in campaignViews && view !== 'all' ? { view: view as CampaignView } : {}),
    ...text('name'),
    ...list('tag'),
    ...list('channel'),
    ...list('type'),
    ...list('creator'),
    ...text('from'),
    ...text('to'),
    ...list('id'),
    ...text('version'),
    ...(textOf(search.children) === 'with' ? { children: 'with' as const } : {}),
    ...(Number.isInteger(page) && page > 1 ? { page } : {}),
    ...(textOf(search.order) === 'oldest' ? { order: 'oldest' as const } : {}),
    ...columnsOf(search),
  };
}

/** Builds the V5 search. Like V5, "All" excludes drafts unless a filter asks for them. */
export function toSearchBody(filters: CampaignFilters): CampaignSearchBody {
  const { view = 'all', name, tag, channel, type, creator, from, to, id, version, children, page = 1 } = filters;
  const { statuses } = campaignViews[view];
  const fields = {
    ...(id === undefined ? {} : { ids: id }),
    ...(name === undefined ? {} : { name }),
    ...(statuses === undefined ? {} : { status: [...statuses] }),
    ...(channel === undefined ? {} : { channels: channel }),
    ...(type === undefined ? {} : { campaign_delivery_type: type }),
    ...(creator === undefined ? {} : { created_by: creator }),
    ...(from === undefined && to === undefined
      ? {}
      : {
          created_date: {
            ...(from === undefined ? {} : { from_date: from }),
            ...(to === undefined ? {} : { to_date: to }),
          },
        }),
    ...(tag === undefined ? {} : { tags: tag }),
    ...(version === undefined ? {} : { version_number: Number(version) }),
  };
  return {
    limit: campaignsPerPage,
    page,
    ...(children === 'with' ? { include_child_campaigns: true } : {}),
    ...(view === 'archive' ? { include_archive_campaigns: true } : {}),
    ...(Object.keys(fields).length === 0 ? {} : { campaign_fields: fields }),
  };
}

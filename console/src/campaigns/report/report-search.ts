import type { Attribution } from '../../api/generated/campaign-figures.ts';
import { platformNames } from '../../parts/text/platform-names.ts';
import { textOf } from '../../shell/address-search.ts';
import type { AddressSearch } from '../../shell/address-search.ts';

type Platform = keyof typeof platformNames;

/** The tabs of a report, in their order. */
export const reportTabs = {
  summary: 'Summary',
  message: 'Message',
  delivery: 'Delivery',
  reports: 'Shown & clicked',
  variations: 'Variations & groups',
  runs: 'Runs',
  settings: 'Settings',
} as const;
export type ReportTab = keyof typeof reportTabs;

/** The search parameters of a report. */
export type ReportSearch = {
  /** Undefined for the summary. */
  tab?: ReportTab;
  /** The event after which conversions count; undefined for an accepted message. */
  attribution?: Attribution;
  /** The campaign to compare with. */
  with?: string;
  /** The variation or locale that the message tab shows. */
  locale?: string;
  variation?: string;
  /** The page of runs. */
  page?: number;
  /** Filters and page of the devices that saw or clicked the campaign. */
  kind?: 'IMPRESSION' | 'CLICK';
  platform?: Platform;
  after?: string;
};

/** The starting event of conversions, as the end of "Conversions: after …". */
export const attributionWords: Record<Attribution, string> = {
  TOTAL_CONVERSIONS: 'After the message',
  CLICK_CONVERSIONS: 'After the message, if it was clicked',
  VIEW_THROUGH: 'After it was shown',
  CLICK_THROUGH: 'After it was clicked',
  IN_SESSION: 'In the session of the click',
};

export function readReportSearch(search: AddressSearch): ReportSearch {
  const tab = textOf(search.tab);
  const attribution = textOf(search.attribution);
  const other = textOf(search.with);
  const [kind, platform, after] = [textOf(search.kind), textOf(search.platform), textOf(search.after)];
  const page = Number(textOf(search.page) ?? 1);
  const text = (name: 'locale' | 'variation') =>
    textOf(search[name]) === undefined ? {} : { [name]: textOf(search[name]) };
  return {
    ...(tab !== undefined && tab in reportTabs && tab !== 'summary' ? { tab: tab as ReportTab } : {}),
    ...(attribution !== undefined && attribution in attributionWords && attribution !== 'TOTAL_CONVERSIONS'
      ? { attribution: attribution as Attribution }
      : {}),
    ...(other !== undefined && /^[0-9a-f]{24}$/.test(other) ? { with: other } : {}),
    ...text('locale'),
    ...text('variation'),
    ...(kind === 'IMPRESSION' || kind === 'CLICK' ? { kind } : {}),
    ...(platform !== undefined && platform in platformNames ? { platform: platform as Platform } : {}),
    ...(after === undefined ? {} : { after }),
    ...(Number.isInteger(page) && page > 1 ? { page } : {}),
  };
}

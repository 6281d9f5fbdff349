import type { CampaignBody, CampaignTestAnswer } from './carillon-campaigns.ts';
import type { ConsoleCaller } from './console-caller.ts';

type Platform = 'ANDROID' | 'IOS' | 'WEB';

/** What a workspace has that a campaign may use. */
export type ComposerResources = {
  /** Names of its people's attributes. */
  attributes: string[];
  businessEvents: { id: string; name: string; attributes: { name: string; type: string }[] }[];
  /** Absent: the workspace has no credential of that platform's provider. */
  credentials: Partial<Record<Platform, 'real' | 'simulated'>>;
  controls: {
    /** As in `2/1d`. */
    frequencyCaps: string[];
    quietHours: { from: string; to: string; mode: 'HOLD' | 'DROP' } | null;
    minimumDelayMinutes: number | null;
    timeZone: string;
  };
  now: string;
};

/** A field of the body, as `basic_details.name`, and what is wrong with it. */
export type CampaignFault = { field: string; issue: string };

export type CampaignMoment = {
  at: string;
  /** YYYY-MM-DD and hh:mm in `timeZone`. */
  local: { date: string; time: string };
  timeZone: string;
  /** As in `+05:30`. */
  offset: string;
  clockChange:
    { kind: 'skipped'; asked: string } | { kind: 'twice' } | { kind: 'shifted'; before: string; after: string } | null;
};

export type CampaignWarning = {
  code: string;
  tone: 'warning' | 'note';
  part: 'audience' | 'content' | 'schedule';
  message: string;
};

export type CampaignCheck = {
  faults: CampaignFault[];
  /** Null while it cannot be read. `soon`, `later`, `periodic`, `calendar` or `triggered`. */
  schedule: { kind: string; moments: CampaignMoment[] } | null;
  /** Filters in words. */
  audienceText: string | null;
  /** Empty while something is wrong. */
  warnings: CampaignWarning[];
};

/** The best of a person's devices: reached, or what is in the way. */
export type Reach = 'REACHED' | 'OTHER_PLATFORM' | 'OPTED_OUT' | 'BLOCKED' | 'GONE' | 'NO_DEVICE';

export type AudienceCount =
  | {
      state: 'COUNTED';
      people: { reach: Reach; people: number }[];
      devices: { platform: Platform; state: 'ACTIVE' | 'OPTED_OUT' | 'BLOCKED' | 'GONE'; devices: number }[];
      /** Segments that are still filled, or cannot be sent to. */
      pending: string[];
    }
  | { state: 'TOO_SLOW'; afterSeconds: number }
  | { state: 'UNREADABLE'; faults: CampaignFault[] };

export type PlatformPreview = {
  outcome: 'RENDERED' | 'FALLBACK' | 'FAILED';
  /** As in `campaign_content`. */
  content?: { basic_details: Record<string, unknown> } & Record<string, unknown>;
  failure?: { field: string; cause: string; reason: string };
  /** What its provider counts, and the most it takes. */
  payload?: { bytes: number; most: number };
};

export type CampaignPreview = {
  /** Empty for nobody in particular. */
  customer_id: string;
  platforms: Partial<Record<'android' | 'ios' | 'web', PlatformPreview>>;
};

type InWorkspace = { workspaceId: string };
type Key = InWorkspace & { id: string };
type Asked = InWorkspace & { campaign: CampaignBody; signal?: AbortSignal };

export type ConsoleComposer = {
  readResources(workspaceId: string): Promise<ComposerResources>;
  /** What V5's validate would say of it, its next moments, and what may surprise. `id`: the campaign it is to change. */
  check(asked: Asked & { id?: string }): Promise<CampaignCheck>;
  /** Whom it would reach if it began now. */
  countAudience(asked: Asked): Promise<AudienceCount>;
  /** What one person would see; without `identifier` somebody of whom nothing is known. @throws CarillonError with `faults` */
  preview(
    asked: Asked & { identifier?: string; value?: string; event?: Record<string, unknown> },
  ): Promise<CampaignPreview>;
  /** A draft. @throws CarillonError with `faults` */
  create(asked: Asked): Promise<{ id: string }>;
  /** Merged (RFC 7396): a draft stays one, a campaign that waits or is live is changed at once. */
  change(asked: Asked & Key): Promise<{ id: string }>;
  publish(key: Key): Promise<{ id: string }>;
  /** To named people. @throws CarillonError with `faults` */
  test(asked: Asked & { identifier: string; values: string[]; platform?: Platform }): Promise<CampaignTestAnswer>;
};

export function makeConsoleComposer({ read, send }: ConsoleCaller): ConsoleComposer {
  const at = (path: string, query: Record<string, string>): string => `${path}?${new URLSearchParams(query)}`;
  return {
    readResources: (workspaceId) => read('composer', { workspaceId }),
    check: ({ workspaceId, campaign, id, signal }) =>
      send('POST', at('composer/check', { workspaceId, ...(id === undefined ? {} : { id }) }), campaign, signal),
    countAudience: ({ workspaceId, campaign, signal }) =>
      send('POST', at('composer/audience', { workspaceId }), campaign, signal),
    async preview({ workspaceId, campaign, identifier, value, event, signal }) {
      const body = { ...campaign, identifier, identifier_value: value, event_attributes: event };
      const path = at('preview', { workspaceId });
      return (await send<{ data: CampaignPreview }>('POST', path, body, signal)).data;
    },
    create: ({ workspaceId, campaign }) => send('POST', at('campaigns', { workspaceId }), campaign),
    change: ({ workspaceId, id, campaign }) => send('PATCH', at(`campaigns/${id}`, { workspaceId }), campaign),
    publish: ({ workspaceId, id }) => send('POST', at(`campaigns/${id}/publish`, { workspaceId })),
    async test({ workspaceId, campaign, identifier, values, platform }) {
      const meta = { identifier, identifier_values: values, ...(platform === undefined ? {} : { platform }) };
      const body = { ...campaign, test_campaign_meta: meta };
      const path = at('composer/test', { workspaceId });
      return (await send<{ results: CampaignTestAnswer }>('POST', path, body)).results;
    },
  };
}

import type { ConsoleCaller } from './console-caller.ts';
import { readServerEvents } from './read-server-events.ts';

type Platform = 'ANDROID' | 'IOS' | 'WEB';

/** The body of a V5 search, as `POST /v5/campaigns/search` takes it. */
export type CampaignSearchBody = {
  limit: number;
  page: number;
  include_child_campaigns?: boolean;
  include_archive_campaigns?: boolean;
  campaign_fields?: {
    ids?: string[];
    name?: string;
    status?: string[];
    channels?: string[];
    campaign_delivery_type?: string[];
    created_by?: string[];
    created_date?: { from_date?: string; to_date?: string };
    tags?: string[];
    version_number?: number;
  };
};

export type ListedCampaign = {
  id: string;
  /** What all versions share; of a child its parent. */
  campaignId: string;
  /** A sending of a recurring campaign, asked for as a row of its own. */
  isExecution: boolean;
  name: string;
  status: string;
  channel: string;
  deliveryType: string;
  platforms: Platform[];
  tags: string[];
  versionNumber: number | null;
  createdBy: string;
  createdAt: string;
  sentAt: string | null;
  reachableDevices: number | null;
  runs: number;
};

export type CampaignReport = {
  campaign: ListedCampaign & {
    audience: 'ALL_USERS' | 'SEGMENT' | 'USER';
    segmentId: string | null;
    segmentName: string | null;
    updatedAt: string;
    /** Made by the campaign API, and not over. */
    mayEdit: boolean;
  };
  /** As V5 answers it. */
  record: Record<string, unknown>;
  /** The body with which `POST /v5/campaigns` makes the same as a draft. */
  request: Record<string, unknown>;
  /** Newest first; empty when there is one alone. */
  versions: { id: string; versionNumber: number | null; status: string; createdAt: string; createdBy: string }[];
};

export type CampaignAction = 'pause' | 'resume' | 'stop';
export type DeliveryOutcome = 'ACCEPTED' | 'GONE' | 'REJECTED' | 'EXPIRED' | 'FAILED' | 'WITHHELD' | 'WAITING';

export type CampaignProgress = {
  status: string;
  statusReason: string | null;
  nextAt: string | null;
  actions: CampaignAction[];
  runs: number;
  openRuns: number;
  /** People; null for campaigns sent before this was counted. */
  audienceUsers: number | null;
  reachableDevices: number;
  startedAt: string | null;
  endedAt: string | null;
  outcomes: { platform: Platform; outcome: DeliveryOutcome; devices: number }[];
  interactions: { platform: Platform; kind: 'IMPRESSION' | 'CLICK' | 'CLOSE'; total: number; uniqueDevices: number }[];
  at: string;
};

export type CampaignResults = {
  /** The most frequent reason first. */
  failures: {
    platform: Platform;
    outcome: DeliveryOutcome;
    code: string;
    devices: number;
    sampleDeviceId: string;
    lastAt: string;
    advice: string;
  }[];
  goals: { name: string; conversions: number; people: number }[];
};

export type CampaignTimeline = {
  stepSeconds: number;
  steps: { at: string; accepted: number; notDelivered: number }[];
};

export type CampaignRuns = {
  runs: {
    id: string;
    status: string;
    statusReason: string | null;
    dueAt: string | null;
    startedAt: string | null;
    endedAt: string | null;
    createdAt: string;
    accepted: number;
    waiting: number;
    notDelivered: number;
  }[];
  total: number;
  perPage: number;
};

type Key = { workspaceId: string; id: string };

export type ConsoleCampaigns = {
  /** What V5 would answer to that body, with its figures. @throws CarillonError */
  search(workspaceId: string, body: CampaignSearchBody): Promise<ListedCampaign[]>;
  read(key: Key): Promise<CampaignReport>;
  readProgress(key: Key): Promise<CampaignProgress>;
  /** Calls back whenever a number moves, until the campaign has ended or `signal` is aborted; reconnects by itself. */
  follow(key: Key, options: { onProgress: (progress: CampaignProgress) => void; signal: AbortSignal }): Promise<void>;
  readResults(key: Key): Promise<CampaignResults>;
  readTimeline(key: Key): Promise<CampaignTimeline>;
  /** Newest first; pages from 1. */
  listRuns(page: Key & { page: number }): Promise<CampaignRuns>;
  change(change: Key & { action: CampaignAction }): Promise<CampaignProgress>;
  /** A draft with the same parts. */
  clone(key: Key): Promise<{ id: string }>;
};

const reconnectMilliseconds = 2000;

export function makeConsoleCampaigns({ call, read, send }: ConsoleCaller): ConsoleCampaigns {
  const of = ({ workspaceId, id }: Key, what = ''): string =>
    `campaigns/${id}${what}?${new URLSearchParams({ workspaceId })}`;
  const get = async <Answer>(key: Key, what?: string): Promise<Answer> =>
    (await (await call(of(key, what))).json()) as Answer;
  return {
    search: async (workspaceId, body) =>
      (
        await send<{ campaigns: ListedCampaign[] }>(
          'POST',
          `campaigns/search?${new URLSearchParams({ workspaceId })}`,
          body,
        )
      ).campaigns,
    read: (key) => get(key),
    readProgress: (key) => get(key, '/progress'),
    async follow(key, { onProgress, signal }) {
      while (!signal.aborted) {
        try {
          const answer = await call(of(key, '/progress/events'), { signal });
          for await (const { event, data } of readServerEvents(answer.body!)) {
            if (event === 'end') return;
            if (event === 'progress') onProgress(JSON.parse(data) as CampaignProgress);
          }
        } catch (error) {
          if (signal.aborted) return;
          // Refused for good: no session, no such campaign.
          if ((error as { status?: number }).status !== undefined && (error as { status: number }).status < 500)
            throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, reconnectMilliseconds));
      }
    },
    readResults: (key) => get(key, '/results'),
    readTimeline: (key) => get(key, '/timeline'),
    listRuns: ({ workspaceId, id, page }) => read(`campaigns/${id}/runs`, { workspaceId, page: String(page) }),
    change: ({ action, ...key }) => send('POST', of(key, `/${action}`)),
    clone: (key) => send('POST', of(key, '/clone')),
  };
}

import { toCarillonError } from './carillon-error.ts';

/** A campaign as V5 takes it; the members are those of the manual, spelt as on the wire. */
export type CampaignBody = {
  channel?: 'PUSH';
  campaign_delivery_type?: 'ONE_TIME' | 'PERIODIC' | 'BUSINESS_EVENT_TRIGGERED';
  created_by?: string;
  basic_details?: Record<string, unknown>;
  campaign_content?: Record<string, unknown>;
  segmentation_details?: Record<string, unknown>;
  scheduling_details?: Record<string, unknown>;
  delivery_controls?: Record<string, unknown>;
  advanced?: Record<string, unknown>;
  conversion_goal_details?: Record<string, unknown>;
  [part: string]: unknown;
};

/** What became of each identifier of a test. */
export type CampaignTestAnswer = Record<string, { status: 'success' | 'failed'; failure_reason?: string }>;

export type CarillonCampaigns = {
  /** A draft. @throws CarillonError with `faults` */
  create(campaign: CampaignBody): Promise<{ id: string }>;
  /** Merged into a draft (RFC 7396): null removes. @throws CarillonError */
  change(id: string, change: CampaignBody): Promise<{ id: string }>;
  /** What keeps a draft from going live. @throws CarillonError */
  validate(id: string): Promise<{ valid: boolean; errors: { field: string; issue: string }[] }>;
  /** Sends or schedules a draft. @throws CarillonError with `faults` */
  publish(id: string): Promise<void>;
  stop(id: string): Promise<void>;
  pause(id: string): Promise<void>;
  resume(id: string): Promise<void>;
  /** Sends content, or the draft `draft_id`, to the named people alone. @throws CarillonError */
  test(test: CampaignBody & { draft_id?: string; test_campaign_meta: TestMeta }): Promise<CampaignTestAnswer>;
};

type TestMeta = { identifier: string; identifier_values: string[]; platform?: 'ANDROID' | 'IOS' | 'WEB' };

type Send = (
  method: 'POST' | 'PATCH',
  call: { path: string; headers: Record<string, string>; body: object },
) => Promise<Response>;

type CampaignsOptions = { workspaceId: string; campaignsKey: string; send: Send };

/** Campaigns of V5, with Basic credentials. */
export function makeCarillonCampaigns({ workspaceId, campaignsKey, send }: CampaignsOptions): CarillonCampaigns {
  // A key is ASCII; btoa takes it in browsers and Node alike.
  const headers = { authorization: `Basic ${btoa(`${workspaceId}:${campaignsKey}`)}` };
  async function ask<Data>(method: 'POST' | 'PATCH', path: string, body: object): Promise<Data> {
    const answer = await send(method, { path: `/v5/campaigns${path}`, headers, body });
    if (!answer.ok) throw await toCarillonError(answer);
    return ((await answer.json()) as { data: Data }).data;
  }
  const act = (id: string, action: string) => ask<void>('PATCH', `/${id}/status`, { action });
  return {
    create: (campaign) => ask('POST', '', campaign),
    change: (id, change) => ask('PATCH', `/${id}`, change),
    validate: (id) => ask('POST', `/${id}/validate`, {}),
    publish: async (id) => void (await act(id, 'PUBLISH')),
    stop: async (id) => void (await act(id, 'STOP')),
    pause: async (id) => void (await act(id, 'PAUSE')),
    resume: async (id) => void (await act(id, 'RESUME')),
    test: (test) => ask('POST', '/test', test),
  };
}

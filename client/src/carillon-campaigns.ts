import type { CallOptions, CallService } from './call-service.ts';
import { eachPage } from './each-page.ts';
import type {
  CampaignDraftChange,
  CampaignDraftRequest,
  CampaignMetaListV5,
  CampaignMetaSearchV5,
  CampaignPreview,
  CampaignPreviewRequest,
  CampaignSearchV5,
  CampaignStatusRequestV5,
  CampaignTestAnswerV5,
  CampaignTestRequestV5,
  CampaignV5,
  CampaignValidation,
  DeliveryExplanation,
  ExecutionsV5,
} from './generated/shapes.ts';

/** A campaign draft as accepted by V5: undecided parts may be missing or incomplete. */
export type CampaignBody = {
  channel?: 'PUSH';
  campaign_delivery_type?: 'ONE_TIME' | 'PERIODIC' | 'EVENT_TRIGGERED' | 'BUSINESS_EVENT_TRIGGERED';
  created_by?: string;
  basic_details?: Record<string, unknown>;
  campaign_content?: Record<string, unknown>;
  trigger_condition?: Record<string, unknown>;
  segmentation_details?: Record<string, unknown>;
  scheduling_details?: Record<string, unknown>;
  delivery_controls?: Record<string, unknown>;
  advanced?: Record<string, unknown>;
  conversion_goal_details?: Record<string, unknown>;
  [part: string]: unknown;
};

/** The result for each identifier of a test. */
export type CampaignTestAnswer = Record<string, { status: 'success' | 'failed'; failure_reason?: string }>;

/** Every member may be missing, and null removes it (RFC 7396). */
type MergePatch<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { [Name in keyof Value]?: MergePatch<Value[Name]> | null }
    : Value;

type Paged<Search> = Omit<Search, 'limit' | 'page'>;

/** Campaigns of V5: with a campaigns key or an access token. */
export type CarillonCampaigns = {
  /** Creates a draft. @throws CarillonError with `faults` */
  create(campaign: CampaignDraftRequest, options?: CallOptions): Promise<{ id: string }>;
  /** Merges the change into a draft (RFC 7396): null removes. @throws CarillonError */
  change(id: string, change: MergePatch<CampaignDraftChange>, options?: CallOptions): Promise<{ id: string }>;
  /** Returns the problems that prevent publishing a draft. @throws CarillonError */
  validate(id: string, options?: CallOptions): Promise<CampaignValidation['data']>;
  /** Sends or schedules a draft. @throws CarillonError with `faults` */
  publish(id: string, options?: CallOptions): Promise<void>;
  stop(id: string, options?: CallOptions): Promise<void>;
  pause(id: string, options?: CallOptions): Promise<void>;
  resume(id: string, options?: CallOptions): Promise<void>;
  /** Sends content, or the draft `draft_id`, to the named users only. @throws CarillonError */
  test(test: CampaignTestRequestV5, options?: CallOptions): Promise<CampaignTestAnswerV5['data']>;
  preview(request: CampaignPreviewRequest, options?: CallOptions): Promise<CampaignPreview['data']>;
  get(id: string, options?: CallOptions): Promise<CampaignV5>;
  /** Returns all matches, page by page: `for await (const campaign of campaigns.search({ … }))`. */
  search(search?: Paged<CampaignSearchV5>, options?: CallOptions): AsyncIterable<CampaignV5>;
  /** Returns the same matches with fewer details. */
  list(
    search?: Paged<CampaignMetaSearchV5>,
    options?: CallOptions,
  ): AsyncIterable<CampaignMetaListV5['data']['campaigns'][number]>;
  /** Returns the runs of a recurring campaign. */
  executions(id: string, options?: CallOptions): AsyncIterable<ExecutionsV5['data']['executions'][number]>;
  /** Returns the reason why a user got a campaign or did not. */
  explain(
    of: { campaignId: string; customerId: string; runId?: string },
    options?: CallOptions,
  ): Promise<DeliveryExplanation>;
};

const pageSize = 15;

export function makeCarillonCampaigns(call: CallService): CarillonCampaigns {
  const act = async (id: string, action: CampaignStatusRequestV5['action'], options: CallOptions = {}): Promise<void> =>
    void (await call('changeCampaignStatus', { parameters: { id }, body: { action } }, options));
  return {
    async create(body, options) {
      return (await call('createCampaign', { body }, options)).data;
    },
    async change(id, body, options) {
      return (await call('changeCampaign', { parameters: { id }, body: body as CampaignDraftChange }, options)).data;
    },
    async validate(id, options) {
      return (await call('validateCampaign', { parameters: { id } }, options)).data;
    },
    publish: (id, options) => act(id, 'PUBLISH', options),
    stop: (id, options) => act(id, 'STOP', options),
    pause: (id, options) => act(id, 'PAUSE', options),
    resume: (id, options) => act(id, 'RESUME', options),
    async test(body, options) {
      return (await call('testCampaign', { body }, options)).data;
    },
    async preview(body, options) {
      return (await call('previewCampaign', { body }, options)).data;
    },
    async get(id, options) {
      return (await call('getCampaign', { parameters: { id } }, options)).data;
    },
    search: (search = {}, options = {}) =>
      eachPage(pageSize, async (page) => {
        return (await call('searchCampaigns', { body: { ...search, ...page } }, options)).data.campaigns;
      }),
    list: (search = {}, options = {}) =>
      eachPage(pageSize, async (page) => {
        return (await call('listCampaignMeta', { body: { ...search, ...page } }, options)).data.campaigns;
      }),
    executions: (id, options) =>
      eachPage(pageSize, async (page) => {
        const given = { parameters: { parent_campaign_id: id }, body: page };
        return (await call('listExecutions', given, options)).data.executions;
      }),
    explain: ({ campaignId, customerId, runId }, options) =>
      call(
        'explainDelivery',
        { parameters: { id: campaignId, customer_id: customerId, ...(runId === undefined ? {} : { run_id: runId }) } },
        options,
      ),
  };
}

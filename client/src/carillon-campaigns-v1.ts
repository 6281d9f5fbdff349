import type { CallOptions, CallService } from './call-service.ts';
import { eachPage } from './each-page.ts';
import type {
  CampaignChangeV1,
  CampaignMetaListV1,
  CampaignRequestV1,
  CampaignSearchV1,
  CampaignStatusRequestV1,
  CampaignTestAnswerV1,
  CampaignTestRequestV1,
  CampaignV1,
  ExecutionsV1,
} from './generated/shapes.ts';

/** The client generates a `request_id` if none is given; it stays the same for all retries of a call. */
type Named<Request> = Omit<Request, 'request_id'> & { request_id?: string };
type Paged<Search> = Omit<Search, 'limit' | 'page' | 'request_id'>;

/** Campaigns of V1, which are live once they are created: with a campaigns key or an access token. */
export type CarillonCampaignsV1 = {
  create(campaign: Named<CampaignRequestV1>, options?: CallOptions): Promise<{ id: string }>;
  change(id: string, change: Named<CampaignChangeV1>, options?: CallOptions): Promise<void>;
  /** Stops up to ten at once: all or none. */
  stop(ids: string[], options?: CallOptions): Promise<void>;
  pause(ids: string[], options?: CallOptions): Promise<void>;
  resume(ids: string[], options?: CallOptions): Promise<void>;
  test(test: Named<CampaignTestRequestV1>, options?: CallOptions): Promise<CampaignTestAnswerV1>;
  search(search?: Paged<CampaignSearchV1>, options?: CallOptions): AsyncIterable<CampaignV1>;
  list(search?: Paged<CampaignSearchV1>, options?: CallOptions): AsyncIterable<CampaignMetaListV1[number]>;
  executions(id: string, options?: CallOptions): AsyncIterable<ExecutionsV1['executions'][number]>;
};

const pageSize = 15;

export function makeCarillonCampaignsV1(call: CallService): CarillonCampaignsV1 {
  const named = () => ({ request_id: crypto.randomUUID() });
  const act = async (
    ids: string[],
    action: CampaignStatusRequestV1['action'],
    options: CallOptions = {},
  ): Promise<void> =>
    void (await call('changeCampaignStatusV1', { body: { ...named(), action, campaign_ids: ids } }, options));
  return {
    async create(campaign, options) {
      const made = await call('createCampaignV1', { body: { ...named(), ...campaign } }, options);
      return { id: made.campaign_id };
    },
    async change(id, change, options) {
      await call('changeCampaignV1', { parameters: { id }, body: { ...named(), ...change } }, options);
    },
    stop: (ids, options) => act(ids, 'STOP', options),
    pause: (ids, options) => act(ids, 'PAUSE', options),
    resume: (ids, options) => act(ids, 'RESUME', options),
    test: (test, options) => call('testCampaignV1', { body: { ...named(), ...test } }, options),
    search: (search = {}, options = {}) =>
      eachPage(pageSize, async (page) => {
        const found = await call('searchCampaignsV1', { body: { ...named(), ...search, ...page } }, options);
        // A workspace setting chooses between the two forms.
        return Array.isArray(found) ? found : found.campaigns;
      }),
    list: (search = {}, options = {}) =>
      eachPage(pageSize, (page) => call('listCampaignMetaV1', { body: { ...named(), ...search, ...page } }, options)),
    executions: (id, options) =>
      eachPage(pageSize, async (page) => {
        const given = { parameters: { parent_id: id }, body: { ...named(), ...page } };
        return (await call('listExecutionsV1', given, options)).executions;
      }),
  };
}

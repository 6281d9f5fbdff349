import type { CampaignBody } from '@carillon/client';
import type { ConsoleCaller, Key } from './console-caller.ts';
import type { Platform } from './generated/shape-parts.ts';

type Asked = { workspaceId: string; campaign: CampaignBody; signal?: AbortSignal };

export function makeComposerCalls({ ask }: ConsoleCaller) {
  return {
    readResources: (workspaceId: string) => ask('GET composer', { query: { workspaceId } }),
    /** What V5's validate would say of it, when it is sent next, and what may surprise. `id`: the campaign it is to change. */
    check: ({ workspaceId, campaign, id, signal }: Asked & { id?: string }) =>
      ask('POST composer/check', { query: { workspaceId, id }, body: campaign, signal }),
    /** Whom it would reach if it began now. */
    countAudience: ({ workspaceId, campaign, signal }: Asked) =>
      ask('POST composer/audience', { query: { workspaceId }, body: campaign, signal }),
    /** What one user would see; without `identifier` a user of whom nothing is known. @throws CarillonError with `faults` */
    preview: async ({
      workspaceId,
      campaign,
      identifier,
      value,
      event,
      signal,
    }: Asked & { identifier?: string; value?: string; event?: Record<string, unknown> }) => {
      const body = { ...campaign, identifier, identifier_value: value, event_attributes: event };
      return (await ask('POST preview', { query: { workspaceId }, body, signal })).data;
    },
    /** A draft. @throws CarillonError with `faults` */
    create: ({ workspaceId, campaign }: Asked) => ask('POST campaigns', { query: { workspaceId }, body: campaign }),
    /** Merged (RFC 7396): a draft stays one, a campaign that waits or is live is changed at once. */
    change: ({ workspaceId, id, campaign }: Asked & Key) =>
      ask('PATCH campaigns/:id', { params: { id }, query: { workspaceId }, body: campaign }),
    publish: ({ workspaceId, id }: Key) =>
      ask('POST campaigns/:id/publish', { params: { id }, query: { workspaceId } }),
    /** To named users. @throws CarillonError with `faults` */
    test: async ({
      workspaceId,
      campaign,
      identifier,
      values,
      platform,
    }: Asked & { identifier: string; values: string[]; platform?: Platform }) => {
      const meta = { identifier, identifier_values: values, ...(platform === undefined ? {} : { platform }) };
      const body = { ...campaign, test_campaign_meta: meta };
      return (await ask('POST composer/test', { query: { workspaceId }, body })).results;
    },
  };
}

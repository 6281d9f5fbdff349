import type { CampaignBody } from '@carillon/client';
import type { ConsoleCaller, Key } from './console-caller.ts';
import type { Platform } from './generated/shape-parts.ts';

type Asked = { workspaceId: string; campaign: CampaignBody; signal?: AbortSignal };

type Publication = Key & {
  delaySeconds?: number;
  /** The last change by an agent that the user has seen; the server rejects a draft with a later one. */
  seenChange?: string | undefined;
};

export function makeComposerCalls({ ask }: ConsoleCaller) {
  return {
    readResources: (workspaceId: string) => ask('GET composer', { query: { workspaceId } }),
    /** Returns V5's validation, the next send times and warnings. `id` is the campaign that the body would change. */
    check: ({ workspaceId, campaign, id, signal }: Asked & { id?: string }) =>
      ask('POST composer/check', { query: { workspaceId, id }, body: campaign, signal }),
    /** Counts the users that the campaign would reach if it started now. */
    countAudience: ({ workspaceId, campaign, signal }: Asked) =>
      ask('POST composer/audience', { query: { workspaceId }, body: campaign, signal }),
    /** Counts the users for whom the local time of the next send has passed. */
    countLocalTimes: ({ workspaceId, campaign, signal }: Asked) =>
      ask('POST composer/local-times', { query: { workspaceId }, body: campaign, signal }),
    /**
     * Renders the campaign for one user; without `identifier`, for a user without attributes. @throws CarillonError
     * with `faults`
     */
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
    /** Creates a draft. @throws CarillonError with `faults` */
    create: ({ workspaceId, campaign }: Asked) => ask('POST campaigns', { query: { workspaceId }, body: campaign }),
    /**
     * Merges the body into the campaign (RFC 7396). A draft stays a draft; a scheduled or live campaign changes at
     * once.
     */
    change: ({ workspaceId, id, campaign }: Asked & Key) =>
      ask('PATCH campaigns/:id', { params: { id }, query: { workspaceId }, body: campaign }),
    countOpenHours: (workspaceId: string) => ask('GET composer/open-hours', { query: { workspaceId } }),
    /** Publishes a draft. One that is sent as soon as possible waits for `delaySeconds` (0 to 60), in which it can be recalled. */
    publish: ({ workspaceId, id, delaySeconds = 0, seenChange }: Publication) =>
      ask('POST campaigns/:id/publish', {
        params: { id },
        query: { workspaceId, delaySeconds: String(delaySeconds), seenChange },
      }),
    /** Makes a published campaign of which nothing was sent a draft again. */
    recall: ({ workspaceId, id }: Key) => ask('POST campaigns/:id/recall', { params: { id }, query: { workspaceId } }),
    /** Sends a test to the named users. @throws CarillonError with `faults` */
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

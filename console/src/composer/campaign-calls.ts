import type { CampaignBody } from '@carillon/client';

/** What storing and sending a campaign is in calls of the API. */
export type CampaignCalls =
  /** A draft is made or, where it is there, changed; then it is published. */
  | { kind: 'create'; body: CampaignBody }
  | { kind: 'change'; id: string; change: CampaignBody | undefined }
  /** V5 changes drafts alone; what was published is changed by V1. */
  | { kind: 'edit'; id: string; change: CampaignBody };

type Asked = {
  body: CampaignBody;
  change: CampaignBody | undefined;
  existing: { id: string; status: string } | undefined;
  by: string;
};

export function campaignCalls({ body, change, existing, by }: Asked): CampaignCalls {
  if (!existing) return { kind: 'create', body: { ...body, created_by: by } };
  const { id } = existing;
  if (existing.status === 'DRAFT')
    return { kind: 'change', id, change: change === undefined ? undefined : { ...change, updated_by: by } };
  return { kind: 'edit', id, change: { request_id: 'an id of your own', updated_by: by, ...change } };
}

export type CodeOptions = { origin: string; workspaceId: string; calls: CampaignCalls };

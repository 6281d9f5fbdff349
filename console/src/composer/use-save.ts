import type { CampaignBody } from '@carillon/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { RefObject } from 'react';
import { consoleClient } from '../console.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { useCampaignForm } from './campaign-form.ts';
import { sentBody } from './sent-body.ts';

type SaveOptions = {
  /** Merged into the campaign that is there; undefined: nothing was changed. */
  change: CampaignBody | undefined;
  isLeaving: RefObject<boolean>;
  onSaved: () => void;
};

/** Storing and sending, by the calls that "the same through the API" shows. */
export function useSave({ change, isLeaving, onSaved }: SaveOptions) {
  const { id: workspaceId } = useWorkspace();
  const { body, existing } = useCampaignForm();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const renew = (id: string) =>
    queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[2] === id || queryKey[0] === 'campaigns' });

  /** @returns the id of the campaign that holds what is written */
  async function store(): Promise<string> {
    if (!existing) return (await consoleClient.composer.create({ workspaceId, campaign: sentBody(body) })).id;
    if (change === undefined) return existing.id;
    return (await consoleClient.composer.change({ workspaceId, id: existing.id, campaign: change })).id;
  }

  async function goTo(id: string, to: 'report' | 'composer'): Promise<void> {
    isLeaving.current = true;
    await renew(id);
    const params = { workspaceId, campaignId: id };
    if (to === 'report') await navigate({ to: '/w/$workspaceId/campaigns/$campaignId', params, search: {} });
    else {
      const same = (search: Record<string, unknown>) => search;
      const address = '/w/$workspaceId/campaigns/$campaignId/edit' as const;
      await navigate({ to: address, params, search: same as never, replace: true });
    }
  }

  return {
    /** A new one becomes a draft with an address of its own. */
    async saveDraft(): Promise<void> {
      const id = await store();
      onSaved();
      if (existing) await renew(id);
      else await goTo(id, 'composer');
    },
    /** Changes one that waits or is live, and shows it. */
    async saveLive(): Promise<void> {
      await goTo(await store(), 'report');
    },
    async send(): Promise<void> {
      const id = await store();
      try {
        await consoleClient.composer.publish({ workspaceId, id });
      } catch (error) {
        // It is stored all the same: the next try changes that draft and makes no second one.
        onSaved();
        if (!existing) await goTo(id, 'composer');
        throw error;
      }
      await goTo(id, 'report');
    },
  };
}

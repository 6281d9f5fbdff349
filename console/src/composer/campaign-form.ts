import type { CampaignBody } from '@carillon/client';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import type { CampaignCheck, CampaignFault, ComposerResources } from '../api/generated/composer.ts';
import { consoleClient } from '../console.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { sentBody } from './campaign-body.ts';
import type { Platform } from './campaign-body.ts';
import { stepOf } from './steps.ts';
import type { Step } from './steps.ts';

/** A campaign while it is written: the body of V5 itself, field by field, with what the server says of each. */
export type CampaignForm = {
  body: CampaignBody;
  /** Changes members by their paths; undefined takes one away. */
  write: (changes: Record<string, unknown>) => void;
  /** What the server last said; undefined before it did. */
  check: CampaignCheck | undefined;
  resources: ComposerResources;
  /** What was written for platforms that were taken away, for as long as the page is open. */
  setAside: Map<Platform, unknown>;
  /** The campaign that is changed, and how it stands; undefined: a new one. */
  existing: { id: string; status: string } | undefined;
  /** Steps that were looked at: what is missing there is told. */
  seen: ReadonlySet<Step>;
};

export const CampaignFormContext = createContext<CampaignForm | undefined>(undefined);

export function useCampaignForm(): CampaignForm {
  const form = useContext(CampaignFormContext);
  if (!form) throw new Error('outside of the composer');
  return form;
}

/** What is wrong with a campaign, as far as it is to be told yet: nobody has left out what was not asked for. */
export function toldFaults({ check, seen }: Pick<CampaignForm, 'check' | 'seen'>): CampaignFault[] {
  return (check?.faults ?? []).filter(({ field, issue }) => issue !== 'is required' || seen.has(stepOf(field)));
}

/** The sentence for the first of these fields with which something is wrong. */
export function useFault(...paths: string[]): string | undefined {
  const form = useCampaignForm();
  const fault = toldFaults(form).find(({ field }) => paths.includes(field));
  return fault && sentence(fault.issue);
}

export function sentence(issue: string): string {
  return `${issue.charAt(0).toUpperCase()}${issue.slice(1)}`;
}

const settleMilliseconds = 350;
// A moment that was to come may have passed while somebody was thinking.
const freshMilliseconds = 20_000;

/** What the server says of what is written: asked when writing pauses, and again while it is looked at. */
export function useCheck(
  body: CampaignBody,
  id: string | undefined,
): { check: CampaignCheck | undefined; isChecking: boolean } {
  const { id: workspaceId } = useWorkspace();
  const asked = JSON.stringify(sentBody(body));
  const [settled] = useDebouncedValue(asked, settleMilliseconds);
  const { data, isFetching } = useQuery({
    queryKey: ['campaign-check', workspaceId, id, settled],
    queryFn: ({ signal }) =>
      consoleClient.composer.check({
        workspaceId,
        campaign: JSON.parse(settled) as CampaignBody,
        ...(id === undefined ? {} : { id }),
        signal,
      }),
    placeholderData: keepPreviousData,
    refetchInterval: freshMilliseconds,
  });
  return { check: data, isChecking: asked !== settled || isFetching };
}

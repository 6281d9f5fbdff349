import type { AgentChange } from '../api/generated/proposals.ts';
import type { CampaignBody } from '@carillon/client';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import type { CampaignCheck, CampaignFault, ComposerResources } from '../api/generated/composer.ts';
import { consoleClient } from '../console.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { sentBody } from './campaign-body.ts';
import type { ShownContent } from './content/variants.ts';
import { stepOf } from './steps.ts';
import type { Step } from './steps.ts';

/** The form's state: the V5 body itself, with the server's response for each field. */
export type CampaignForm = {
  body: CampaignBody;
  /** Changes members by their paths. Undefined removes a member. */
  write: (changes: Record<string, unknown>) => void;
  /** The server's latest response; undefined before the first one. */
  check: CampaignCheck | undefined;
  /** True while `check` may be about an older body. */
  isChecking: boolean;
  /** The variation and the language that the content step shows. */
  shown: ShownContent;
  show: (content: ShownContent) => void;
  resources: ComposerResources;
  /** The content of removed platforms, kept until the page is closed. */
  setAside: Map<string, unknown>;
  /** The campaign that is edited, with its status; undefined for a new one. */
  existing: { id: string; status: string; agentChange?: AgentChange['change'] | undefined } | undefined;
  /** Steps that the user has left. Their missing fields are shown. */
  seen: ReadonlySet<Step>;
};

export const CampaignFormContext = createContext<CampaignForm | undefined>(undefined);

export function useCampaignForm(): CampaignForm {
  const form = useContext(CampaignFormContext);
  if (!form) throw new Error('outside of the composer');
  return form;
}

/** Returns the faults to show. A field that is missing in a step that the user has not left is not shown yet. */
export function visibleFaults({ check, seen }: Pick<CampaignForm, 'check' | 'seen'>): CampaignFault[] {
  return (check?.faults ?? []).filter(({ field, issue }) => issue !== 'is required' || seen.has(askedIn(field)));
}

/** The step after which a member is missing. A campaign without a name gets that of its title. */
function askedIn(field: string): Step {
  return field === 'basic_details.name' ? 'content' : stepOf(field);
}

/** Returns the message of the first of these fields that has a fault. */
export function useFault(...paths: string[]): string | undefined {
  const form = useCampaignForm();
  const fault = visibleFaults(form).find(({ field }) => paths.includes(field));
  return fault && sentence(fault.issue);
}

export function sentence(issue: string): string {
  return `${issue.charAt(0).toUpperCase()}${issue.slice(1)}`;
}

const settleMilliseconds = 350;
// A planned time may have passed since the last check.
const freshMilliseconds = 20_000;

/** Checks the campaign on the server when the user stops typing, and again while the page is visible. */
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

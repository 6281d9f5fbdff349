import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { KnownAttribute } from '../../api/generated/segment-answers.ts';
import { consoleClient } from '../../console.ts';
import { useMay } from '../../session/use-session.ts';
import { useWorkspace } from '../../shell/workspace.ts';

const customerId: KnownAttribute = { name: 'uid', type: 'string', values: [] };
const settleMilliseconds = 250;

/** Attributes for filters: the customer id and the attributes of the workspace's users. */
export function useKnownAttributes(): KnownAttribute[] {
  const { id: workspaceId } = useWorkspace();
  const mayRead = useMay('people.read');
  const { data } = useQuery({
    queryKey: ['filter-attributes', workspaceId],
    queryFn: () => consoleClient.segments.listAttributes(workspaceId),
    enabled: mayRead,
    staleTime: 60_000,
  });
  return [customerId, ...(data ?? [])];
}

/** Names of the workspace's newest events. */
export function useEventNames(): string[] {
  const { id: workspaceId } = useWorkspace();
  const { data } = useQuery({
    queryKey: ['event-names', workspaceId],
    queryFn: () => consoleClient.segments.listEventNames(workspaceId),
    enabled: useMay('people.read'),
    staleTime: 60_000,
  });
  return data ?? [];
}

/** Returns the most frequent values, then values that begin with the typed text. */
export function useSuggestedValues(attribute: KnownAttribute | undefined, typed: string): string[] {
  const { id: workspaceId } = useWorkspace();
  const mayRead = useMay('people.read');
  const [prefix] = useDebouncedValue(typed.trim(), settleMilliseconds);
  const isAsked = mayRead && attribute?.type === 'string' && prefix !== '';
  const { data } = useQuery({
    queryKey: ['filter-values', workspaceId, attribute?.name, prefix],
    queryFn: ({ signal }) =>
      consoleClient.segments.suggestValues({ workspaceId, attribute: attribute!.name, prefix, signal }),
    enabled: isAsked,
    staleTime: 60_000,
  });
  return [...new Set([...(attribute?.values ?? []), ...((isAsked && data) || [])])];
}

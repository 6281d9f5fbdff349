import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { FilterTrees } from '../../api/segments.ts';
import { consoleClient } from '../../console.ts';
import { useMay } from '../../session/use-session.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import { placeOf } from './filter-fault.ts';
import type { FilterFault } from './filter-fault.ts';
import { isBlank, toFilters } from './filter-tree.ts';
import type { BuiltTrees } from './filter-tree.ts';

const settleMilliseconds = 400;
const freshMilliseconds = 30_000;

type Asked = { trees: BuiltTrees; segmentId: string | undefined };

/** What the server says of filters while they are built: asked when writing pauses, and given up when they are others. */
export function useFilterAnswers({ trees, segmentId }: Asked) {
  const { id: workspaceId } = useWorkspace();
  const mayReadUsers = useMay('people.read');
  const asked = JSON.stringify(toFilters(trees));
  const [settled] = useDebouncedValue(asked, settleMilliseconds);
  // One click counts everybody, of these filters; of others it is asked again.
  const [exactly, setExactly] = useState<string>();
  const isExact = exactly === settled;
  const isEnabled = !isBlank(trees) && asked === settled;
  const query = { workspaceId, id: segmentId };
  const filters = () => JSON.parse(settled) as FilterTrees;
  const options = { enabled: isEnabled, placeholderData: keepPreviousData, staleTime: freshMilliseconds };
  const words = useQuery({
    queryKey: ['filter-words', workspaceId, segmentId, settled],
    queryFn: ({ signal }) => consoleClient.segments.describeFilter({ ...query, filters: filters(), signal }),
    ...options,
  });
  const isReadable = words.data?.state === 'READABLE' && !words.isPlaceholderData;
  const count = useQuery({
    queryKey: ['filter-count', workspaceId, segmentId, settled, isExact],
    queryFn: ({ signal }) => consoleClient.segments.countFilter({ ...query, filters: filters(), isExact, signal }),
    ...options,
    enabled: isEnabled && isReadable,
  });
  const sample = useQuery({
    queryKey: ['filter-sample', workspaceId, segmentId, settled],
    queryFn: ({ signal }) => consoleClient.segments.sampleFilter({ ...query, filters: filters(), signal }),
    ...options,
    enabled: isEnabled && isReadable && mayReadUsers,
  });
  const refusal = words.data?.state === 'UNUSABLE' ? words.data : undefined;
  const fault: FilterFault | undefined = refusal && { field: refusal.field, ...placeOf(refusal.reason) };
  return {
    isBlank: isBlank(trees),
    isBusy: asked !== settled || words.isFetching || count.isFetching,
    /** It is what stands there now, and the server takes it. */
    isGood: asked === settled && isReadable,
    fault,
    words,
    count,
    sample,
    countExactly: () => setExactly(settled),
  };
}

export type FilterAnswers = ReturnType<typeof useFilterAnswers>;

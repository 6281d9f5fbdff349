import { Button, Card, Group, Stack, Text, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import type { FilterCount } from '../../api/generated/segment-answers.ts';
import type { FilterTrees } from '../../api/segments.ts';
import { consoleClient } from '../../console.ts';
import { Failure } from '../../parts/failure.tsx';
import { Notice } from '../../parts/notice.tsx';
import { RouteLink } from '../../parts/links.tsx';
import { useMay } from '../../session/use-session.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import { attributesOf, placeText, placeOf, isBlank, toFilters } from './filter-tree.ts';
import type { FilterFault, BuiltTrees } from './filter-tree.ts';

const number = (count: number) => count.toLocaleString('en');

/** The users who match now: their number, a sample, and the filters in words. */
export function FilterSummary({ answers, trees }: { answers: FilterAnswers; trees: BuiltTrees }) {
  const { isBlank, isBusy, fault, words, count, sample, countExactly } = answers;
  const isCounted = !isBlank && fault === undefined;
  return (
    <Card withBorder role="region" aria-label="Who matches now" aria-busy={isBusy}>
      <Stack gap="md">
        <Title order={2} size="h5">
          Who matches now
        </Title>
        {isBlank && <Text size="sm">Choose an attribute or an event to see how many people match.</Text>}
        {!isBlank && fault !== undefined && (
          <Text size="sm">
            {placeText(fault)}
            {fault.words}.
          </Text>
        )}
        <Retried query={words} what="The filters were not checked" />
        {isCounted && (
          <>
            <Retried query={count} what="The count failed" />
            {count.data === undefined && count.error === null && words.error === null && (
              <Text size="sm" c="dimmed">
                Counting…
              </Text>
            )}
            {count.data !== undefined && (
              <div style={{ opacity: isBusy ? 0.55 : 1 }}>
                <Count count={count.data} onExactly={countExactly} />
              </div>
            )}
            {count.data?.state === 'COUNTED' && count.data.users === 0 && <TypeHints trees={trees} />}
            {words.data?.state === 'READABLE' && (
              <div>
                <Text size="xs" c="dimmed" fw={500}>
                  In words
                </Text>
                <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {words.data.words}
                </Text>
              </div>
            )}
            <Retried query={sample} what="No sample" />
            <Sample sample={sample} />
          </>
        )}
      </Stack>
    </Card>
  );
}

function Retried({ query, what }: { query: UseQueryResult; what: string }) {
  if (query.error === null) return null;
  return (
    <Stack gap="xs">
      <Failure error={query.error} what={what} />
      <Button size="compact-sm" variant="default" w="fit-content" onClick={() => void query.refetch()}>
        Retry
      </Button>
    </Stack>
  );
}

function Count({ count, onExactly }: { count: FilterCount; onExactly: () => void }) {
  if (count.state === 'UNUSABLE') return null;
  if (count.state === 'TOO_SLOW')
    return (
      <Notice tone="warning" title={`Counting took longer than ${count.afterSeconds} s`}>
        {'There are too many people to count while you wait. You can still save the filters and send to them.'}
      </Notice>
    );
  const { users, of, isEstimate } = count;
  const share = of === 0 ? 0 : (users / of) * 100;
  return (
    <div>
      <Group gap={8} align="baseline">
        <Text fz={28} fw={600} lh={1.15} data-count="matching">
          {isEstimate && (
            <Text span fz="md" fw={500} c="dimmed">
              about{' '}
            </Text>
          )}
          {number(users)}
        </Text>
        {of > 0 && (
          <Text size="sm" c="dimmed">
            {share > 0 && share < 0.1 ? 'under 0.1' : share.toLocaleString('en', { maximumFractionDigits: 1 })} %
          </Text>
        )}
      </Group>
      <Text size="sm">{`of ${isEstimate ? 'about ' : ''}${number(of)} people`}</Text>
      {isEstimate && (
        <Button size="compact-sm" variant="default" mt="xs" onClick={onExactly}>
          Count exactly
        </Button>
      )}
    </div>
  );
}

// With more conditions than this, the list would not help.
const maxHints = 3;

/** For attributes that a filter reads as one type while users have them as the other: how many have which. */
function TypeHints({ trees }: { trees: BuiltTrees }) {
  return attributesOf(trees.included)
    .slice(0, maxHints)
    .map(({ name, data_type: type }) => <TypeHint key={`${name} ${type}`} name={name} type={type} />);
}

function TypeHint({ name, type }: { name: string; type: string }) {
  const { id: workspaceId } = useWorkspace();
  const types = useQuery({
    queryKey: ['filter-types', workspaceId, name],
    queryFn: ({ signal }) => consoleClient.segments.countAttributeTypes({ workspaceId, attribute: name, signal }),
    enabled: useMay('people.read'),
    staleTime: freshMilliseconds,
  });
  if (types.data?.state !== 'COUNTED') return null;
  const { texts, numbers } = types.data;
  // The type of the condition is the one that users have.
  if ((type === 'string' ? numbers : texts) === 0) return null;
  return (
    <Notice tone="note" title={`${number(texts)} have ${name} as text, ${number(numbers)} as a number`}>
      Choose the other type in the condition to find them.
    </Notice>
  );
}

function Sample({ sample }: { sample: FilterAnswers['sample'] }) {
  const { id: workspaceId } = useWorkspace();
  if (sample.data?.state !== 'FOUND' || sample.data.users.length === 0) return null;
  return (
    <div>
      <Text size="xs" c="dimmed" fw={500}>
        Some of them
      </Text>
      <Group gap={12} role="group" aria-label="Some of them">
        {sample.data.users.map(({ id, customerId }) => (
          <Text key={id} size="sm" style={{ overflowWrap: 'anywhere' }}>
            <RouteLink to="/w/$workspaceId/people/$userId" params={{ workspaceId, userId: id }} search={{}}>
              {customerId}
            </RouteLink>
          </Text>
        ))}
      </Group>
    </div>
  );
}

const settleMilliseconds = 400;
const freshMilliseconds = 30_000;

type AskedFilters = { trees: BuiltTrees; segmentId: string | undefined };

/** Checks filters on the server when the user stops typing, and aborts when they change. */
export function useFilterAnswers({ trees, segmentId }: AskedFilters) {
  const { id: workspaceId } = useWorkspace();
  const mayReadUsers = useMay('people.read');
  const asked = JSON.stringify(toFilters(trees));
  const [settled] = useDebouncedValue(asked, settleMilliseconds);
  // A count reads every user, so each set of filters is counted on request only.
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
    /** True if the result belongs to the current filters and the server accepts them. */
    isGood: asked === settled && isReadable,
    fault,
    words,
    count,
    sample,
    countExactly: () => setExactly(settled),
  };
}

type FilterAnswers = ReturnType<typeof useFilterAnswers>;

import { Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { consoleClient } from '../../console.ts';
import { failureText } from '../../parts/failure.tsx';
import { useMay } from '../../session/use-session.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import type { ChosenIdentifier } from './identifier-fields.tsx';

const maxChecked = 500;
const maxShown = 3;
const settleMilliseconds = 400;

/** Whether the first values name anybody, before the file is sent: a wrong column or attribute shows at once. */
export function MatchCheck({ values, identifier }: { values: string[]; identifier: ChosenIdentifier }) {
  const { id: workspaceId } = useWorkspace();
  const mayRead = useMay('people.read');
  const checked = values.filter((value) => value !== '').slice(0, maxChecked);
  const asked = JSON.stringify({
    attributeName: identifier.attribute,
    attributeType: identifier.type,
    values: checked,
  });
  const [settled] = useDebouncedValue(asked, settleMilliseconds);
  const check = useQuery({
    queryKey: ['unmatched', workspaceId, settled],
    queryFn: ({ signal }) =>
      consoleClient.segments.findUnmatched({
        workspaceId,
        ...(JSON.parse(settled) as { attributeName: string; attributeType: 'string' | 'double'; values: string[] }),
        signal,
      }),
    enabled: mayRead && identifier.attribute !== '' && checked.length > 0 && asked === settled,
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  if (check.error !== null) return <Text size="sm">{failureText(check.error)}</Text>;
  if (check.data === undefined || identifier.attribute === '') return null;
  const missing = check.data.map((place) => checked[place]!);
  const examples = [...new Set(missing)].slice(0, maxShown).map((value) => `“${value}”`);
  return (
    <Text size="sm" role="status" style={{ opacity: asked === settled ? 1 : 0.55, overflowWrap: 'anywhere' }}>
      {`Of the first ${checked.length.toLocaleString('en')} values, ${(checked.length - missing.length).toLocaleString('en')} name a user by ${identifier.attribute}.`}
      {missing.length > 0 && ` Not found, for example: ${examples.join(', ')}.`}
    </Text>
  );
}

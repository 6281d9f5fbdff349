import { Button, Code, Group, Progress, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleClient } from '../../console.ts';
import { Failure } from '../../parts/failure.tsx';
import { useWorkspace } from '../../shell/workspace.ts';
import type { SentFile } from './use-send-file.ts';
import { maxRemembered } from './table-file.ts';

/** What the server looks up at once. */
const batchSize = 5_000;
const maxShown = 12;

const number = (count: number) => count.toLocaleString('en');

/** The values that name nobody, looked up in batches: the server keeps the numbers of lines and no values. */
export function UnmatchedValues({ sent }: { sent: SentFile }) {
  const { id: workspaceId } = useWorkspace();
  const { identifier, values } = sent;
  const [share, setShare] = useState(0);
  const unmatched = useQuery({
    queryKey: ['unmatched-values', workspaceId, sent.operationId],
    queryFn: async ({ signal }) => {
      const found: string[] = [];
      for (let start = 0; start < values.length; start += batchSize) {
        const batch = values.slice(start, start + batchSize);
        const places = await consoleClient.segments.findUnmatched({
          workspaceId,
          attributeName: identifier.attribute,
          attributeType: identifier.type,
          values: batch,
          signal,
        });
        found.push(...places.map((place) => batch[place]!));
        setShare(Math.min(1, (start + batchSize) / values.length));
      }
      return [...new Set(found)];
    },
    staleTime: Infinity,
  });
  if (unmatched.error !== null)
    return (
      <Stack gap="xs">
        <Failure error={unmatched.error} what="Values that name nobody were not looked up" />
        <Button size="compact-sm" variant="default" w="fit-content" onClick={() => void unmatched.refetch()}>
          Retry
        </Button>
      </Stack>
    );
  if (unmatched.data === undefined)
    return (
      <Stack gap={4}>
        <Text size="sm">Looking up which values name nobody…</Text>
        <Progress value={share * 100} aria-label="Part of the values that are looked up" transitionDuration={0} />
      </Stack>
    );
  const missing = unmatched.data;
  const isPart = values.length === maxRemembered;
  return (
    <Stack gap="xs" role="group" aria-label="Values that name nobody">
      <Text size="sm">
        {missing.length === 0
          ? 'Every value names a user.'
          : `${number(missing.length)} ${missing.length === 1 ? 'value names' : 'values name'} no user, or more than one.`}
        {isPart && ` The first ${number(maxRemembered)} values were looked up.`}
      </Text>
      {missing.length > 0 && (
        <>
          <Group gap={6}>
            {missing.slice(0, maxShown).map((value) => (
              <Code key={value} style={{ overflowWrap: 'anywhere' }}>
                {value}
              </Code>
            ))}
            {missing.length > maxShown && <Text size="sm">{`and ${number(missing.length - maxShown)} more`}</Text>}
          </Group>
          <Button
            size="compact-sm"
            variant="default"
            w="fit-content"
            leftSection={<IconDownload size={14} stroke={1.6} aria-hidden />}
            onClick={() => download(missing, identifier.attribute)}
          >
            Download CSV
          </Button>
        </>
      )}
    </Stack>
  );
}

function download(values: readonly string[], header: string): void {
  const file = new Blob([[header, ...values].map((value) => `${toCell(value)}\r\n`).join('')], { type: 'text/csv' });
  const address = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = address;
  link.download = 'unmatched.csv';
  link.click();
  URL.revokeObjectURL(address);
}

/** RFC 4180; what a spreadsheet would compute is made a text, but for numbers of phones. */
function toCell(value: string): string {
  const isFormula = /^[=+\-@\t\r]/.test(value) && !/^[+-][\d\s().-]+$/.test(value);
  const text = isFormula ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

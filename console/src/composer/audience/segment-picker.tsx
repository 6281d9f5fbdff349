import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ConsoleSegment } from '../../api/generated/segment-answers.ts';
import { consoleClient } from '../../console.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { RouteLink } from '../../parts/links.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { useWorkspace } from '../../shell/workspace.ts';
import type { ChosenSegment } from './audience.ts';

type SegmentPickerProps = {
  /** The text before the names of the chosen segments. */
  title: string;
  /** The label of each segment's button. */
  verb: string;
  segments: ChosenSegment[];
  error: string | undefined;
  onChanged: (segments: ChosenSegment[]) => void;
};

const maxShown = 8;

/** The chosen segments, and a search by part of the name for more. */
export function SegmentPicker({ title, verb, segments, error, onChanged }: SegmentPickerProps) {
  const { id: workspaceId } = useWorkspace();
  const [word, setWord] = useState('');
  const list = useQuery({
    queryKey: ['segments', workspaceId],
    queryFn: () => consoleClient.segments.list(workspaceId),
    // A campaign can use a segment whose file is still being processed.
    refetchInterval: 5000,
  });
  return (
    <Stack gap="xs" role="group" aria-label={`${title} segments`}>
      {segments.map((segment) => (
        <Group key={segment.id} justify="space-between" wrap="nowrap">
          <Text size="sm" component="div">
            {title} <SegmentLink segment={segment} />
          </Text>
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Remove ${segment.name}`}
            onClick={() => onChanged(segments.filter(({ id }) => id !== segment.id))}
          >
            Remove
          </Button>
        </Group>
      ))}
      <TextInput
        label="Find a segment"
        {...(error === undefined ? {} : { error })}
        value={word}
        onChange={(event) => setWord(event.currentTarget.value)}
      />
      <Loaded query={list}>
        {({ segments: all }) => {
          const found = all.filter((one) => mayBeChosen(one, { word, segments }));
          return (
            <>
              {found.slice(0, maxShown).map((segment) => (
                <Choice
                  key={segment.id}
                  segment={segment}
                  verb={verb}
                  onChosen={() => onChanged([...segments, { id: segment.id, name: segment.name }])}
                />
              ))}
              <Text size="sm" component="div">
                {found.length > maxShown &&
                  `${(found.length - maxShown).toLocaleString('en')} more; type more of the name. `}
                {found.length === 0 && (all.length === 0 ? 'No segments yet. ' : 'No other matching segments. ')}
                <RouteLink to="/w/$workspaceId/segments" params={{ workspaceId }} search={{}}>
                  Create one from a file
                </RouteLink>
              </Text>
            </>
          );
        }}
      </Loaded>
    </Stack>
  );
}

function mayBeChosen(
  { id, name, state }: ConsoleSegment,
  { word, segments }: { word: string; segments: ChosenSegment[] },
): boolean {
  if (state === 'ARCHIVED' || segments.some((chosen) => chosen.id === id)) return false;
  return name.toLowerCase().includes(word.trim().toLowerCase());
}

type ChoiceProps = { segment: ConsoleSegment; verb: string; onChosen: () => void };

function Choice({ segment, verb, onChosen }: ChoiceProps) {
  const { name, state, kind, userCount } = segment;
  return (
    <Group justify="space-between" wrap="nowrap">
      <Group gap="xs" style={{ minWidth: 0 }}>
        <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
          <SegmentLink segment={segment} />
        </Text>
        {state !== 'READY' && <StatusBadge status={state} />}
        <Text size="xs">
          {kind === 'FILTER' ? 'filter' : `${kind.toLowerCase()}, ${(userCount ?? 0).toLocaleString('en')} people`}
        </Text>
      </Group>
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`${verb} ${name}`}
        onClick={onChosen}
        style={{ flexShrink: 0 }}
      >
        {verb}
      </Button>
    </Group>
  );
}

function SegmentLink({ segment }: { segment: { id: string; name: string } }) {
  const { id: workspaceId } = useWorkspace();
  return (
    <RouteLink
      to="/w/$workspaceId/segments/$segmentId"
      params={{ workspaceId, segmentId: segment.id }}
      style={{ overflowWrap: 'anywhere' }}
    >
      {segment.name}
    </RouteLink>
  );
}

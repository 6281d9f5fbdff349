import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { RouteLink } from '../parts/links.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { includedSegments } from './audience/audience.ts';
import { useCampaignForm } from './campaign-form.ts';

const maxSuggested = 4;

/** The user of the previews: found by a search, as on the users screen, or one of the audience. */
export function PreviewUser() {
  const { id: workspaceId } = useWorkspace();
  const { customerId, look } = usePreviewedUser();
  const [word, setWord] = useState('');
  const find = useMutation({
    mutationFn: (q: string) => consoleClient.users.search({ workspaceId, q }),
    onSuccess: (found) => {
      if (found.length === 1) choose(found[0]!.customerId);
    },
  });
  const choose = (id: string | undefined) => {
    setWord('');
    find.reset();
    look(id);
  };
  return (
    <Stack gap="xs">
      <form
        role="search"
        aria-label="Preview for"
        onSubmit={(event) => {
          event.preventDefault();
          const q = word.trim();
          if (q === '') choose(undefined);
          else find.mutate(q);
        }}
      >
        <Group align="flex-end" gap="xs" wrap="nowrap">
          <TextInput
            label="Preview as"
            placeholder="User id, device token or attribute value"
            value={word}
            onChange={(event) => setWord(event.currentTarget.value)}
            style={{ flexGrow: 1 }}
          />
          <Button type="submit" variant="default" loading={find.isPending}>
            Find
          </Button>
        </Group>
      </form>
      {find.error !== null && <Failure error={find.error} />}
      {find.data?.length === 0 && <Text size="sm">No matching users.</Text>}
      {find.data !== undefined && find.data.length > 1 && (
        <Choices label="Several match" ids={find.data.map((user) => user.customerId)} onChosen={choose} />
      )}
      <Text size="sm" component="div" role="status">
        {customerId === undefined ? (
          'Previewed as a user without attributes.'
        ) : (
          <>
            Previewed as{' '}
            <RouteLink to="/w/$workspaceId/people" params={{ workspaceId }} search={{ q: customerId }}>
              {customerId}
            </RouteLink>
            .{' '}
            <Button size="compact-xs" variant="default" onClick={() => choose(undefined)}>
              Without a user
            </Button>
          </>
        )}
      </Text>
      {customerId === undefined && <OfAudience onChosen={choose} />}
    </Stack>
  );
}

function OfAudience({ onChosen }: { onChosen: (customerId: string) => void }) {
  const { id: workspaceId } = useWorkspace();
  const { body } = useCampaignForm();
  const [segment] = includedSegments(body);
  const members = useQuery({
    queryKey: ['segment-members', workspaceId, segment?.id],
    queryFn: () => consoleClient.segments.listSampleMembers({ workspaceId, id: segment!.id }),
    enabled: segment !== undefined,
    staleTime: 60_000,
  });
  if (members.data === undefined || members.data.length === 0) return null;
  return <Choices label={`In ${segment!.name}`} ids={members.data.slice(0, maxSuggested)} onChosen={onChosen} />;
}

type ChoicesProps = { label: string; ids: string[]; onChosen: (customerId: string) => void };

function Choices({ label, ids, onChosen }: ChoicesProps) {
  return (
    <Group gap="xs">
      <Text size="sm">{label}:</Text>
      {ids.map((id) => (
        <Button
          key={id}
          size="compact-xs"
          variant="default"
          onClick={() => onChosen(id)}
          aria-label={`Preview as ${id}`}
        >
          {id}
        </Button>
      ))}
    </Group>
  );
}

/** The user of the previews, from the address; undefined for a user without attributes. */
export function usePreviewedUser(): {
  customerId: string | undefined;
  look: (customerId: string | undefined) => void;
} {
  const { as } = useSearch({ strict: false }) as { as?: string };
  const navigate = useNavigate();
  return {
    customerId: as,
    look(customerId) {
      const changed = (search: Record<string, unknown>) => ({ ...search, as: customerId });
      void navigate({ to: '.', search: changed as never, replace: true, resetScroll: false });
    },
  };
}

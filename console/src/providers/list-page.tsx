import { SimpleGrid, Stack } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { consoleClient } from '../console.ts';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { ProviderCard } from './provider-card.tsx';

/** Connects the workspace to the providers, and asks whether they take it. */
export function ProvidersPage() {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const key = ['credentials', workspaceId];
  const credentials = useQuery({ queryKey: key, queryFn: () => consoleClient.credentials.list(workspaceId) });
  return (
    <Stack gap="lg">
      <PageHeader
        title="Providers"
        about="A key is checked with its provider before it is stored, encrypted, and is never shown again."
      />
      <Loaded query={credentials}>
        {(states) => (
          <SimpleGrid cols={1} spacing="lg">
            {states.map((state) => (
              <ProviderCard
                key={state.provider}
                state={state}
                onChanged={() => queries.invalidateQueries({ queryKey: key })}
              />
            ))}
          </SimpleGrid>
        )}
      </Loaded>
    </Stack>
  );
}

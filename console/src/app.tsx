import { Alert, AppShell, Center, Code, Container, Group, Loader, Text, Title } from '@mantine/core';
import { CarillonError } from '@carillon/client';
import { useQuery } from '@tanstack/react-query';
import { consoleClient } from './console.ts';
import { OverviewPage } from './overview/overview-page.tsx';

/** Takes the code out of the address before anything else sees it, and opens the session with it. */
async function signInFromAddress(): Promise<boolean> {
  const code = new URLSearchParams(location.hash.slice(1)).get('sign-in');
  if (code === null) return true;
  history.replaceState(null, '', location.pathname);
  await consoleClient.signIn(code).catch((error: unknown) => {
    // A link opened twice in a browser that is signed in already is no trouble.
    if (!(error instanceof CarillonError) || error.status !== 401) throw error;
  });
  return true;
}

export function App() {
  const session = useQuery({ queryKey: ['session'], queryFn: signInFromAddress, staleTime: Infinity });
  const overview = useQuery({
    queryKey: ['overview'],
    queryFn: () => consoleClient.readOverview(),
    enabled: session.isSuccess,
    refetchInterval: 1000,
  });
  return (
    <AppShell header={{ height: 56 }} padding="md">
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between">
          <Title order={1} size="h4">
            Carillon
          </Title>
          <Text size="sm" visibleFrom="xs">
            {overview.data?.workspace.name}
          </Text>
        </Group>
      </AppShell.Header>
      <AppShell.Main>
        <Container size="lg" px={0}>
          {overview.data ? (
            <OverviewPage overview={overview.data} />
          ) : (
            <Waiting error={session.error ?? overview.error} />
          )}
        </Container>
      </AppShell.Main>
    </AppShell>
  );
}

function Waiting({ error }: { error: Error | null }) {
  if (error === null) {
    return (
      <Center mih={200}>
        <Loader aria-label="Loading" />
      </Center>
    );
  }
  if (error instanceof CarillonError && error.status === 401) {
    return (
      <Alert title="You are not signed in">
        Open the console link that the start of Carillon printed; each link works once, for a day. A new start prints a
        new one: <Code>npm start</Code>
      </Alert>
    );
  }
  return (
    <Alert color="red" title="The console cannot reach its server">
      {error.message}
    </Alert>
  );
}

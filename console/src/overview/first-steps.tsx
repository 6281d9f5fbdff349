import { ActionIcon, Card, Group, SimpleGrid, Text, Title, Tooltip } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconCircle, IconCircleCheckFilled, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { FirstSteps as Steps } from '../api/generated/overview.ts';
import { consoleClient } from '../console.ts';
import { RouteLink } from '../parts/links.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';

/** The first steps of an installation. The database determines which are done, and the user can hide the list. */
export function FirstSteps() {
  const { id: workspaceId } = useWorkspace();
  const params = { workspaceId };
  const [isAway, setAway] = useLocalStorage({ key: `carillon.first-steps.away.${workspaceId}`, defaultValue: false });
  const [setsUp, invites, seesUsers, writes] = [
    useMay('settings.write'),
    useMay('accounts.manage'),
    useMay('people.read'),
    useMay('campaigns.write'),
  ];
  const steps = useQuery({
    queryKey: ['first-steps', workspaceId],
    queryFn: () => consoleClient.overview.readFirstSteps(workspaceId),
    refetchInterval: 5000,
    enabled: !isAway,
  });
  if (isAway || !steps.data) return null;
  const all = stepsOf(steps.data, { params, setsUp, invites, seesUsers, writes });
  const done = all.filter(({ isDone }) => isDone).length;
  if (done === all.length) return null;
  return (
    <Card withBorder component="section" aria-label="First steps">
      <Group justify="space-between" wrap="nowrap" mb="sm">
        <Group gap="sm">
          <Title order={2} size="h5">
            First steps
          </Title>
          <Text size="sm" c="dimmed">
            {done} of {all.length} done
          </Text>
        </Group>
        <Tooltip label="Hide">
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label="Hide first steps"
            onClick={() => setAway(true)}
          >
            <IconX size={14} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Group>
      <SimpleGrid
        component="ul"
        cols={{ base: 1, sm: 2, lg: all.length }}
        spacing="md"
        verticalSpacing={8}
        m={0}
        p={0}
        style={{ listStyle: 'none' }}
      >
        {all.map(({ isDone, text }, index) => (
          <Step key={index} isDone={isDone}>
            {text}
          </Step>
        ))}
      </SimpleGrid>
    </Card>
  );
}

type Reader = {
  params: { workspaceId: string };
  setsUp: boolean;
  invites: boolean;
  seesUsers: boolean;
  writes: boolean;
};

/** The steps that the user's role allows. */
function stepsOf(
  { hasPushed, hasProvider, hasUsers, hasInvited }: Steps,
  { params, setsUp, invites, seesUsers, writes }: Reader,
): { isDone: boolean; text: ReactNode }[] {
  return [
    {
      isDone: hasPushed,
      text: (
        <>
          Send a push from a terminal
          {writes && (
            <>
              , or{' '}
              <RouteLink to="/w/$workspaceId/campaigns/new" params={params} search={{}}>
                write a campaign
              </RouteLink>
            </>
          )}
        </>
      ),
    },
    {
      isDone: hasUsers,
      text: (
        <>
          Load users: <code>npm run carillon -- import users.csv</code>, the API
          {seesUsers && (
            <>
              , or{' '}
              <RouteLink to="/w/$workspaceId/people" params={params} search={{}}>
                add one
              </RouteLink>
            </>
          )}
        </>
      ),
    },
    ...(setsUp
      ? [
          {
            isDone: hasProvider,
            text: (
              <RouteLink to="/w/$workspaceId/providers" params={params}>
                Connect a provider
              </RouteLink>
            ),
          },
        ]
      : []),
    ...(invites
      ? [
          {
            isDone: hasInvited,
            text: (
              <RouteLink to="/w/$workspaceId/accounts" params={params}>
                Invite a colleague
              </RouteLink>
            ),
          },
        ]
      : []),
  ];
}

function Step({ isDone, children }: { isDone: boolean; children: ReactNode }) {
  const Icon = isDone ? IconCircleCheckFilled : IconCircle;
  return (
    <Group component="li" gap="sm" wrap="nowrap" align="flex-start">
      <Icon
        size={18}
        stroke={1.6}
        role="img"
        aria-label={isDone ? 'Done' : 'To do'}
        style={{
          flex: 'none',
          marginTop: 1,
          color: isDone ? 'var(--mantine-color-teal-6)' : 'var(--mantine-color-dimmed)',
        }}
      />
      <Text size="sm" component="div" {...(isDone && { c: 'dimmed' })}>
        {children}
      </Text>
    </Group>
  );
}

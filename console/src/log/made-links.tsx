import { Group, Text } from '@mantine/core';
import type { MadeObject } from '../api/generated/calls.ts';
import { RouteLink } from '../parts/route-link.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';

/** The way to what a call made or changed. */
export function MadeLinks({ made }: { made: MadeObject[] }) {
  const seesUsers = useMay('people.read');
  const shown = made.filter(({ kind }) => kind !== 'user' || seesUsers);
  if (shown.length === 0) return null;
  return (
    <Group gap="sm">
      <Text size="sm">Leads to</Text>
      {shown.map((object) => (
        <Text key={`${object.kind} ${object.id}`} size="sm">
          <MadeLink made={object} />
        </Text>
      ))}
    </Group>
  );
}

function MadeLink({ made: { kind, id } }: { made: MadeObject }) {
  const { id: workspaceId } = useWorkspace();
  switch (kind) {
    case 'campaign':
      return (
        <RouteLink to="/w/$workspaceId/campaigns/$campaignId" params={{ workspaceId, campaignId: id }}>
          Campaign {id}
        </RouteLink>
      );
    case 'segment':
      return (
        <RouteLink to="/w/$workspaceId/segments/$segmentId" params={{ workspaceId, segmentId: id }}>
          Segment {id}
        </RouteLink>
      );
    case 'user':
      return (
        <RouteLink to="/w/$workspaceId/people" params={{ workspaceId }} search={{ q: id }}>
          User {id}
        </RouteLink>
      );
    default:
      return kind satisfies never;
  }
}

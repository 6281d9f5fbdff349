import { Code, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { AuditEntry } from '../api/generated/accounts.ts';
import { RouteLink } from '../parts/route-link.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { CopyTextButton } from '../parts/copyable.tsx';

const isId = /^[0-9a-f]{24}$/;

/** What was changed, as the way to it where it has a screen, and how. */
export function AuditObject({ entry }: { entry: AuditEntry }) {
  const { id: workspaceId } = useWorkspace();
  const { objectId, objectName, detail } = entry;
  const { of, ...others } = detail as Record<string, unknown>;
  const told = Object.entries(others)
    .map(([name, value]) => `${wordsOf(name)} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
  return (
    <>
      <Group gap={4} wrap="nowrap">
        <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
          <ObjectLink entry={entry}>{objectName ?? (objectId === null ? '–' : <Code>{objectId}</Code>)}</ObjectLink>
        </Text>
        {objectId !== null && <CopyTextButton text={objectId} label={`id of ${objectName ?? 'it'}`} />}
      </Group>
      {typeof of === 'string' && isId.test(of) && (
        <Text size="xs" c="dimmed" component="div">
          Made from{' '}
          <RouteLink to="/w/$workspaceId/campaigns/$campaignId" params={{ workspaceId, campaignId: of }}>
            this campaign
          </RouteLink>
        </Text>
      )}
      {told !== '' && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {told}
        </Text>
      )}
    </>
  );
}

/** `dueAt` is "due at". */
function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function ObjectLink({ entry: { objectKind, objectId, action }, children }: { entry: AuditEntry; children: ReactNode }) {
  const { id: workspaceId } = useWorkspace();
  if (objectId === null) return children;
  switch (objectKind) {
    case 'campaign':
      return (
        <RouteLink to="/w/$workspaceId/campaigns/$campaignId" params={{ workspaceId, campaignId: objectId }}>
          {children}
        </RouteLink>
      );
    case 'segment':
      return (
        <RouteLink to="/w/$workspaceId/segments/$segmentId" params={{ workspaceId, segmentId: objectId }}>
          {children}
        </RouteLink>
      );
    case 'person':
      // The line of an erasure names the erasure, not whom it is about.
      return action === 'person.erase' || action === 'person.erase-cancel' ? (
        children
      ) : (
        <RouteLink to="/w/$workspaceId/people/$userId" params={{ workspaceId, userId: objectId }}>
          {children}
        </RouteLink>
      );
    case 'key':
      return (
        <RouteLink to="/w/$workspaceId/keys" params={{ workspaceId }}>
          {children}
        </RouteLink>
      );
    case 'credential':
      return (
        <RouteLink to="/w/$workspaceId/providers" params={{ workspaceId }}>
          {children}
        </RouteLink>
      );
    case 'account':
    case 'invitation':
      return (
        <RouteLink to="/w/$workspaceId/accounts" params={{ workspaceId }}>
          {children}
        </RouteLink>
      );
    default:
      return children;
  }
}

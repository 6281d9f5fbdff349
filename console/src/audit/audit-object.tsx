import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { AuditEntry } from '../api/generated/account.ts';
import { RouteLink } from '../parts/route-link.tsx';
import { useWorkspace } from '../shell/workspace.ts';

/** What was changed, as the way to it where it has a screen, and how. */
export function AuditObject({ entry }: { entry: AuditEntry }) {
  const detail = Object.entries(entry.detail)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
  return (
    <>
      <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
        <ObjectLink entry={entry}>{entry.objectName ?? entry.objectId ?? '–'}</ObjectLink>
      </Text>
      {entry.objectName !== null && entry.objectId !== null && (
        <Text size="xs" c="dimmed">
          {entry.objectId}
        </Text>
      )}
      {detail !== '' && (
        <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
          {detail}
        </Text>
      )}
    </>
  );
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

import { Text } from '@mantine/core';
import type { Installation } from '../api/generated/app-access.ts';
import { RouteLink } from '../parts/links.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { platformNames } from '../parts/text/platform-names.ts';
import { Ago } from '../parts/text/time.tsx';
import { useWorkspace } from '../shell/workspace.ts';

/** Apps and sites that registered themselves, with sign-in and sign-out. `hasUsers`: names the user of each. */
export function InstallationTable({ installations, hasUsers }: { installations: Installation[]; hasUsers?: true }) {
  return (
    <DataTable
      label="Installations"
      minWidth={760}
      rows={installations}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'device',
          title: 'Installation',
          cell: ({ id, platform, model, osVersion, appVersion, keyName }) => (
            <>
              <Text size="sm">
                {platform === null ? 'Unknown platform' : platformNames[platform]}, {id}
              </Text>
              <Text size="xs" c="dimmed">
                {[model, osVersion, appVersion && `app ${appVersion}`, keyName && `key ${keyName}`]
                  .filter(Boolean)
                  .join(' · ')}
              </Text>
            </>
          ),
        },
        ...(hasUsers
          ? [
              {
                key: 'user',
                title: 'User',
                cell: (installation: Installation) => <Owner installation={installation} />,
              },
            ]
          : []),
        { key: 'state', title: 'Messages', cell: (installation) => stateOf(installation) },
        { key: 'created', title: 'First seen', cell: ({ createdAt }) => <Ago at={createdAt} /> },
        {
          key: 'in',
          title: 'Signed in',
          cell: ({ signedInAt }) => (signedInAt === null ? '–' : <Ago at={signedInAt} />),
        },
        {
          key: 'out',
          title: 'Signed out',
          cell: ({ signedOutAt }) => (signedOutAt === null ? '–' : <Ago at={signedOutAt} />),
        },
      ]}
    />
  );
}

function Owner({ installation: { userId, customerId, isIdentified } }: { installation: Installation }) {
  const { id: workspaceId } = useWorkspace();
  if (userId === null) return 'None yet';
  return (
    <RouteLink to="/w/$workspaceId/people/$userId" params={{ workspaceId, userId }}>
      {isIdentified ? (customerId ?? userId) : 'Anonymous'}
    </RouteLink>
  );
}

function stateOf({ canReceive, isOptedIn }: Installation): string {
  if (!isOptedIn) return 'Turned off by the user';
  return canReceive ? 'Accepts messages' : 'No push token';
}

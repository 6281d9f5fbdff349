import type { ConsoleMail } from '@carillon/client';
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { consoleClient } from '../console.ts';
import { DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Time } from '../parts/time.tsx';
import { useWorkspace } from '../shell/workspace.ts';

/** Mails about the files of segments. Kept ones were not sent: there is no mail server. */
export function Mails() {
  const { id: workspaceId } = useWorkspace();
  const mails = useQuery({
    queryKey: ['mails', workspaceId],
    queryFn: () => consoleClient.listMails(workspaceId),
    refetchInterval: 5000,
  });
  return (
    <Loaded query={mails}>
      {(all) =>
        all.length === 0 ? (
          <EmptyState title="No mail was asked for">
            A file segment with <code>emails</code> writes to them when its file was worked.
          </EmptyState>
        ) : (
          <MailTable mails={all} />
        )
      }
    </Loaded>
  );
}

function MailTable({ mails }: { mails: ConsoleMail[] }) {
  return (
    <DataTable
      label="Mails"
      minWidth={760}
      rows={mails}
      keyOf={({ id }) => id}
      columns={[
        { key: 'to', title: 'To', cell: ({ recipients }) => recipients.join(', ') },
        {
          key: 'mail',
          title: 'Mail',
          cell: ({ subject, body }) => (
            <>
              <Text size="sm">{subject}</Text>
              <Text size="xs" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
                {body}
              </Text>
            </>
          ),
        },
        {
          key: 'state',
          title: 'State',
          cell: ({ state, error }) => (
            <>
              <StatusBadge status={state} />
              {error !== null && <Text size="xs">{error}</Text>}
            </>
          ),
        },
        { key: 'attempts', title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
        {
          key: 'at',
          title: 'Next or last',
          cell: ({ nextAt, createdAt, endedAt }) => <Time at={nextAt ?? endedAt ?? createdAt} />,
        },
      ]}
    />
  );
}

import { Code, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ConsoleCallback } from '../api/generated/segment-answers.ts';
import { consoleClient } from '../console.ts';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { CopyableBlock } from '../parts/copyable.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Ago, Time } from '../parts/text/time.tsx';
import { useMay } from '../session/use-session.ts';
import { AttemptsButton } from './attempts-button.tsx';

/** Callbacks about segment files, with every attempt. */
export function Callbacks({ callbacks, workspaceId }: { callbacks: ConsoleCallback[]; workspaceId: string }) {
  const queries = useQueryClient();
  const mayResend = useMay('log.resend');
  const [opened, open] = useState<string>();
  return (
    <>
      <DataTable
        label="Callbacks"
        rows={callbacks}
        keyOf={({ id }) => id}
        columns={[
          { key: 'url', title: 'To', cell: ({ url }) => <span style={{ overflowWrap: 'anywhere' }}>{url}</span> },
          {
            key: 'state',
            title: 'State',
            cell: ({ state, silentSince }) => (
              <>
                <StatusBadge status={state} />
                {silentSince !== null && (
                  <Text size="xs" c="dimmed">
                    Receiver stopped answering <Ago at={silentSince} />
                  </Text>
                )}
              </>
            ),
          },
          {
            key: 'tries',
            title: 'Attempts',
            isNumber: true,
            cell: ({ id, attempts, resends }) => (
              <AttemptsButton {...{ attempts, resends }} onOpened={() => open(opened === id ? undefined : id)} />
            ),
          },
          {
            key: 'next',
            title: 'Last or next',
            cell: ({ nextAt, endedAt, createdAt }) => <Ago at={nextAt ?? endedAt ?? createdAt} />,
          },
          {
            key: 'resend',
            title: 'Actions',
            cell: ({ id, url, state }) =>
              mayResend && state !== 'PENDING' ? (
                <ConfirmButton
                  label="Send again"
                  size="compact-xs"
                  color="accent"
                  title="Send this callback again?"
                  hits={`${url} gets the same body under the same webhook-id; a receiver that keeps ids drops the repeat.`}
                  onConfirmed={async () => {
                    await consoleClient.messages.resendCallback({ workspaceId, id });
                    await queries.invalidateQueries({ queryKey: ['callbacks', workspaceId] });
                  }}
                />
              ) : null,
          },
        ]}
      />
      {opened !== undefined && <Attempts workspaceId={workspaceId} id={opened} />}
    </>
  );
}

function Attempts({ workspaceId, id }: { workspaceId: string; id: string }) {
  const callback = useQuery({
    queryKey: ['callback', workspaceId, id],
    queryFn: () => consoleClient.messages.readCallback({ workspaceId, id }),
    refetchInterval: 2000,
  });
  return (
    <Loaded query={callback}>
      {({ tries, body }) => (
        <>
          <DataTable
            label="Attempts of the callback"
            rows={tries}
            keyOf={({ resend, attempt }) => `${resend} ${attempt}`}
            columns={[
              { key: 'at', title: 'When', cell: ({ at }) => <Time at={at} /> },
              {
                key: 'answer',
                title: 'Answer',
                cell: ({ status, error }) => (
                  <>
                    {status !== null && <Code>HTTP {status}</Code>} {error}
                  </>
                ),
              },
              {
                key: 'took',
                title: 'Took',
                isNumber: true,
                cell: ({ durationMilliseconds }) => `${Math.round(durationMilliseconds)} ms`,
              },
            ]}
          />
          <CopyableBlock text={body} label="body of the callback" />
        </>
      )}
    </Loaded>
  );
}

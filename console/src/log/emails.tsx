import { Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ConsoleEmail } from '../api/generated/segment-answers.ts';
import { consoleClient } from '../console.ts';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Ago, Time } from '../parts/text/time.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import styles from './emails.module.css';
import { AttemptsButton } from './attempts-button.tsx';

/** Emails about segment files, with every attempt. Without a mail server they are stored and not sent. */
export function Emails({ emails }: { emails: ConsoleEmail[] }) {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const mayResend = useMay('log.resend');
  const [opened, open] = useState<string>();
  if (emails.length === 0)
    return (
      <EmptyState title="No emails yet">
        A file segment with <code>emails</code> sends them an email once its file has been processed.
      </EmptyState>
    );
  return (
    <>
      <DataTable
        label="Emails"
        minWidth={860}
        rows={emails}
        keyOf={({ id }) => id}
        columns={[
          { key: 'to', title: 'To', cell: ({ recipients }) => recipients.join(', ') },
          {
            key: 'mail',
            title: 'Email',
            cell: ({ subject, body }) => (
              <>
                <Text size="sm">{subject}</Text>
                <details>
                  <summary className={styles.text}>Show text</summary>
                  <Text size="xs" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
                    {body}
                  </Text>
                </details>
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
          {
            key: 'attempts',
            title: 'Attempts',
            isNumber: true,
            cell: ({ id, subject, attempts, resends }) => (
              <AttemptsButton
                {...{ attempts, resends }}
                ariaLabel={`attempts of ${subject}`}
                onOpened={() => open(opened === id ? undefined : id)}
              />
            ),
          },
          {
            key: 'at',
            title: 'Last or next',
            cell: ({ nextAt, createdAt, endedAt }) => <Ago at={nextAt ?? endedAt ?? createdAt} />,
          },
          {
            key: 'resend',
            title: 'Actions',
            cell: ({ id, subject, recipients, state }) =>
              mayResend && state !== 'PENDING' ? (
                <ConfirmButton
                  label="Send again"
                  ariaLabel={`Send again: ${subject}`}
                  size="compact-xs"
                  color="accent"
                  title="Send this email again?"
                  hits={`${recipients.join(', ')} get the same text under the same Message-ID.`}
                  onConfirmed={async () => {
                    await consoleClient.messages.resendEmail({ workspaceId, id });
                    await queries.invalidateQueries({ queryKey: ['mails', workspaceId] });
                    await queries.invalidateQueries({ queryKey: ['mail', workspaceId, id] });
                  }}
                />
              ) : null,
          },
        ]}
      />
      {opened !== undefined && <Attempts id={opened} />}
    </>
  );
}

function Attempts({ id }: { id: string }) {
  const { id: workspaceId } = useWorkspace();
  const email = useQuery({
    queryKey: ['mail', workspaceId, id],
    queryFn: () => consoleClient.messages.readEmail({ workspaceId, id }),
    refetchInterval: 2000,
  });
  return (
    <Loaded query={email}>
      {({ tries }) =>
        tries.length === 0 ? (
          <Text size="sm">It was not sent: no mail server was configured at the time.</Text>
        ) : (
          <DataTable
            label="Attempts of the email"
            rows={tries}
            keyOf={({ resend, attempt }) => `${resend} ${attempt}`}
            columns={[
              {
                key: 'attempt',
                title: 'Attempt',
                cell: ({ resend, attempt }) => (resend === 0 ? attempt : `${attempt} of resend ${resend}`),
              },
              { key: 'at', title: 'When', cell: ({ at }) => <Time at={at} /> },
              {
                key: 'answer',
                title: 'Mail server response',
                cell: ({ answer, isTaken }) => (
                  <>
                    <StatusBadge status={isTaken ? 'SENT' : 'FAILED'} /> <Text size="xs">{answer}</Text>
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
        )
      }
    </Loaded>
  );
}

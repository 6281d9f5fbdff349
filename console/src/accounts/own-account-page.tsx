import { Button, Card, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { resetSent } from '../parts/forms/reset-sent.ts';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { Ago } from '../parts/text/time.tsx';
import { NewPasswordField } from '../session/new-password-field.tsx';
import { usePasswordsOf } from '../session/use-entrance.ts';
import { OwnAgentTokens } from './agent-tokens.tsx';
import { FactorCards } from './second-factors.tsx';
import { useRoleNames, useSession } from '../session/use-session.ts';

/** The signed-in user's own account: sessions, second factors and password. */
export function AccountPage() {
  const { account } = useSession();
  const hasPassword = usePasswordsOf();
  const roleNames = useRoleNames();
  const isOwner = account.roles.includes('owner');
  return (
    <Stack gap="lg">
      <PageHeader about={`${account.email ?? account.name} · ${roleNames} in this workspace`} />
      <Sessions />
      <OwnAgentTokens />
      {account.id !== null && <FactorCards />}
      {account.id !== null && hasPassword(isOwner ? 'owner' : null) && <PasswordCard />}
    </Stack>
  );
}

function Sessions() {
  const queries = useQueryClient();
  const sessions = useQuery({
    queryKey: ['own-sessions'],
    queryFn: () => consoleClient.accounts.listOwnSessions(),
  });
  const end = async (id: string) => {
    await consoleClient.accounts.endOwnSession(id);
    await queries.invalidateQueries({ queryKey: ['own-sessions'] });
  };
  return (
    <Loaded query={sessions}>
      {(rows) => (
        <DataTable
          label="Where you are signed in"
          rows={rows}
          keyOf={({ id }) => id}
          columns={[
            {
              key: 'where',
              title: 'Where',
              cell: (session) => (
                <>
                  <Text size="sm">{session.userAgent || 'Unknown program'}</Text>
                  <Text size="xs">{session.sourceAddress}</Text>
                </>
              ),
            },
            { key: 'since', title: 'Since', cell: ({ createdAt }) => <Ago at={createdAt} clock="real" /> },
            { key: 'seen', title: 'Last seen', cell: ({ lastSeenAt }) => <Ago at={lastSeenAt} clock="real" /> },
            {
              key: 'end',
              title: 'Actions',
              cell: (session) =>
                session.isThis ? (
                  'This one'
                ) : (
                  <ConfirmButton
                    label="End"
                    size="compact-xs"
                    ariaLabel={`End the session of ${session.sourceAddress}`}
                    title="End this session?"
                    hits={`${session.userAgent || 'The program'} at ${session.sourceAddress} is signed out at once.`}
                    onConfirmed={() => end(session.id)}
                  />
                ),
            },
          ]}
        />
      )}
    </Loaded>
  );
}

function PasswordCard() {
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (fields: FormData) =>
      consoleClient.accounts.changePassword({
        current: String(fields.get('current')),
        password: String(fields.get('password')),
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['own-sessions'] }),
  });
  return (
    <Card withBorder maw={480}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const form = event.currentTarget;
          const fields = new FormData(form);
          change.mutate(fields, { onSuccess: () => resetSent(form, fields) });
        }}
      >
        <Stack>
          <Title order={2} size="h5">
            Change password
          </Title>
          {change.error !== null && <Failure error={change.error} />}
          {change.isSuccess && (
            <Text size="sm" role="status">
              Password changed. All other sessions have ended.
            </Text>
          )}
          <PasswordInput name="current" label="Current password" autoComplete="current-password" required />
          <NewPasswordField />
          <Button type="submit" loading={change.isPending}>
            Change password
          </Button>
        </Stack>
      </form>
    </Card>
  );
}

import { Button, Group, NativeSelect, Stack, Text, Title, Card, TextInput, Alert } from '@mantine/core';
import { useQuery, useQueryClient, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { ConsoleAccount, ConsoleInvitation, OneTimeLink, Role } from '../api/generated/accounts.ts';
import { consoleClient } from '../console.ts';
import { Copyable } from '../parts/copyable.tsx';
import { Failure } from '../parts/failure.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Ago, Time } from '../parts/text/time.tsx';
import { usePasswordsOf } from '../session/use-entrance.ts';

/** The accounts that may sign in, and their roles. */
export function AccountsPage() {
  const queries = useQueryClient();
  const accounts = useQuery({ queryKey: ['accounts'], queryFn: () => consoleClient.accounts.list() });
  const [shown, show] = useState<{ title: string; link: OneTimeLink }>();
  const [isAsked, ask] = useState(false);
  const renew = () => queries.invalidateQueries({ queryKey: ['accounts'] });
  return (
    <Stack gap="lg">
      <PageHeader
        about="Who may open this console, and what they may do."
        actions={!isAsked && <Button onClick={() => ask(true)}>Invite colleague</Button>}
      />
      {shown && <OneTimeLinkAlert title={shown.title} link={shown.link} />}
      {isAsked && (
        <InviteForm
          onInvited={(email, link) => {
            show({ title: `Invitation of ${email}`, link });
            ask(false);
            void renew();
          }}
          onLeave={() => ask(false)}
        />
      )}
      <Loaded query={accounts}>
        {(data) => (
          <>
            <AccountTable
              accounts={data.accounts}
              onChanged={renew}
              onLink={(account, link) => show({ title: `New password for ${account.email}`, link })}
            />
            {data.invitations.length > 0 && <InvitationTable invitations={data.invitations} onChanged={renew} />}
          </>
        )}
      </Loaded>
    </Stack>
  );
}

type AccountTableProps = {
  accounts: ConsoleAccount[];
  onChanged: () => Promise<unknown>;
  onLink: (account: ConsoleAccount, link: OneTimeLink) => void;
};

function AccountTable({ accounts, onChanged, onLink }: AccountTableProps) {
  const [error, setError] = useState<Error>();
  const change = async (work: Promise<unknown>) => {
    setError(undefined);
    await work.catch(setError);
    await onChanged();
  };
  return (
    <section>
      {error && <Failure error={error} />}
      <DataTable
        label="Accounts"
        minWidth={760}
        rows={accounts}
        keyOf={({ id }) => id}
        columns={[
          {
            key: 'person',
            title: 'Person',
            cell: ({ name, email, disabledAt }) => (
              <>
                <Text component="div" size="sm" fw={600}>
                  {name} {disabledAt !== null && <StatusBadge status="DISABLED" />}
                </Text>
                <Text size="xs">{email}</Text>
              </>
            ),
          },
          {
            key: 'role',
            title: 'Role',
            cell: ({ id, email, role }) => (
              <NativeSelect
                size="xs"
                aria-label={`Role of ${email}`}
                value={role}
                data={roleOptions}
                onChange={(event) =>
                  void change(consoleClient.accounts.changeRole({ id, role: event.currentTarget.value as Role }))
                }
              />
            ),
          },
          {
            key: 'seen',
            title: 'Last signed in',
            cell: ({ signedInAt }) => (signedInAt === null ? 'never' : <Ago at={signedInAt} clock="real" />),
          },
          {
            key: 'actions',
            title: 'Actions',
            cell: (account) => (
              <AccountActions account={account} onChanged={onChanged} onLink={(link) => onLink(account, link)} />
            ),
          },
        ]}
      />
    </section>
  );
}

type AccountActionsProps = {
  account: ConsoleAccount;
  onChanged: () => Promise<unknown>;
  onLink: (link: OneTimeLink) => void;
};

function AccountActions({ account, onChanged, onLink }: AccountActionsProps) {
  const { id, email, name, role, disabledAt } = account;
  const hasPassword = usePasswordsOf();
  if (disabledAt !== null)
    return (
      <ConfirmButton
        label="Enable"
        size="compact-xs"
        color="accent"
        ariaLabel={`Enable ${email}`}
        title={`Enable ${name}?`}
        hits={`${email} can sign in again, with the old password and role.`}
        onConfirmed={async () => {
          await consoleClient.accounts.enable(id);
          await onChanged();
        }}
      />
    );
  return (
    <Group gap="xs">
      {hasPassword(role) && (
        <ConfirmButton
          label="New password"
          size="compact-xs"
          color="accent"
          ariaLabel={`Create a password link for ${email}`}
          title={`A new password for ${name}?`}
          hits={`You get a link to pass on. Using it ends every session of ${email}.`}
          onConfirmed={async () => onLink(await consoleClient.accounts.makePasswordLink(id))}
        />
      )}
      <ConfirmButton
        label="Disable"
        size="compact-xs"
        ariaLabel={`Disable ${email}`}
        title={`Disable ${name}?`}
        hits={`${email} is signed out everywhere at once and cannot sign in until enabled again.`}
        onConfirmed={async () => {
          await consoleClient.accounts.disable(id);
          await onChanged();
        }}
      />
    </Group>
  );
}

type InvitationTableProps = { invitations: ConsoleInvitation[]; onChanged: () => Promise<unknown> };

function InvitationTable({ invitations, onChanged }: InvitationTableProps) {
  return (
    <section>
      <Title order={2} size="h5" mb="sm">
        Pending invitations
      </Title>
      <DataTable
        label="Pending invitations"
        rows={invitations}
        keyOf={({ id }) => id}
        columns={[
          { key: 'email', title: 'Email address', cell: ({ email }) => email },
          { key: 'role', title: 'Role', cell: ({ role }) => role },
          { key: 'by', title: 'Invited by', cell: ({ createdBy }) => createdBy },
          { key: 'until', title: 'Until', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
          {
            key: 'withdraw',
            title: 'Actions',
            cell: ({ id, email }) => (
              <ConfirmButton
                label="Withdraw"
                size="compact-xs"
                ariaLabel={`Withdraw the invitation of ${email}`}
                title="Withdraw this invitation?"
                hits={`The link that ${email} has stops working.`}
                onConfirmed={async () => {
                  await consoleClient.accounts.withdrawInvitation(id);
                  await onChanged();
                }}
              />
            ),
          },
        ]}
      />
    </section>
  );
}

type InviteFormProps = { onInvited: (email: string, link: OneTimeLink) => void; onLeave: () => void };

function InviteForm({ onInvited, onLeave }: InviteFormProps) {
  const invite = useMutation({
    mutationFn: (user: { email: string; role: Role }) => consoleClient.accounts.invite(user),
    onSuccess: (link, { email }) => onInvited(email, link),
  });
  return (
    <Card withBorder>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const fields = new FormData(event.currentTarget);
          const user = { email: String(fields.get('email')), role: String(fields.get('role')) as Role };
          invite.mutate(user);
        }}
      >
        <Stack>
          <Title order={2} size="h5">
            Invite a colleague
          </Title>
          {invite.error !== null && <Failure error={invite.error} />}
          <Group align="flex-end">
            <TextInput name="email" label="Email address" autoComplete="off" inputMode="email" required />
            <NativeSelect name="role" label="Role" data={roleOptions} defaultValue="marketer" />
            <Button type="submit" loading={invite.isPending}>
              Create invitation
            </Button>
            <Button variant="default" onClick={onLeave}>
              Cancel
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}

/** A link that is shown once, because the server stores only its hash. */
function OneTimeLinkAlert({ link, title }: { link: OneTimeLink; title: string }) {
  // Without a configured public URL the server returns a path. This page's own origin is correct; the Host header of a
  // request may not be.
  const address = new URL(link.link, location.origin).href;
  return (
    <Alert title={title} role="status">
      <Text size="sm" mb="xs">
        Pass it on privately. It is shown only once, works once, and expires on <Time at={link.expiresAt} />.
      </Text>
      <Copyable text={address} label="link" />
    </Alert>
  );
}

/** The purpose of each role in one line. docs/console.md has the complete table. */
const roleNames: Record<Role, string> = {
  owner: 'Owner: everything, including accounts',
  marketer: 'Marketer: campaigns and segments',
  analyst: 'Analyst: reads reports only',
  developer: 'Developer: keys, logs, people, the sandbox',
};

const roleOptions = (Object.keys(roleNames) as Role[]).map((role) => ({ value: role, label: roleNames[role] }));

import { Button, Group, Stack, Text, Title, Alert } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ConsoleInvitation, ListedAccount, OneTimeLink } from '../api/generated/accounts.ts';
import { consoleClient } from '../console.ts';
import { Copyable } from '../parts/copyable.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Failure } from '../parts/failure.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Ago, Time } from '../parts/text/time.tsx';
import { usePasswordsOf } from '../session/use-entrance.ts';
import { useSession } from '../session/use-session.ts';
import { AllAgentTokens } from './agent-tokens.tsx';
import { InviteForm } from './invite-form.tsx';
import { useRoleColumns, useRolesOf } from './role-matrix.tsx';

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
            {data.accounts.length === 0 && (
              <EmptyState title="No accounts yet">
                You are signed in through the link of the sandbox, which has no account. Invite the first colleague: an
                invitation is a link that works once.
              </EmptyState>
            )}
            {data.accounts.length > 0 && (
              <AccountTable
                accounts={data.accounts}
                onChanged={renew}
                onLink={(account, link) => show({ title: `New password for ${account.email}`, link })}
              />
            )}
            {data.invitations.length > 0 && <InvitationTable invitations={data.invitations} onChanged={renew} />}
            <AllAgentTokens />
          </>
        )}
      </Loaded>
    </Stack>
  );
}

type AccountTableProps = {
  accounts: ListedAccount[];
  onChanged: () => Promise<unknown>;
  onLink: (account: ListedAccount, link: OneTimeLink) => void;
};

function AccountTable({ accounts, onChanged, onLink }: AccountTableProps) {
  const [error, setError] = useState<Error>();
  const change = async (work: Promise<unknown>) => {
    setError(undefined);
    await work.catch(setError);
    await onChanged();
  };
  const roleColumns = useRoleColumns((changed) => void change(consoleClient.accounts.changeRole(changed)));
  const { workspaces } = useSession();
  return (
    <section>
      {error && <Failure error={error} />}
      <DataTable
        label="Accounts"
        minWidth={640 + 140 * (workspaces.length + 1)}
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
          ...roleColumns,
          {
            key: 'factor',
            title: 'Second factor',
            cell: ({ hasSecondFactor }) => (hasSecondFactor ? 'Yes' : 'No'),
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
  account: ListedAccount;
  onChanged: () => Promise<unknown>;
  onLink: (link: OneTimeLink) => void;
};

function AccountActions({ account, onChanged, onLink }: AccountActionsProps) {
  const { id, email, name, role, disabledAt, hasSecondFactor } = account;
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
          ariaLabel={`New password for ${email}`}
          title={`A new password for ${name}?`}
          hits={`You get a link to pass on. Using it ends every session of ${email}.`}
          onConfirmed={async () => onLink(await consoleClient.accounts.makePasswordLink(id))}
        />
      )}
      {hasSecondFactor && (
        <ConfirmButton
          label="Reset second factor"
          size="compact-xs"
          ariaLabel={`Reset second factor of ${email}`}
          title={`Reset the second factor of ${name}?`}
          hits={`For a user who lost the phone and the recovery codes. All passkeys, the app and the codes of ${email} are removed, and all sessions end. The password stays. Make sure that it is ${name} who asks.`}
          onConfirmed={async () => {
            await consoleClient.accounts.resetFactors(id);
            await onChanged();
          }}
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
  const rolesOf = useRolesOf();
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
          { key: 'roles', title: 'Roles', cell: rolesOf },
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

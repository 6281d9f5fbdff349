import { Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { consoleClient } from '../console.ts';
import { Loaded } from '../parts/loaded.tsx';
import { CompanyButton } from './company-button.tsx';
import { EntranceForm } from './entrance-form.tsx';
import { LinkFailure, linkFaultOf } from './link-failure.tsx';
import { SignIn } from './sign-in.tsx';
import type { EntranceProps } from './use-entrance.ts';
import { NewPasswordField } from './new-password-field.tsx';
import { useEntrance, usePasswordsOf } from './use-entrance.ts';

export function InvitationForm({ code, onEntered }: EntranceProps & { code: string }) {
  const invitation = useQuery({
    queryKey: ['invitation'],
    queryFn: () => consoleClient.accounts.readInvitation(code),
    staleTime: Infinity,
  });
  const entrance = useEntrance();
  const hasPassword = usePasswordsOf();
  if (linkFaultOf(invitation.error) !== undefined)
    return (
      <Stack>
        <LinkFailure error={invitation.error!} kind="invitation" />
        <SignIn refusal={undefined} onEntered={onEntered} />
      </Stack>
    );
  return (
    <Loaded query={invitation}>
      {({ email, role, invitedBy }) => (
        <Stack>
          {entrance?.company && <CompanyButton name={entrance.company.name} />}
          {!hasPassword(role) ? (
            <Text size="sm">
              {invitedBy} invites {email} as {role}. Sign in with the company account of that address.
            </Text>
          ) : (
            <PasswordInvitation {...{ code, email, role, invitedBy, onEntered }} />
          )}
        </Stack>
      )}
    </Loaded>
  );
}

type PasswordInvitationProps = EntranceProps & { code: string; email: string; role: string; invitedBy: string };

function PasswordInvitation({ code, email, role, invitedBy, onEntered }: PasswordInvitationProps) {
  return (
    <EntranceForm
      title="You are invited"
      about={`${invitedBy} invites ${email} as ${role}.`}
      action="Create account"
      onSubmit={(field) =>
        consoleClient.accounts.acceptInvitation({ code, name: field('name'), password: field('password') })
      }
      onEntered={onEntered}
      failure={(error) => <LinkFailure error={error} kind="invitation" />}
    >
      <input type="hidden" name="email" value={email} autoComplete="username" />
      <TextInput name="name" label="Name" autoComplete="name" required />
      <NewPasswordField />
    </EntranceForm>
  );
}

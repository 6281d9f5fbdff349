import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { consoleClient } from '../console.ts';
import { Loaded } from '../parts/loaded.tsx';
import { EntranceForm } from './entrance-form.tsx';
import type { EntranceProps } from './entrance-page.tsx';
import { NewPasswordField } from './new-password-field.tsx';

export function InvitationForm({ code, onEntered }: EntranceProps & { code: string }) {
  const invitation = useQuery({
    queryKey: ['invitation'],
    queryFn: () => consoleClient.accounts.readInvitation(code),
    staleTime: Infinity,
  });
  return (
    <Loaded query={invitation}>
      {({ email, role, invitedBy }) => (
        <EntranceForm
          title="You are invited"
          about={`${invitedBy} invites ${email} as ${role}.`}
          action="Create the account"
          onSubmit={(field) =>
            consoleClient.accounts.acceptInvitation({ code, name: field('name'), password: field('password') })
          }
          onEntered={onEntered}
        >
          <input type="hidden" name="email" value={email} autoComplete="username" />
          <TextInput name="name" label="Name" autoComplete="name" required />
          <NewPasswordField />
        </EntranceForm>
      )}
    </Loaded>
  );
}

import { TextInput } from '@mantine/core';
import { consoleClient } from '../console.ts';
import { EntranceForm } from './entrance-form.tsx';
import { LinkFailure } from './link-failure.tsx';
import type { EntranceProps } from './use-entrance.ts';
import { NewPasswordField } from './new-password-field.tsx';

export function FirstOwnerForm({ code, onEntered }: EntranceProps & { code: string }) {
  return (
    <EntranceForm
      title="The first owner"
      about="This installation has no accounts yet. The first one is the owner and invites the others."
      action="Create account"
      onSubmit={(field) =>
        consoleClient.accounts.createFirstOwner({
          code,
          name: field('name'),
          email: field('email'),
          password: field('password'),
        })
      }
      onEntered={onEntered}
      failure={(error) => <LinkFailure error={error} kind="first-owner" />}
    >
      <TextInput name="name" label="Name" autoComplete="name" required />
      <TextInput name="email" label="Email address" autoComplete="username" inputMode="email" required />
      <NewPasswordField />
    </EntranceForm>
  );
}

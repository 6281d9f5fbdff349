import { consoleClient } from '../console.ts';
import { EntranceForm } from './entrance-form.tsx';
import { LinkFailure } from './link-failure.tsx';
import type { EntranceProps } from './use-entrance.ts';
import { NewPasswordField } from './new-password-field.tsx';

export function NewPasswordForm({ code, onEntered }: EntranceProps & { code: string }) {
  return (
    <EntranceForm
      title="A new password"
      about="It takes effect at once and ends all existing sessions."
      action="Set password"
      onSubmit={(field) => consoleClient.accounts.setNewPassword({ code, password: field('password') })}
      onEntered={onEntered}
      failure={(error) => <LinkFailure error={error} kind="new-password" />}
    >
      <NewPasswordField />
    </EntranceForm>
  );
}

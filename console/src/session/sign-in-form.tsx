import { Code, PasswordInput, TextInput } from '@mantine/core';
import { consoleClient } from '../console.ts';
import { EntranceForm } from './entrance-form.tsx';
import type { EntranceProps } from './use-entrance.ts';

export function SignInForm({ onEntered }: EntranceProps) {
  return (
    <EntranceForm
      title="You are not signed in"
      about={
        <>
          In a sandbox, open the console link that the start printed. It works once, within a day;{' '}
          <Code>npm run carillon -- console-link</Code> prints a new one. Forgot your password? Ask an owner for a link.
        </>
      }
      action="Sign in"
      onSubmit={(field) => consoleClient.accounts.signIn({ email: field('email'), password: field('password') })}
      onEntered={onEntered}
    >
      <TextInput name="email" label="Email address" autoComplete="username" inputMode="email" required />
      <PasswordInput name="password" label="Password" autoComplete="current-password" required />
    </EntranceForm>
  );
}

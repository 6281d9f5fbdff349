import { PasswordInput } from '@mantine/core';

export function NewPasswordField() {
  return (
    <PasswordInput
      name="password"
      label="New password"
      description="12 characters or more; a sentence is good"
      autoComplete="new-password"
      minLength={12}
      required
    />
  );
}

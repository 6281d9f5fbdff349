import { PasswordInput } from '@mantine/core';

export function NewPasswordField() {
  return (
    <PasswordInput
      name="password"
      label="New password"
      description="At least 12 characters; a sentence works well"
      autoComplete="new-password"
      minLength={12}
      required
    />
  );
}

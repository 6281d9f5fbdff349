import { PasswordInput } from '@mantine/core';

export function NewPasswordField() {
  return (
    <PasswordInput
      name="password"
      label="New password"
      description="At least 12 characters; a few unrelated words work well"
      autoComplete="new-password"
      minLength={12}
      required
    />
  );
}

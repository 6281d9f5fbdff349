import { Button, Card, Group, NativeSelect, Stack, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { OneTimeLink } from '../api/generated/account.ts';
import type { Role } from '../api/generated/session.ts';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { resetSent } from '../parts/reset-sent.ts';
import { roleOptions } from './role-names.ts';

export function InviteForm({ onInvited }: { onInvited: (email: string, link: OneTimeLink) => void }) {
  const invite = useMutation({
    mutationFn: (user: { email: string; role: Role }) => consoleClient.accounts.invite(user),
    onSuccess: (link, { email }) => onInvited(email, link),
  });
  return (
    <Card withBorder>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const form = event.currentTarget;
          const fields = new FormData(form);
          const user = { email: String(fields.get('email')), role: String(fields.get('role')) as Role };
          invite.mutate(user, { onSuccess: () => resetSent(form, fields) });
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
          </Group>
        </Stack>
      </form>
    </Card>
  );
}

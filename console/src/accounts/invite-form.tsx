import { Button, Card, Group, NativeSelect, Stack, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { OneTimeLink, Role } from '../api/generated/accounts.ts';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { roleOptions } from './role-names.ts';

type InviteFormProps = { onInvited: (email: string, link: OneTimeLink) => void; onLeave: () => void };

export function InviteForm({ onInvited, onLeave }: InviteFormProps) {
  const invite = useMutation({
    mutationFn: (user: { email: string; role: Role }) => consoleClient.accounts.invite(user),
    onSuccess: (link, { email }) => onInvited(email, link),
  });
  return (
    <Card withBorder>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const fields = new FormData(event.currentTarget);
          const user = { email: String(fields.get('email')), role: String(fields.get('role')) as Role };
          invite.mutate(user);
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
            <Button variant="default" onClick={onLeave}>
              Cancel
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}

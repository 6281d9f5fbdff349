import { Button, Card, Group, NativeSelect, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { OneTimeLink, Role } from '../api/generated/accounts.ts';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { useSession } from '../session/use-session.ts';
import { readRole, roleOptions } from './role-matrix.tsx';

type InviteFormProps = { onInvited: (email: string, link: OneTimeLink) => void; onLeave: () => void };

/** Invites a colleague with a role in all workspaces, roles in single ones, or both. */
export function InviteForm({ onInvited, onLeave }: InviteFormProps) {
  const { workspaces } = useSession();
  const invite = useMutation({
    mutationFn: (user: { email: string; role: Role | null; workspaceRoles: Record<string, Role> }) =>
      consoleClient.accounts.invite(user),
    onSuccess: (link, { email }) => onInvited(email, link),
  });
  function read(form: HTMLFormElement) {
    const fields = new FormData(form);
    const chosen = workspaces.flatMap(({ id }) => {
      const role = readRole(fields.get(`role-${id}`));
      return role === null ? [] : [[id, role] as const];
    });
    const workspaceRoles = Object.fromEntries(chosen) as Record<string, Role>;
    return { email: String(fields.get('email')), role: readRole(fields.get('role')), workspaceRoles };
  }
  return (
    <Card withBorder>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          invite.mutate(read(event.currentTarget));
        }}
      >
        <Stack>
          <Title order={2} size="h5">
            Invite a colleague
          </Title>
          {invite.error !== null && <Failure error={invite.error} />}
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
            <TextInput name="email" label="Email address" autoComplete="off" inputMode="email" required />
            <NativeSelect
              name="role"
              label="Role in all workspaces"
              data={roleOptions}
              defaultValue={workspaces.length === 1 ? 'marketer' : ''}
            />
          </SimpleGrid>
          {workspaces.length > 1 && <WorkspaceRoleFields />}
          <Group>
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

const workspaceOptions = [{ value: '', label: 'No role' }, ...roleOptions.slice(1)];

function WorkspaceRoleFields() {
  const { workspaces } = useSession();
  return (
    <div role="group" aria-label="Roles in single workspaces">
      <Text size="sm" mb="xs">
        Colleagues see only the workspaces in which they have a role.
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
        {workspaces.map(({ id, name }) => (
          <NativeSelect key={id} name={`role-${id}`} label={`Role in ${name}`} data={workspaceOptions} />
        ))}
      </SimpleGrid>
    </div>
  );
}

import { Button, Group, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';

/** Makes a person by hand, for tests; the page of that person opens. */
export function AddUserForm({ workspaceId, onLeave }: { workspaceId: string; onLeave: () => void }) {
  const navigate = useNavigate();
  const add = useMutation({
    mutationFn: (customerId: string) => consoleClient.users.add({ workspaceId, customerId }),
    onSuccess: ({ id }) =>
      navigate({ to: '/w/$workspaceId/people/$userId', params: { workspaceId, userId: id }, search: {} }),
  });
  return (
    <form
      aria-label="Add a user"
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate(String(new FormData(event.currentTarget).get('customerId')).trim());
      }}
    >
      <Group align="end" gap="sm">
        <TextInput name="customerId" label="User id of the new user" required />
        <Button type="submit" loading={add.isPending}>
          Add user
        </Button>
        <Button variant="default" onClick={onLeave}>
          Cancel
        </Button>
      </Group>
      {add.error !== null && <Failure error={add.error} />}
    </form>
  );
}

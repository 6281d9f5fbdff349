import { Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { consoleClient } from '../console.ts';
import { Emails } from '../log/emails.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { useWorkspace } from '../shell/workspace.ts';

/** Mails are kept instead of sent where no mail server is set. */
export function KeptEmails() {
  const { id: workspaceId } = useWorkspace();
  const emails = useQuery({
    queryKey: ['mails', workspaceId],
    queryFn: () => consoleClient.messages.listEmails({ workspaceId }),
    refetchInterval: 5000,
  });
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Kept emails
      </Title>
      <Loaded query={emails}>{({ emails: all }) => <Emails emails={all} />}</Loaded>
    </section>
  );
}

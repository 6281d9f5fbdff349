import { Title } from '@mantine/core';
import { Mails } from '../log/mails.tsx';

/** Mails are kept instead of sent where no mail server is set. */
export function KeptMails() {
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        In the mailbox
      </Title>
      <Mails />
    </section>
  );
}

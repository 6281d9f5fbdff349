import { Container, Title } from '@mantine/core';
import { FirstOwnerForm } from './first-owner-form.tsx';
import { InvitationForm } from './invitation-form.tsx';
import { NewPasswordForm } from './new-password-form.tsx';
import { SignInForm } from './sign-in-form.tsx';
import type { Link } from './take-link.ts';

export type EntranceProps = { onEntered: () => void };

/** What somebody sees who is not signed in. */
export function EntrancePage({ link, onEntered }: EntranceProps & { link: Link | undefined }) {
  return (
    <Container size="xs" py="xl" component="main">
      <Title order={1} size="h2" mb="md">
        Carillon
      </Title>
      <Entrance link={link} onEntered={onEntered} />
    </Container>
  );
}

function Entrance({ link, onEntered }: EntranceProps & { link: Link | undefined }) {
  switch (link?.kind) {
    case 'first-owner':
      return <FirstOwnerForm code={link.code} onEntered={onEntered} />;
    case 'invitation':
      return <InvitationForm code={link.code} onEntered={onEntered} />;
    case 'new-password':
      return <NewPasswordForm code={link.code} onEntered={onEntered} />;
    default:
      return <SignInForm onEntered={onEntered} />;
  }
}

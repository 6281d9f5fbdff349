import { Container, Stack, Title } from '@mantine/core';
import { FirstOwnerForm } from './first-owner-form.tsx';
import { InvitationForm } from './invitation-form.tsx';
import { LinkFailure } from './link-failure.tsx';
import { NewPasswordForm } from './new-password-form.tsx';
import { SignIn } from './sign-in.tsx';
import type { Link } from './take-link.ts';
import type { EntranceProps } from './use-entrance.ts';

type EntrancePageProps = EntranceProps & {
  link: Link | undefined;
  /** The word why a company account opened nothing. */
  refusal: string | undefined;
  /** Why the start link of a sandbox opened nothing. */
  linkError: Error | undefined;
};

/** What somebody sees who is not signed in. */
export function EntrancePage(props: EntrancePageProps) {
  return (
    <Container size="xs" py="xl" component="main">
      <Title order={1} size="h2" mb="md">
        Carillon
      </Title>
      <Entrance {...props} />
    </Container>
  );
}

function Entrance({ link, refusal, linkError, onEntered }: EntrancePageProps) {
  switch (link?.kind) {
    case 'first-owner':
      return <FirstOwnerForm code={link.code} onEntered={onEntered} />;
    case 'invitation':
      return <InvitationForm code={link.code} onEntered={onEntered} />;
    case 'new-password':
      return <NewPasswordForm code={link.code} onEntered={onEntered} />;
    default:
      return (
        <Stack>
          {linkError && <LinkFailure error={linkError} kind="sign-in" />}
          <SignIn refusal={refusal} onEntered={onEntered} />
        </Stack>
      );
  }
}

import { Alert, Divider, Stack } from '@mantine/core';
import { CompanyButton } from './company-button.tsx';
import { SignInForm } from './sign-in-form.tsx';
import { useEntrance } from './use-entrance.ts';
import type { EntranceProps } from './use-entrance.ts';

/** Why a company account opened nothing: the address has a word of this list, and no text of its own. */
const refusals: Record<string, string> = {
  expired: 'It took longer than ten minutes or was started in another browser. Start again.',
  provider:
    'The company sign-in did not answer as expected. Try again; if it keeps failing, ask an owner to check the log.',
  unverified:
    'The company sign-in does not confirm that your email address is verified. Ask an owner to check the log.',
  domain: 'Your email address belongs to a domain that has no access here.',
  unknown: 'You have not been invited yet. Ask an owner to invite the address of your company account.',
  taken: 'Your email address has an account here that belongs to another person of the company. Ask an owner.',
  disabled: 'Your account here is disabled. Ask an owner.',
};

/** By the company's account where there is one, and by password. */
export function SignIn({ refusal, onEntered }: EntranceProps & { refusal: string | undefined }) {
  const entrance = useEntrance();
  const company = entrance?.company;
  const sentence = refusal === undefined ? undefined : refusals[refusal];
  return (
    <Stack>
      {sentence !== undefined && (
        <Alert color="red" role="alert" title="The company account did not open the console">
          {sentence}
        </Alert>
      )}
      {company && <CompanyButton name={company.name} />}
      {company && (
        <Divider
          label={entrance?.passwordSignIn === 'owners' ? 'Owners may use a password' : 'or by password'}
          styles={{ label: { color: 'inherit' } }}
        />
      )}
      <SignInForm onEntered={onEntered} />
    </Stack>
  );
}

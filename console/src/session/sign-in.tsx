import { Alert, Divider, Stack } from '@mantine/core';
import { CompanyButton } from './company-button.tsx';
import { SignInForm } from './sign-in-form.tsx';
import { useEntrance } from './use-entrance.ts';
import type { EntranceProps } from './use-entrance.ts';

/** Why a company account opened nothing: the address has a word of this list, and no text of its own. */
const refusals: Record<string, string> = {
  expired: 'It took longer than ten minutes, or began in another browser. Begin again.',
  provider: 'The company’s sign-in did not answer as it must. Try again; if it stays so, an owner looks at the log.',
  unverified: 'The company’s sign-in does not say that your e-mail address is verified.',
  domain: 'Your e-mail address is of a domain that has no access here.',
  unknown: 'Nobody has invited you yet. Ask an owner for an invitation to the address of your company account.',
  taken: 'Your e-mail address has an account here that belongs to another person of the company. Ask an owner.',
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

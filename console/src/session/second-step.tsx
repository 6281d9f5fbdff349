import { startAuthentication } from '@simplewebauthn/browser';
import { Button, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { FactorCards } from '../accounts/second-factors.tsx';
import type { SecondStep as Step } from '../api/generated/second-factors.ts';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { Loaded } from '../parts/loaded.tsx';
import type { EntranceProps } from './use-entrance.ts';

/** The second step of a sign-in: presenting a second factor, or adding the first one where one is required. */
export function SecondStep({ onEntered }: EntranceProps) {
  const step = useQuery({ queryKey: ['second-step'], queryFn: () => consoleClient.accounts.readSecondStep() });
  const leave = useMutation({ mutationFn: () => consoleClient.accounts.signOut(), onSettled: () => location.reload() });
  return (
    <Loaded query={step}>
      {(found) => (
        <Stack>
          {found.stage === 'ENROLMENT' ? (
            <Enrolment onEntered={onEntered} />
          ) : (
            <PresentFactor step={found} onEntered={onEntered} />
          )}
          <Group>
            <Button variant="subtle" size="compact-sm" loading={leave.isPending} onClick={() => leave.mutate()}>
              Cancel and sign out
            </Button>
          </Group>
        </Stack>
      )}
    </Loaded>
  );
}

function PresentFactor({ step, onEntered }: EntranceProps & { step: Step }) {
  const { email, hasAuthenticator, hasPasskey, hasRecoveryCode } = step;
  const passkey = useMutation({
    mutationFn: async () => {
      const optionsJSON = await consoleClient.accounts.askForPasskey();
      return consoleClient.accounts.presentPasskey(await startAuthentication({ optionsJSON }));
    },
    onSuccess: onEntered,
  });
  const code = useMutation({
    mutationFn: (typed: string) => consoleClient.accounts.presentCode(typed),
    onSuccess: onEntered,
  });
  return (
    <Stack>
      <Title order={2} size="h3">
        Confirm that it is you
      </Title>
      <Text size="sm">The password of {email} is right. Now present your second factor.</Text>
      {passkey.error !== null && <Failure error={passkey.error} />}
      {hasPasskey && (
        <Button loading={passkey.isPending} onClick={() => passkey.mutate()}>
          Use a passkey
        </Button>
      )}
      {(hasAuthenticator || hasRecoveryCode) && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            code.mutate(String(new FormData(event.currentTarget).get('code') ?? ''));
          }}
        >
          <Stack>
            {code.error !== null && <Failure error={code.error} />}
            <TextInput
              name="code"
              label={hasAuthenticator ? 'Code of your authenticator app' : 'Recovery code'}
              description={
                hasAuthenticator ? 'Six digits. Without the app, type one of your recovery codes.' : undefined
              }
              autoComplete="one-time-code"
              required
            />
            <Button type="submit" variant={hasPasskey ? 'default' : 'filled'} loading={code.isPending}>
              Sign in
            </Button>
          </Stack>
        </form>
      )}
      <Text size="sm">
        No access to any of them? An owner can reset your second factors under “Accounts and roles”.
      </Text>
    </Stack>
  );
}

function Enrolment({ onEntered }: EntranceProps) {
  return (
    <Stack data-wide>
      <Title order={2} size="h3">
        Add a second factor
      </Title>
      <Text size="sm">
        This installation requires a second factor. Add one within 15 minutes to continue; afterwards you can add more
        under “Sessions and password”.
      </Text>
      <FactorCards onDone={onEntered} />
    </Stack>
  );
}

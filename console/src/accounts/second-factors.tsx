import { startRegistration } from '@simplewebauthn/browser';
import { Alert, Button, Card, Code, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { renderSVG } from 'uqr';
import type { OwnFactors } from '../api/generated/second-factors.ts';
import { consoleClient } from '../console.ts';
import { Copyable } from '../parts/copyable.tsx';
import { Failure } from '../parts/failure.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Ago } from '../parts/text/time.tsx';

/**
 * The second factors of the signed-in user. `onDone` is called once the user has seen the recovery codes of the first one.
 */
export function FactorCards({ onDone }: { onDone?: () => void }) {
  const queries = useQueryClient();
  const factors = useQuery({
    queryKey: ['own-factors'],
    queryFn: () => consoleClient.accounts.readOwnFactors(),
  });
  const [codes, showCodes] = useState<string[]>();
  const changed = async (recoveryCodes: string[] | null) => {
    if (recoveryCodes) showCodes(recoveryCodes);
    await queries.invalidateQueries({ queryKey: ['own-factors'] });
    await queries.invalidateQueries({ queryKey: ['own-sessions'] });
    if (!recoveryCodes) onDone?.();
  };
  if (codes)
    return (
      <RecoveryCodes
        codes={codes}
        onSeen={() => {
          showCodes(undefined);
          onDone?.();
        }}
      />
    );
  return (
    <Loaded query={factors}>
      {(found) => (
        <Stack>
          <AuthenticatorCard factors={found} onChanged={changed} />
          <PasskeyCard factors={found} onChanged={changed} />
          {(found.authenticatorAt !== null || found.passkeys.length > 0) && (
            <RecoveryCard factors={found} onChanged={changed} />
          )}
        </Stack>
      )}
    </Loaded>
  );
}

/** Codes that are shown once, because the server stores only their hashes. */
function RecoveryCodes({ codes, onSeen }: { codes: string[]; onSeen: () => void }) {
  return (
    <Alert title="Your recovery codes" role="status">
      <Stack gap="sm">
        <Text size="sm">
          Keep them where you find them without your phone, for example in a password manager. Each works once instead
          of your second factor. They are shown only now.
        </Text>
        <Copyable text={codes.join('\n')} label="recovery codes" />
        <Group>
          <Button onClick={onSeen}>I have saved them</Button>
        </Group>
      </Stack>
    </Alert>
  );
}

type FactorProps = { factors: OwnFactors; onChanged: (recoveryCodes: string[] | null) => Promise<void> };

function FactorCard({ title, about, children }: { title: string; about: ReactNode; children: ReactNode }) {
  return (
    <Card withBorder maw={640} role="region" aria-label={title}>
      <Stack gap="sm">
        <Title order={2} size="h5">
          {title}
        </Title>
        <Text size="sm" component="div">
          {about}
        </Text>
        {children}
      </Stack>
    </Card>
  );
}

function AuthenticatorCard({ factors, onChanged }: FactorProps) {
  const begin = useMutation({ mutationFn: () => consoleClient.accounts.beginAuthenticator() });
  const confirm = useMutation({
    mutationFn: (code: string) => consoleClient.accounts.confirmAuthenticator(code),
    async onSuccess({ recoveryCodes }) {
      begin.reset();
      await onChanged(recoveryCodes);
    },
  });
  const { authenticatorAt } = factors;
  if (authenticatorAt !== null)
    return (
      <FactorCard
        title="Authenticator app"
        about={
          <>
            Added <Ago at={authenticatorAt} clock="real" />.
          </>
        }
      >
        <Group>
          <ConfirmButton
            label="Remove"
            ariaLabel="Remove the authenticator app"
            title="Remove the authenticator app?"
            hits="Codes of the app stop working, and all other sessions end."
            onConfirmed={async () => {
              await consoleClient.accounts.removeAuthenticator();
              await onChanged(null);
            }}
          />
        </Group>
      </FactorCard>
    );
  return (
    <FactorCard
      title="Authenticator app"
      about="An app on your phone that shows a new six-digit code every 30 seconds."
    >
      {begin.error !== null && <Failure error={begin.error} />}
      {begin.data ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            confirm.mutate(String(new FormData(event.currentTarget).get('code') ?? ''));
          }}
        >
          <Stack gap="sm">
            <Text size="sm">
              Scan this picture with the app, or type the key <Code>{begin.data.secret}</Code>. Then type the code that
              the app shows.
            </Text>
            <img
              src={`data:image/svg+xml,${encodeURIComponent(renderSVG(begin.data.address))}`}
              alt="QR code with the key for the authenticator app"
              width={180}
              height={180}
            />
            {confirm.error !== null && <Failure error={confirm.error} />}
            <TextInput name="code" label="Code" inputMode="numeric" autoComplete="one-time-code" maw={200} required />
            <Group>
              <Button type="submit" loading={confirm.isPending}>
                Add app
              </Button>
            </Group>
          </Stack>
        </form>
      ) : (
        <Group>
          <Button variant="default" loading={begin.isPending} onClick={() => begin.mutate()}>
            Set up an app
          </Button>
        </Group>
      )}
    </FactorCard>
  );
}

function PasskeyCard({ factors, onChanged }: FactorProps) {
  const { passkeys, passkeyFault } = factors;
  const add = useMutation({
    mutationFn: async (name: string) => {
      const optionsJSON = await consoleClient.accounts.askForNewPasskey();
      return consoleClient.accounts.addPasskey({ name, response: await startRegistration({ optionsJSON }) });
    },
    onSuccess: ({ recoveryCodes }) => onChanged(recoveryCodes),
  });
  return (
    <FactorCard title="Passkeys" about="A fingerprint, a face or a security key of this or another device.">
      {passkeys.map((passkey) => (
        <PasskeyRow key={passkey.id} passkey={passkey} onChanged={onChanged} />
      ))}
      {add.error !== null && <Failure error={add.error} />}
      {passkeyFault !== null ? (
        <Text size="sm">Passkeys are not available: {passkeyFault}. Ask the person who runs the server.</Text>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            add.mutate(String(new FormData(event.currentTarget).get('name') ?? ''));
          }}
        >
          <Group align="flex-end">
            <TextInput name="name" label="Name of the new passkey" placeholder="Laptop" maxLength={100} required />
            <Button type="submit" variant="default" loading={add.isPending}>
              Add passkey
            </Button>
          </Group>
        </form>
      )}
    </FactorCard>
  );
}

type PasskeyRowProps = { passkey: OwnFactors['passkeys'][number]; onChanged: FactorProps['onChanged'] };

function PasskeyRow({ passkey, onChanged }: PasskeyRowProps) {
  const { id, name, createdAt, usedAt } = passkey;
  const [isRenamed, setRenamed] = useState(false);
  const rename = useMutation({
    mutationFn: (typed: string) => consoleClient.accounts.renamePasskey({ id, name: typed }),
    async onSuccess() {
      setRenamed(false);
      await onChanged(null);
    },
  });
  if (isRenamed)
    return (
      <form
        onSubmit={(event) => {
          event.preventDefault();
          rename.mutate(String(new FormData(event.currentTarget).get('name') ?? ''));
        }}
      >
        {rename.error !== null && <Failure error={rename.error} />}
        <Group align="flex-end">
          <TextInput name="name" label="New name" defaultValue={name} maxLength={100} required />
          <Button type="submit" variant="default" loading={rename.isPending}>
            Save name
          </Button>
        </Group>
      </form>
    );
  return (
    <Group justify="space-between">
      <div>
        <Text size="sm" fw={600}>
          {name}
        </Text>
        <Text size="xs">
          Added <Ago at={createdAt} clock="real" />, {usedAt === null ? 'not used yet' : 'last used '}
          {usedAt !== null && <Ago at={usedAt} clock="real" />}
        </Text>
      </div>
      <Group gap="xs">
        <Button
          size="compact-xs"
          variant="default"
          aria-label={`Rename the passkey ${name}`}
          onClick={() => setRenamed(true)}
        >
          Rename
        </Button>
        <ConfirmButton
          label="Remove"
          size="compact-xs"
          ariaLabel={`Remove the passkey ${name}`}
          title={`Remove the passkey ${name}?`}
          hits="It can no longer be used here, and all other sessions end."
          onConfirmed={async () => {
            await consoleClient.accounts.removePasskey(id);
            await onChanged(null);
          }}
        />
      </Group>
    </Group>
  );
}

function RecoveryCard({ factors, onChanged }: FactorProps) {
  return (
    <FactorCard
      title="Recovery codes"
      about={`${factors.recoveryCodes} of your codes are left. Each works once, without the app and the passkeys.`}
    >
      <Group>
        <ConfirmButton
          label="New codes"
          color="accent"
          ariaLabel="New codes for recovery"
          title="Create new recovery codes?"
          hits="The codes so far stop working, and all other sessions end."
          onConfirmed={async () => onChanged(await consoleClient.accounts.renewRecoveryCodes())}
        />
      </Group>
    </FactorCard>
  );
}

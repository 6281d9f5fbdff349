import { CarillonError } from '@carillon/client';
import { Card, Stack, Title, Alert, Divider, Code, PasswordInput, TextInput, Button, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import type { ReactNode } from 'react';
import type { OpenInvitation } from '../api/generated/accounts.ts';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { useFonts } from '../theme/use-fonts.ts';
import styles from './entrance.module.css';
import { NewPasswordField } from './new-password-field.tsx';
import type { Link } from './take-link.ts';
import { useEntrance, usePasswordsOf } from './use-entrance.ts';
import type { EntranceProps } from './use-entrance.ts';

// Few sign-ins have a second step, whose libraries are a quarter of the page.
const SecondStep = lazy(async () => ({ default: (await import('./second-step.tsx')).SecondStep }));

type EntrancePageProps = EntranceProps & {
  link: Link | undefined;
  /** The reason why a company account was rejected. */
  refusal: string | undefined;
  /** The reason why a sandbox's start link was rejected. */
  linkError: Error | undefined;
  /** True if the second step of the sign-in is missing. */
  isHalfway: boolean;
};

/** The page of users who are not signed in. */
export function EntrancePage(props: EntrancePageProps) {
  useFonts();
  return (
    <main className={styles.page}>
      <div className={styles.brand}>
        <img src={`${import.meta.env.BASE_URL}favicon.svg`} width={44} height={44} alt="" />
        <Title order={1} size="h2">
          Carillon
        </Title>
      </div>
      <Card withBorder padding="xl" shadow="sm" className={styles.card!}>
        <Entrance {...props} />
      </Card>
      {props.link === undefined && !props.isHalfway && <SignInHelp />}
    </main>
  );
}

/** What users without an account or a password do. */
function SignInHelp() {
  return (
    <Text size="xs" c="dimmed" component="div" className={styles.help!}>
      Forgot your password? Ask an owner for a link. In a sandbox, open the console link that the start printed: it
      works once, within a day. <Code>npm run carillon -- console-link</Code> prints a new one.
    </Text>
  );
}

function Entrance({ link, refusal, linkError, isHalfway, onEntered }: EntrancePageProps) {
  switch (link?.kind) {
    case 'first-owner':
      return <FirstOwnerForm code={link.code} onEntered={onEntered} />;
    case 'invitation':
      return <InvitationForm code={link.code} onEntered={onEntered} />;
    case 'new-password':
      return <NewPasswordForm code={link.code} onEntered={onEntered} />;
    default:
      if (isHalfway)
        return (
          <Suspense fallback={<Waiting />}>
            <SecondStep onEntered={onEntered} />
          </Suspense>
        );
      return (
        <Stack>
          {linkError && <LinkFailure error={linkError} kind="sign-in" />}
          <SignIn refusal={refusal} onEntered={onEntered} />
        </Stack>
      );
  }
}

/** Texts by the reason in the address. The address contains no text itself. */
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
  groups: 'None of your groups at the company gives you a role here. Ask an owner.',
};

/** Sign-in with the company's account, if configured, and with a password. */
function SignIn({ refusal, onEntered }: EntranceProps & { refusal: string | undefined }) {
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

function SignInForm({ onEntered }: EntranceProps) {
  return (
    <EntranceForm
      title="Sign in to the console"
      action="Sign in"
      onSubmit={(field) => consoleClient.accounts.signIn({ email: field('email'), password: field('password') })}
      onEntered={onEntered}
    >
      <TextInput name="email" label="Email address" autoComplete="username" inputMode="email" required />
      <PasswordInput name="password" label="Password" autoComplete="current-password" required />
    </EntranceForm>
  );
}

/** Opens the company's sign-in page, which redirects back. */
function CompanyButton({ name }: { name: string }) {
  const begin = useMutation({
    mutationFn: () => consoleClient.accounts.beginCompanySignIn(),
    onSuccess: (location) => window.location.assign(location),
  });
  return (
    <Stack gap="xs">
      {begin.error !== null && <Failure error={begin.error} />}
      <Button loading={begin.isPending || begin.isSuccess} onClick={() => begin.mutate()}>
        Sign in with {name}
      </Button>
    </Stack>
  );
}

function FirstOwnerForm({ code, onEntered }: EntranceProps & { code: string }) {
  return (
    <EntranceForm
      title="The first owner"
      about="This installation has no accounts yet. The first one is the owner and invites the others."
      action="Create account"
      onSubmit={(field) =>
        consoleClient.accounts.createFirstOwner({
          code,
          name: field('name'),
          email: field('email'),
          password: field('password'),
        })
      }
      onEntered={onEntered}
      failure={(error) => <LinkFailure error={error} kind="first-owner" />}
    >
      <TextInput name="name" label="Name" autoComplete="name" required />
      <TextInput name="email" label="Email address" autoComplete="username" inputMode="email" required />
      <NewPasswordField />
    </EntranceForm>
  );
}

function InvitationForm({ code, onEntered }: EntranceProps & { code: string }) {
  const invitation = useQuery({
    queryKey: ['invitation'],
    queryFn: () => consoleClient.accounts.readInvitation(code),
    staleTime: Infinity,
  });
  const entrance = useEntrance();
  const hasPassword = usePasswordsOf();
  if (linkFaultOf(invitation.error) !== undefined)
    return (
      <Stack>
        <LinkFailure error={invitation.error!} kind="invitation" />
        <SignIn refusal={undefined} onEntered={onEntered} />
      </Stack>
    );
  return (
    <Loaded query={invitation}>
      {({ email, role, workspaceRoles, invitedBy }) => (
        <Stack>
          {entrance?.company && <CompanyButton name={entrance.company.name} />}
          {!hasPassword(role) ? (
            <Text size="sm">
              {invitedBy} invites {email} {offerOf({ role, workspaceRoles })}. Sign in with the company account of that
              address.
            </Text>
          ) : (
            <PasswordInvitation {...{ code, email, invitedBy, onEntered }} offer={offerOf({ role, workspaceRoles })} />
          )}
        </Stack>
      )}
    </Loaded>
  );
}

/** Returns the roles of an invitation in words: "as marketer of Shop". */
function offerOf({ role, workspaceRoles }: Pick<OpenInvitation, 'role' | 'workspaceRoles'>): string {
  const inWorkspaces = workspaceRoles.map((one) => `${one.role} of ${one.workspace}`);
  const all = role === null ? inWorkspaces : [`${role} of all workspaces`, ...inWorkspaces];
  return `as ${new Intl.ListFormat('en').format(all)}`;
}

type PasswordInvitationProps = EntranceProps & { code: string; email: string; offer: string; invitedBy: string };

function PasswordInvitation({ code, email, offer, invitedBy, onEntered }: PasswordInvitationProps) {
  return (
    <EntranceForm
      title="You are invited"
      about={`${invitedBy} invites ${email} ${offer}.`}
      action="Create account"
      onSubmit={(field) =>
        consoleClient.accounts.acceptInvitation({ code, name: field('name'), password: field('password') })
      }
      onEntered={onEntered}
      failure={(error) => <LinkFailure error={error} kind="invitation" />}
    >
      <input type="hidden" name="email" value={email} autoComplete="username" />
      <TextInput name="name" label="Name" autoComplete="name" required />
      <NewPasswordField />
    </EntranceForm>
  );
}

function NewPasswordForm({ code, onEntered }: EntranceProps & { code: string }) {
  return (
    <EntranceForm
      title="A new password"
      about="It takes effect at once and ends all existing sessions."
      action="Set password"
      onSubmit={(field) => consoleClient.accounts.setNewPassword({ code, password: field('password') })}
      onEntered={onEntered}
      failure={(error) => <LinkFailure error={error} kind="new-password" />}
    >
      <NewPasswordField />
    </EntranceForm>
  );
}

type EntranceFormProps = {
  title: string;
  about?: ReactNode;
  /** The label of the button. */
  action: string;
  children: ReactNode;
  /** The text for an error; by default the server's message. */
  failure?: (error: Error) => ReactNode;
  onSubmit: (field: (name: string) => string) => Promise<unknown>;
  onEntered: () => void;
};

/** A form of the sign-in page. Its values stay in its fields and are not stored. */
function EntranceForm({ title, about, action, children, failure, onSubmit, onEntered }: EntranceFormProps) {
  const enter = useMutation({ mutationFn: onSubmit, onSuccess: onEntered });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        enter.mutate((name) => String(fields.get(name) ?? ''));
      }}
    >
      <Stack>
        <Title order={2} size="h3">
          {title}
        </Title>
        {about !== undefined && (
          <Text size="sm" component="div">
            {about}
          </Text>
        )}
        {enter.error !== null && (failure?.(enter.error) ?? <Failure error={enter.error} />)}
        {children}
        <Button type="submit" loading={enter.isPending}>
          {action}
        </Button>
      </Stack>
    </form>
  );
}

type OneTimeLinkKind = Exclude<Link['kind'], 'refused'>;

/** Texts for rejected links, by the server's reason. */
const reasons: Record<string, string> = {
  expired: 'The link has expired.',
  used: 'The link has been used already. Each link works once.',
  withdrawn: 'The link was withdrawn.',
  unknown:
    'This installation does not know the link: it is incomplete, belongs to another installation, or ended long ago.',
};

const consoleLink = (
  <>
    run <Code>npm run carillon -- console-link</Code> on the server (<Code>carillon console-link</Code> where it is
    installed)
  </>
);

const ways: Record<OneTimeLinkKind, ReactNode> = {
  'sign-in': <>To get a new link, {consoleLink}, or start the server again.</>,
  'first-owner': (
    <>If there is an owner by now, sign in or ask them to invite you. Otherwise, to get a new link, {consoleLink}.</>
  ),
  invitation: 'If you have accepted the invitation already, sign in. Otherwise ask an owner to invite you again.',
  'new-password': (
    <>
      Ask an owner for a new link under “Accounts and roles”, or run{' '}
      <Code>carillon accounts password-link &lt;email&gt;</Code> on the server.
    </>
  ),
};

type LinkFailureProps = { error: Error; kind: OneTimeLinkKind };

/** Why a one-time link was rejected, and how to get another. Other errors have the server's message. */
function LinkFailure({ error, kind }: LinkFailureProps) {
  const reason = linkFaultOf(error);
  if (reason === undefined) return <Failure error={error} />;
  return (
    <Alert color="red" role="alert" title="This link does not open the console">
      <Text size="sm" mb="xs">
        {reasons[reason] ?? reasons.unknown}
      </Text>
      <Text size="sm">{ways[kind]}</Text>
    </Alert>
  );
}

/** Returns the reason if the server rejected the link itself. */
function linkFaultOf(error: Error | null): string | undefined {
  if (!(error instanceof CarillonError) || error.code !== 'ACCOUNT_LINK_INVALID') return undefined;
  return error.detail ?? 'unknown';
}

import { Alert, Code, Text } from '@mantine/core';
import { CarillonError } from '@carillon/client';
import type { ReactNode } from 'react';
import { Failure } from '../parts/failure.tsx';
import type { Link } from './take-link.ts';

type OneTimeLinkKind = Exclude<Link['kind'], 'refused'>;

/** Why a link opens nothing, by the word of the server's refusal. */
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

/** Why a one-time link did not open the console, and how to get another; any other fault in the words of the server. */
export function LinkFailure({ error, kind }: LinkFailureProps) {
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

/** Returns the reason where the server refused the link itself. */
export function linkFaultOf(error: Error | null): string | undefined {
  if (!(error instanceof CarillonError) || error.code !== 'ACCOUNT_LINK_INVALID') return undefined;
  return error.detail ?? 'unknown';
}

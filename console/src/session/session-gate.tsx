import { CarillonError } from '@carillon/client';
import { Box } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { SignInPage } from './sign-in-page.tsx';
import { takeLink } from './take-link.ts';
import { SessionContext } from './use-session.ts';

// Before the router reads the address.
const link = takeLink();

/** Lets through who is signed in; the others get a page that says how. */
export function SessionGate({ children }: { children: ReactNode }) {
  const opened = useQuery({ queryKey: ['session', 'opened'], queryFn: openFromLink, staleTime: Infinity });
  const session = useQuery({
    queryKey: ['session'],
    queryFn: () => consoleClient.readSession(),
    enabled: opened.isSuccess,
    staleTime: Infinity,
  });
  if (session.data) return <SessionContext value={session.data}>{children}</SessionContext>;
  const error = opened.error ?? session.error;
  if (error === null) return <Waiting />;
  if (error instanceof CarillonError && error.status === 401) return <SignInPage />;
  return (
    <Box p="md" component="main">
      <Failure error={error} />
    </Box>
  );
}

async function openFromLink(): Promise<true> {
  if (!link) return true;
  await consoleClient.signIn(link.code).catch((error: unknown) => {
    // A link opened twice in a browser that is signed in already is no trouble.
    if (!(error instanceof CarillonError) || error.status !== 401) throw error;
  });
  return true;
}

import { CarillonError } from '@carillon/client';
import { Box } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import type { ReactNode } from 'react';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { hasLink, takeLink } from './take-link.ts';
import { SessionContext } from './use-session.ts';

const EntrancePage = lazy(async () => ({ default: (await import('./entrance-page.tsx')).EntrancePage }));

// Runs before the router reads the address.
const taken = takeLink();
// A link opened in a tab of the console changes only the part after "#", which loads nothing.
addEventListener('hashchange', () => {
  if (hasLink()) location.reload();
});

/** Shows the console to signed-in users, and the sign-in page to others. */
export function SessionGate({ children }: { children: ReactNode }) {
  const queries = useQueryClient();
  // A sandbox link starts the session at once. Other links ask for a name or password first.
  const [link, setLink] = useState(taken?.kind === 'sign-in' || taken?.kind === 'refused' ? undefined : taken);
  const opened = useQuery({ queryKey: ['opened'], queryFn: openFromLink, staleTime: Infinity });
  const session = useQuery({
    queryKey: ['session'],
    queryFn: () => consoleClient.accounts.readSession(),
    enabled: opened.isSuccess && link === undefined,
    // Refetches, because a role may have changed or the session may have ended.
    refetchInterval: 60_000,
  });
  const error = opened.error ?? session.error;
  const isSignedOut = error instanceof CarillonError && error.status === 401;
  if (link !== undefined || isSignedOut) {
    return (
      <Suspense fallback={<Waiting />}>
        <EntrancePage
          link={link}
          refusal={taken?.kind === 'refused' ? taken.code : undefined}
          linkError={opened.data ?? undefined}
          isHalfway={error instanceof CarillonError && error.code === 'ACCOUNT_SECOND_FACTOR_NEEDED'}
          onEntered={() => {
            setLink(undefined);
            // The link was used or rejected.
            queries.setQueryData(['opened'], null);
            // Cached data may belong to another user's session.
            queries.removeQueries({
              predicate: ({ queryKey }) => queryKey[0] !== 'opened' && queryKey[0] !== 'session',
            });
            void queries.resetQueries({ queryKey: ['session'] });
          }}
        />
      </Suspense>
    );
  }
  if (session.data) return <SessionContext value={session.data}>{children}</SessionContext>;
  if (error === null) return <Waiting />;
  return (
    <Box p="md" component="main">
      <Failure error={error} onRetry={() => location.reload()} />
    </Box>
  );
}

/** Signs in with a sandbox's link. @returns why the server rejected it; a browser with a session ignores that */
async function openFromLink(): Promise<CarillonError | null> {
  if (taken?.kind !== 'sign-in') return null;
  try {
    await consoleClient.accounts.signInByLink(taken.code);
    return null;
  } catch (error) {
    if (error instanceof CarillonError && error.status === 401) return error;
    throw error;
  }
}

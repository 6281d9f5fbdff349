import 'virtual:kit-styles.css';
import { CarillonError } from '@carillon/client';
import { MantineProvider } from '@mantine/core';
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { router } from './router.tsx';
import './theme/page.css';
import { cssVariablesResolver, theme } from './theme/theme.ts';

const queries = new QueryClient({
  defaultOptions: { queries: { retry: false, refetchOnWindowFocus: false } },
  queryCache: new QueryCache({
    // After a 401 the gate reloads the session and shows the sign-in page.
    onError(error, { queryKey }) {
      if (error instanceof CarillonError && error.status === 401 && queryKey[0] !== 'session')
        void queries.invalidateQueries({ queryKey: ['session'] });
    },
  }),
});

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={cssVariablesResolver} defaultColorScheme="auto">
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);

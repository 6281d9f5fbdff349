import '@mantine/core/styles.css';
import { CarillonError } from '@carillon/client';
import { MantineProvider, createTheme } from '@mantine/core';
import type { CSSVariablesResolver } from '@mantine/core';
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { router } from './router.tsx';

// Contrast chosen so that WCAG 2.2 AA holds in both schemes.
const theme = createTheme({ autoContrast: true, primaryShade: 8, primaryColor: 'indigo', defaultRadius: 'md' });
// The kit's own grey of descriptions is too pale for AA, and its red of what is wrong too.
const cssVariablesResolver: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': colors.gray[7],
    '--mantine-color-placeholder': colors.gray[7],
    '--mantine-color-error': colors.red[9],
  },
  dark: {
    '--mantine-color-dimmed': colors.gray[5],
    '--mantine-color-placeholder': colors.gray[5],
    '--mantine-color-error': colors.red[4],
  },
});
const queries = new QueryClient({
  defaultOptions: { queries: { retry: false, refetchOnWindowFocus: false } },
  queryCache: new QueryCache({
    // Whatever is told that nobody is signed in: the gate looks, and shows the entrance.
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

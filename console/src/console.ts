import { makeConsoleClient } from '@carillon/client';

/** The one client of this page. */
export const consoleClient = makeConsoleClient({ fetch: (input, init) => fetch(input, init) });

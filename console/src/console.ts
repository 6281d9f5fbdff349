import { makeConsoleClient } from './api/console-client.ts';

/** The one client of this page. */
export const consoleClient = makeConsoleClient({ fetch: (input, init) => fetch(input, init) });

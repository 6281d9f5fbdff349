import { makeConsoleClient } from './api/console-client.ts';
import { readServerTime } from './parts/text/server-clock.ts';

/** The client of this page. */
export const consoleClient = makeConsoleClient({
  fetch: async (input, init) => {
    const answer = await fetch(input, init);
    readServerTime(answer.headers);
    return answer;
  },
});

import type { ConsoleCaller } from './console-caller.ts';

export function makeOverviewCalls({ ask }: ConsoleCaller) {
  return {
    /** Whether all is well with a workspace, and what it sends. */
    read: (workspaceId: string) => ask('GET overview', { query: { workspaceId } }),
    /** Reads every device, so ask rarely. */
    countUsers: (workspaceId: string) => ask('GET overview/people', { query: { workspaceId } }),
    /** What was done of what one does first. */
    readFirstSteps: (workspaceId: string) => ask('GET overview/first-steps', { query: { workspaceId } }),
    /** Newest first, newer than `after`. */
    readInbox: async (query: { workspaceId: string; after?: string }) => (await ask('GET inbox', { query })).messages,
  };
}

import type { ConsoleCaller, Key } from './console-caller.ts';

/** Tokens for agents, and what agents propose. */
export function makeAgentCalls({ ask }: ConsoleCaller) {
  return {
    listOwnTokens: async () => (await ask('GET own/agent-tokens')).tokens,
    /** Returns the token, which no other call returns. @throws CarillonError 403 in a session that is older than 15 minutes */
    createToken: (token: { name: string; days: number; mayPropose: boolean }) =>
      ask('POST own/agent-tokens', { body: token }),
    revokeOwnToken: (id: string) => ask('DELETE own/agent-tokens/:id', { params: { id } }),
    /** Those of all accounts. */
    listTokens: async () => (await ask('GET agent-tokens')).tokens,
    revokeToken: (id: string) => ask('DELETE agent-tokens/:id', { params: { id } }),
    /** Those that wait first, then the newest. */
    listProposals: async (workspaceId: string) => (await ask('GET proposals', { query: { workspaceId } })).proposals,
    readProposal: ({ workspaceId, id }: Key) => ask('GET proposals/:id', { params: { id }, query: { workspaceId } }),
    /** Publishes the draft, or sends its test. A campaign that is sent at once waits for `delaySeconds`, in which it can be recalled. */
    approve: ({ workspaceId, id, delaySeconds }: Key & { delaySeconds: number }) =>
      ask('POST proposals/:id/approve', {
        params: { id },
        query: { workspaceId, delaySeconds: String(delaySeconds) },
      }),
    refuse: ({ workspaceId, id, reason }: Key & { reason: string }) =>
      ask('POST proposals/:id/refuse', { params: { id }, query: { workspaceId }, body: { reason } }),
    /** The last change of a draft by an agent; null if there is none. */
    readChange: async ({ workspaceId, id }: Key) =>
      (await ask('GET campaigns/:id/agent-change', { params: { id }, query: { workspaceId } })).change,
  };
}

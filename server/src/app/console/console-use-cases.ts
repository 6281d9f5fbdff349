import type { Database } from '../../storage/database.ts';
import { listWorkspaces } from '../../storage/installation/overview.ts';
import { listSandboxMessages } from '../../storage/installation/sandbox.ts';

export type ConsoleDependencies = { database: Database; isSandbox: boolean };

export type ConsoleUseCases = ReturnType<typeof makeConsoleUseCases>;

/** What the console shows of an installation as a whole. */
export function makeConsoleUseCases({ database, isSandbox }: ConsoleDependencies) {
  return {
    /** What a session may see of this installation. */
    async readInstallation() {
      return { workspaces: await listWorkspaces(database), isSandbox };
    },

    readInbox: (query: { workspaceId: string; after: string }) =>
      listSandboxMessages(database, { workspaceId: query.workspaceId, afterId: query.after, limit: 30 }),
  };
}

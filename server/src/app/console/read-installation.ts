import { listWorkspaces } from '../../storage/installation/overview.ts';
import { listSandboxMessages } from '../../storage/installation/sandbox.ts';
import type { SandboxMessage } from '../../storage/installation/sandbox.ts';
import type { Database } from '../../storage/database.ts';

export type InstallationDependencies = { database: Database; isSandbox: boolean };

const messagesShown = 30;

/** What a session may see of this installation. */
export async function readInstallation({ database, isSandbox }: InstallationDependencies) {
  return { workspaces: await listWorkspaces(database), isSandbox };
}

/** The newest messages of a workspace in the sandbox's inbox. */
export function readConsoleInbox(
  { database }: Pick<InstallationDependencies, 'database'>,
  { workspaceId, after }: { workspaceId: string; after: string },
): Promise<SandboxMessage[]> {
  return listSandboxMessages(database, { workspaceId, afterId: after, limit: messagesShown });
}

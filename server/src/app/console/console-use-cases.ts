import type { Clock } from '../../clock.ts';
import { mayDo } from '../../domain/accounts/roles.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Database } from '../../storage/pool.ts';
import { listApiKeys } from '../../storage/sql/api-keys.ts';
import { countDevices, countUsers, listRecentCampaigns, listWorkspaces } from '../../storage/sql/overview.ts';
import { listSandboxMessages } from '../../storage/sql/sandbox-messages.ts';
import type { SignedIn } from '../accounts/account-dependencies.ts';
import type { ReadyCurl } from '../sandbox/make-ready-curl.ts';

export type ConsoleDependencies = {
  database: Database;
  clock: Clock;
  readyCurl: ReadyCurl;
  findTroubles: () => Promise<string[]>;
  isSandbox: boolean;
};

type OverviewQuery = { workspaceId: string | undefined; url: string; by: SignedIn };

export type ConsoleUseCases = ReturnType<typeof makeConsoleUseCases>;

/** What the console shows of an installation and a workspace as a whole. */
export function makeConsoleUseCases(deps: ConsoleDependencies) {
  const { database, clock } = deps;
  return {
    /** What a session may see of this installation. */
    async readInstallation() {
      return { workspaces: await listWorkspaces(database), isSandbox: deps.isSandbox };
    },

    /** @throws ServiceError NOT_FOUND */
    async readOverview({ workspaceId, url, by }: OverviewQuery) {
      const workspaces = await listWorkspaces(database);
      const workspace = workspaceId === undefined ? workspaces[0] : workspaces.find(({ id }) => id === workspaceId);
      if (!workspace) throw new ServiceError('NOT_FOUND', { detail: 'no such workspace' });
      const seesKeys = mayDo(by.role, 'keys.read');
      const [troubles, users, devices, campaigns, keys, curl] = await Promise.all([
        deps.findTroubles(),
        countUsers(database, workspace.id),
        countDevices(database, workspace.id),
        listRecentCampaigns(database, { workspaceId: workspace.id, limit: 10 }),
        // The command carries a signature, so it is for those who may see keys.
        seesKeys ? listApiKeys(database, workspace.id) : [],
        seesKeys ? deps.readyCurl({ workspaceId: workspace.id, url }) : undefined,
      ]);
      return {
        workspace,
        workspaces,
        url,
        troubles,
        isSandbox: deps.isSandbox,
        users,
        devices,
        campaigns,
        keys,
        curl,
        now: clock.now(),
      };
    },

    readInbox: (query: { workspaceId: string; after: string }) =>
      listSandboxMessages(database, { workspaceId: query.workspaceId, afterId: query.after, limit: 30 }),
  };
}

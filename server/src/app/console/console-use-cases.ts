import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Database } from '../../storage/pool.ts';
import { listApiKeys } from '../../storage/sql/api-keys.ts';
import {
  deleteConsoleSession,
  deleteExpiredConsoleSessions,
  insertConsoleSession,
  isConsoleSessionOpen,
  takeSignInLink,
} from '../../storage/sql/console-sessions.ts';
import { countDevices, countUsers, listRecentCampaigns, listWorkspaces } from '../../storage/sql/overview.ts';
import { listSandboxMessages } from '../../storage/sql/sandbox-messages.ts';
import type { ReadyCurl } from '../sandbox/make-ready-curl.ts';

const linkMilliseconds = 24 * 3_600_000;
const sessionMilliseconds = 12 * 3_600_000;

export type ConsoleDependencies = {
  database: Database;
  clock: Clock;
  readyCurl: ReadyCurl;
  findTroubles: () => Promise<string[]>;
  isSandbox: boolean;
};

export type ConsoleUseCases = ReturnType<typeof makeConsoleUseCases>;

/** What the console shows, and who may see it. Tokens are 256 random bits; only their hash is stored. */
export function makeConsoleUseCases(deps: ConsoleDependencies) {
  const { database, clock } = deps;
  return {
    /** A code that opens one session, within a day; the start prints it. */
    async createSignInLink(): Promise<string> {
      const code = randomBytes(32).toString('base64url');
      const now = clock.now();
      await deleteExpiredConsoleSessions(database, now);
      await insertConsoleSession(database, {
        tokenHash: hash(code),
        state: 'LINK',
        createdAt: now,
        expiresAt: later(now, linkMilliseconds),
      });
      return code;
    },

    /** Turns a code into a session's token. @throws ServiceError AUTHENTICATION_INVALID */
    async openSession(code: string): Promise<{ token: string; maxAgeSeconds: number }> {
      const token = randomBytes(32).toString('base64url');
      const now = clock.now();
      await database.begin(async (tx) => {
        const isTaken = await takeSignInLink(tx, { tokenHash: hash(code), at: now });
        if (!isTaken)
          throw new ServiceError('AUTHENTICATION_INVALID', { detail: 'the sign-in link is unknown, used or too old' });
        await insertConsoleSession(tx, {
          tokenHash: hash(token),
          state: 'OPEN',
          createdAt: now,
          expiresAt: later(now, sessionMilliseconds),
        });
      });
      return { token, maxAgeSeconds: sessionMilliseconds / 1000 };
    },

    /** @throws ServiceError AUTHENTICATION_INVALID */
    async requireSession(token: string | undefined): Promise<void> {
      const isOpen =
        token !== undefined && (await isConsoleSessionOpen(database, { tokenHash: hash(token), at: clock.now() }));
      if (!isOpen) throw new ServiceError('AUTHENTICATION_INVALID', { detail: 'no open console session' });
    },

    /** What a session may see of this installation. */
    async readInstallation() {
      return { workspaces: await listWorkspaces(database), isSandbox: deps.isSandbox };
    },

    closeSession: (token: string) => deleteConsoleSession(database, hash(token)),

    /** @throws ServiceError NOT_FOUND */
    async readOverview({ workspaceId, url }: { workspaceId: string | undefined; url: string }) {
      const workspaces = await listWorkspaces(database);
      const workspace = workspaceId === undefined ? workspaces[0] : workspaces.find(({ id }) => id === workspaceId);
      if (!workspace) throw new ServiceError('NOT_FOUND', { detail: 'no such workspace' });
      const [troubles, users, devices, campaigns, keys, curl] = await Promise.all([
        deps.findTroubles(),
        countUsers(database, workspace.id),
        countDevices(database, workspace.id),
        listRecentCampaigns(database, { workspaceId: workspace.id, limit: 10 }),
        listApiKeys(database, workspace.id),
        deps.readyCurl({ workspaceId: workspace.id, url }),
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

function hash(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}

function later(now: Date, milliseconds: number): Date {
  return new Date(now.getTime() + milliseconds);
}

import type { Clock } from '../../clock.ts';
import type { App } from '../../domain/apps/app.ts';
import type { Encryption } from '../../domain/encryption.ts';
import { listApps } from '../../storage/apps/apps.ts';
import type { Database } from '../../storage/database.ts';
import { findWorkspaces } from '../../storage/installation/workspaces.ts';
import type { Workspace } from '../../storage/installation/workspaces.ts';
import { listPushSecrets } from '../keys/list-push-secrets.ts';
import type { PushSecret } from '../keys/list-push-secrets.ts';
import { lookUpBatches, makeWorkTogether } from './work-together.ts';

export type WorkspaceContext = { workspace: Workspace; apps: App[]; keys: PushSecret[] };

// Decision D14: a key that is archived ends everywhere within a second.
const freshMilliseconds = 900;
const maxWorkspaces = 10_000;

/**
 * Finds a workspace with its apps and push keys, remembered for under a second: at thousands of requests a second, three
 * queries. Ids that come together are looked up together: a stranger who makes up ids costs the database one query at a time,
 * however many requests arrive.
 */
export function makeFindWorkspaceContext(deps: { database: Database; encryption: Encryption; clock: Clock }) {
  const remembered = new Map<string, { until: number; context: Promise<WorkspaceContext | undefined> }>();

  const findWorkspace = makeWorkTogether((ids: string[]) => findWorkspaces(deps.database, ids), lookUpBatches);

  async function load(id: string): Promise<WorkspaceContext | undefined> {
    const workspace = await findWorkspace(id);
    if (!workspace) return undefined;
    const [apps, keys] = await Promise.all([listApps(deps.database, id), listPushSecrets(deps, id)]);
    return { workspace, apps, keys };
  }

  return (id: string): Promise<WorkspaceContext | undefined> => {
    // Monotonic: the sandbox's clock may leap.
    const now = performance.now();
    const known = remembered.get(id);
    if (known && known.until > now) return known.context;
    const context = load(id);
    remembered.delete(id);
    remembered.set(id, { until: now + freshMilliseconds, context });
    context.catch(() => remembered.delete(id));
    if (remembered.size > maxWorkspaces) remembered.delete(remembered.keys().next().value!);
    return context;
  };
}

import { Option } from 'commander';
import type { Command } from 'commander';
import { findDemoWorkspace } from '../../app/sandbox/find-demo-workspace.ts';
import type { DemoWorkspace } from '../../app/sandbox/find-demo-workspace.ts';
import { isAlive, readConnectionBudget } from '../../app/system/nodes.ts';
import type { ConnectionBudget } from '../../domain/operations/connection-budget.ts';
import { printedVariables } from '../../start/config.ts';
import { findInstallation } from '../../storage/installation/installation.ts';
import { listNodes } from '../../storage/installation/nodes.ts';
import { withInstallation } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { toPlainLine } from '../print-table.ts';
import { findConsoleAddress, makeConsoleLink } from './console-link.ts';

/**
 * `carillon status`: the running nodes and their URLs, and in a sandbox the credentials of a caller; everything that a start
 * printed.
 */
export function registerStatus(program: Command): void {
  program
    .command('status')
    .description('Show the running nodes and their URLs; in a sandbox also the demo workspace and its keys')
    .addOption(new Option('--json', 'print one line of JSON').conflicts('env'))
    .option('--env', 'print lines NAME=value, for a shell')
    .action((options: StatusOptions) => withInstallation(program, (context) => printStatus(context, options)));
}

type StatusOptions = { json?: true; env?: true };

type Status = {
  nodes: { id: string; host: string; role: string; version: string; url: string | null }[];
  /** The URL of the first node that serves calls. */
  url: string | null;
  database: string;
  connections: ConnectionBudget;
  demo: DemoWorkspace | undefined;
};

async function printStatus(context: CommandContext, options: StatusOptions): Promise<void> {
  const status = await readStatus(context);
  if (options.json) process.stdout.write(`${JSON.stringify(toJson(status))}\n`);
  else if (options.env) printPairs(toVariables(status), (name, value) => `${name}=${value}`);
  else {
    const console = await findConsole(context, status);
    printPairs(toLines({ ...status, console }), (name, value) => `${name.padEnd(16)}${toPlainLine(value)}`);
  }
}

/**
 * Returns the URL of the console with a link that works once: in a sandbox, as at its start; elsewhere only at a terminal while
 * there is no owner, because other output may be stored.
 */
async function findConsole(context: CommandContext, { url, demo }: Status): Promise<string | null> {
  if (url === null) return null;
  const link = demo || process.stdout.isTTY ? await makeConsoleLink(context) : undefined;
  return (await findConsoleAddress(context, link?.path ?? '/console/')) ?? null;
}

async function readStatus({ database, clock, encryption, databasePlace }: CommandContext): Promise<Status> {
  const reports = await listNodes(database);
  const connections = await readConnectionBudget({ database, clock }, reports);
  const nodes = reports
    .filter((node) => isAlive(node, clock))
    .map(({ id, host, role, version, url }) => ({ id, host, role, version, url }));
  const url = nodes.find((node) => node.role !== 'worker' && node.url !== null)?.url ?? null;
  const demo = await findDemoWorkspace(database, { encryption, installation: await findInstallation(database) });
  return { nodes, url, database: databasePlace, connections, demo };
}

/** Returns the members of the start line that contain no password and no link, and the nodes. */
function toJson({ nodes, url, connections, demo }: Status): object {
  const { mayOpen, available } = connections;
  return {
    isRunning: nodes.length > 0,
    url,
    console: url && `${url}/console/`,
    workspaceId: demo?.workspaceId ?? null,
    dbName: demo?.dbName ?? null,
    keys: demo?.keys ?? null,
    inbox: url && demo ? `${url}/sandbox/inbox` : null,
    nodes,
    connections: { mayOpen, available },
  };
}

type Pair = [name: string, value: string | null | undefined];

function toVariables({ url, demo }: Status): Pair[] {
  const values: Record<(typeof printedVariables)[number], string | null | undefined> = {
    CARILLON_API_URL: url,
    CARILLON_WORKSPACE_ID: demo?.workspaceId,
    CARILLON_WORKSPACE_DB_NAME: demo?.dbName,
    CARILLON_OAUTH_KEY: demo?.keys?.oauth,
    CARILLON_DATA_KEY: demo?.keys?.data,
    CARILLON_PUSH_KEY: demo?.keys?.push,
    CARILLON_CAMPAIGNS_KEY: demo?.keys?.campaigns,
  };
  return printedVariables.map((name) => [name, values[name]]);
}

function toLines({ nodes, url, console, database, connections, demo }: Status & { console: string | null }): Pair[] {
  const { mayOpen, available, finding } = connections;
  const shown = nodes.map(({ role, host, version, url: at }) => `${role} on ${host}, ${version}${at ? `, ${at}` : ''}`);
  return [
    ['Running', shown.length === 0 ? 'no node' : undefined],
    ...shown.map((node): Pair => ['Node', node]),
    ['Console', console],
    ['API base', url],
    ['Database', database],
    ['Connections', finding ? `${finding.what} ${finding.todo}` : `at most ${mayOpen} of ${available}`],
    ['Workspace', demo && `${demo.workspaceId}  (database name ${demo.dbName})`],
    ...Object.entries(demo?.keys ?? {}).map(([kind, key]): Pair => [
      `Key: ${kind}`,
      key ?? 'revoked or regenerated since the first start',
    ]),
  ];
}

/** Leaves out missing values. */
function printPairs(pairs: Pair[], format: (name: string, value: string) => string): void {
  for (const [name, value] of pairs)
    if (value !== null && value !== undefined) process.stdout.write(`${format(name, value)}\n`);
}

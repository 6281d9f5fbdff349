import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acrossRoleOf } from '../../src/storage/installation/database-roles.ts';
import { openDatabase } from '../../src/storage/database.ts';
import type { StartLine } from '../start/start-bundle.ts';
import { startKillableDatabase } from '../rig/databases.ts';
import { nodeEnvironment, runCommand } from '../rig/processes.ts';
import { makeRandom } from '../rig/random.ts';
import { startReceiver } from '../rig/receivers.ts';
import { makeCallNode } from './call-node.ts';
import { openInspector } from './open-inspector.ts';
import { sampleNode } from './sample-node.ts';
import { makeSoakTally } from './soak-tally.ts';

/** Users with one device each, a third of each platform, that answer as they should all the time. */
export const steadyUsers = 600;

export type SoakBundle = Awaited<ReturnType<typeof makeSoakBundle>>;

/** One node of role `all` in a process of its own, as main.ts starts it, with a database that is not its child. */
export async function makeSoakBundle({ seed }: { seed: number }) {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-soak-'));
  const postgres = await startKillableDatabase(join(folder, 'postgres'));
  const receiver = await startReceiver();
  const environment = {
    ...nodeEnvironment(folder, postgres),
    CARILLON_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    // Reached within minutes, so that the inbox is one of the things that must not grow.
    CARILLON_INBOX_MESSAGES: '2000',
  };
  const node = await startInspectedNode(environment, seed);
  const inspector = await openInspector(node.inspectorAddress);
  const databaseUrl = new URL(postgres.url);
  const acrossRole = acrossRoleOf(databaseUrl.username);
  const database = openDatabase({ url: postgres.url, connections: 2, name: 'soak', acrossRole });
  const tally = makeSoakTally();
  const callNode = makeCallNode({ url: node.line.url, tally });
  const port = Number(new URL(node.line.url).port);
  const sampled = { pid: node.process.pid!, port, databasePort: Number(databaseUrl.port), inspector };

  return {
    url: node.line.url,
    workspaceId: node.line.workspaceId,
    dbName: node.line.dbName,
    keys: node.line.keys!,
    signInCode: node.line.console.split('#sign-in=')[1]!,
    random: makeRandom(seed),
    database: database.acrossWorkspaces(),
    /** As the login itself, which may see its own sessions. */
    login: database,
    receiver,
    tally,
    callNode,
    nodeErrors: node.errors,
    hasEnded: () => node.process.exitCode !== null || node.process.signalCode !== null,
    sample: () => sampleNode(sampled),
    /** In the form of `carillon import`: the steady users. */
    async importUsers(): Promise<void> {
      const file = join(folder, 'users.ndjson');
      await runCommand(environment, ['sandbox', 'generate-users', '--users', String(steadyUsers), '--out', file]);
      await runCommand(environment, ['import', file]);
    },
    async stop(): Promise<void> {
      callNode.close();
      inspector.close();
      const ended = once(node.process, 'close');
      if (!this.hasEnded()) {
        node.process.kill('SIGTERM');
        await ended;
      }
      await receiver.stop();
      await database.end({ timeoutSeconds: 5 });
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type InspectedNode = { process: ChildProcess; line: StartLine; inspectorAddress: string; errors: string[] };

async function startInspectedNode(environment: Record<string, string>, seed: number): Promise<InspectedNode> {
  const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
  const words = ['--disable-warning=ExperimentalWarning', '--inspect=127.0.0.1:0', main];
  const child = spawn(process.execPath, [...words, '--port', '0', '--json', '--seed', String(seed)], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const errors: string[] = [];
  const started = new Promise<InspectedNode>((resolve, reject) => {
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (piece) => (stdout += String(piece)) && look());
    child.stderr.on('data', (piece) => {
      stderr += String(piece);
      // The lines of the log; the rest is the debugger's.
      errors.push(
        ...String(piece)
          .split('\n')
          .filter((line) => line.startsWith('{')),
      );
      look();
    });
    child.once('close', () => reject(new Error(`the node ended before it was ready: ${stderr}`)));
    function look(): void {
      const [address] = /ws:\/\/\S+/.exec(stderr) ?? [];
      if (!address || !stdout.includes('\n')) return;
      const line = JSON.parse(stdout.slice(0, stdout.indexOf('\n'))) as StartLine;
      resolve({ process: child, line, inspectorAddress: address, errors });
    }
  });
  return await started;
}

import { isAlive } from '../app/console/node-health.ts';
import { StartError } from '../start/start-errors.ts';
import { listNodes } from '../storage/installation/nodes.ts';
import type { CommandContext } from './command-context.ts';

// An advance answers on its way after 20 seconds, a reset waits for what is being sent.
const maxMilliseconds = 60_000;

/** Calls a route of the sandbox at a running node: what it holds is in its memory. @throws StartError SETTING_INVALID */
export async function callSandbox<Answer>(
  context: Pick<CommandContext, 'database' | 'clock'>,
  { path, body }: { path: string; body?: object },
): Promise<Answer> {
  const url = await findSandboxUrl(context);
  if (url === undefined) throw new StartError('SETTING_INVALID', 'No node runs here; begin one with: carillon start.');
  const headers = body && { 'content-type': 'application/json' };
  const request = { method: body ? 'POST' : 'GET', ...(body && { headers, body: JSON.stringify(body) }) };
  const signal = AbortSignal.timeout(maxMilliseconds);
  const answer = await fetch(`${url}/sandbox${path}`, { ...request, signal } as RequestInit).catch((error: unknown) => {
    throw new StartError('SETTING_INVALID', `The node at ${url} does not answer.`, error);
  });
  const text = await answer.text();
  if (answer.ok) return (text === '' ? undefined : JSON.parse(text)) as Answer;
  throw new StartError('SETTING_INVALID', `The node at ${url} refuses: ${readReason(text) ?? answer.status}`);
}

/** Of the first node that answers calls. */
export async function findSandboxUrl({
  database,
  clock,
}: Pick<CommandContext, 'database' | 'clock'>): Promise<string | undefined> {
  const nodes = await listNodes(database);
  return nodes.find((node) => isAlive(node, clock) && node.role !== 'worker' && node.url !== null)?.url ?? undefined;
}

function readReason(text: string): string | undefined {
  try {
    const { field, detail, title } = JSON.parse(text) as { field?: string; detail?: string; title?: string };
    if (detail === undefined) return title;
    return field === undefined ? `${title} (${detail})` : `${field} ${detail}.`;
  } catch {
    return undefined;
  }
}

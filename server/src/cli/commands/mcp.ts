import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { readAgentToken } from '../../start/config.ts';
import { StartError } from '../../start/start-errors.ts';

type Options = { url: string };

/** `carillon mcp`: connects an MCP client that starts a process (stdio) with the MCP endpoint of a node. */
export function registerMcp(program: Command): void {
  program
    .command('mcp')
    .description('Connect an agent (MCP over stdio) with a node; CARILLON_AGENT_TOKEN contains its token')
    .option('--url <url>', 'origin of the node', 'http://127.0.0.1:8080')
    .action((options: Options) => runBridge(options));
}

/**
 * Sends each line of the standard input as one request to the node, and prints its response as one line. Requests run next
 * to each other, as MCP allows. The process holds no rights: the node checks the token with each request.
 *
 * @throws StartError SETTING_INVALID
 */
async function runBridge({ url }: Options): Promise<void> {
  const token = readAgentToken();
  if (token === undefined)
    throw new StartError(
      'SETTING_INVALID',
      'Set CARILLON_AGENT_TOKEN; create a token with: carillon agent-tokens create.',
    );
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new StartError('SETTING_INVALID', '--url must be an http(s) URL.');
  const send = makeSender({ endpoint: new URL('/mcp', url), token });
  const open = new Set<Promise<void>>();
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue;
    const answering = send(line).then((answer) => {
      if (answer !== undefined) process.stdout.write(`${answer}\n`);
      open.delete(answering);
    });
    open.add(answering);
  }
  await Promise.all(open);
}

type Target = { endpoint: URL; token: string };
type Message = {
  id?: string | number;
  method?: unknown;
  params?: { name?: unknown; _meta?: Record<string, unknown> };
};

/** Returns a function that never fails: a fault of the network is the error of its request. */
function makeSender({ endpoint, token }: Target): (line: string) => Promise<string | undefined> {
  return async (line) => {
    let message: Message | null = null;
    try {
      message = JSON.parse(line) as Message | null;
      const answer = await fetch(endpoint, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headersOf(message),
        },
        body: line,
      });
      const text = await answer.text();
      if (text === '') return undefined;
      return withId(JSON.parse(text) as Record<string, unknown>, message?.id);
    } catch (error) {
      if (message === null) return makeFault({ id: null, code: -32_700, text: 'The line is not JSON.' });
      if (message.id === undefined) return undefined;
      const reason = error instanceof Error ? (error.cause instanceof Error ? error.cause.message : error.message) : '';
      return makeFault({ id: message.id, code: -32_603, text: `${endpoint.origin} cannot be reached: ${reason}` });
    }
  };
}

/** The current revision repeats parts of the message in headers; stdio has none. */
function headersOf(message: Message | null): Record<string, string> {
  const version = message?.params?._meta?.['io.modelcontextprotocol/protocolVersion'];
  if (typeof version !== 'string' || typeof message?.method !== 'string') return {};
  const name = message.params?.name;
  return {
    'mcp-protocol-version': encodeHeader(version),
    'mcp-method': encodeHeader(message.method),
    ...(typeof name === 'string' && { 'mcp-name': encodeHeader(name) }),
  };
}

function encodeHeader(value: string): string {
  const isPlain = /^[!-~]([ -~]*[!-~])?$/.test(value) && !value.startsWith('=?base64?');
  return isPlain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;
}

/**
 * Returns the response for the request. Over HTTP an error before the message was read has no id, and a notification gets a
 * response; over stdio only requests do.
 */
function withId(answer: Record<string, unknown>, id: Message['id']): string | undefined {
  if (id === undefined) return undefined;
  // A proxy between here and the node may have responded.
  if (answer.jsonrpc !== '2.0')
    return makeFault({ id, code: -32_603, text: `No MCP response: ${JSON.stringify(answer).slice(0, 300)}` });
  return JSON.stringify({ id, ...answer });
}

function makeFault({ id, code, text }: { id: string | number | null; code: number; text: string }): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: text } });
}

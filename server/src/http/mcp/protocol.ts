// The Model Context Protocol as far as a server with tools needs it: JSON-RPC 2.0, revision 2026-07-28 without sessions, and the
// handshake of the two revisions before it, which clients still use.

export const modernVersion = '2026-07-28';
/** Revisions with the `initialize` handshake. Earlier ones have batches of messages. */
export const legacyVersions = ['2025-11-25', '2025-06-18'] as const;
export const supportedVersions: readonly string[] = [modernVersion, ...legacyVersions];

const versionKey = 'io.modelcontextprotocol/protocolVersion';
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';

/** The error codes of JSON-RPC 2.0, and those that MCP defines. */
export const rpcErrors = {
  parse: -32_700,
  request: -32_600,
  method: -32_601,
  params: -32_602,
  internal: -32_603,
  headerMismatch: -32_020,
  version: -32_022,
} as const;

export type RpcId = string | number;
type Params = Record<string, unknown>;

export type McpRequest = {
  id: RpcId;
  method: string;
  params: Params;
  era: 'modern' | 'legacy';
};

/** A message that is not a request: a notification, or one that is answered with an error at once. */
export type McpOther = { kind: 'notification' } | { kind: 'error'; status: number; body: object };

export type McpHeaders = { version: string | undefined; method: string | undefined; name: string | undefined };

/** Reads one message with the headers of its HTTP request. Pure. */
export function readMessage(message: unknown, headers: McpHeaders): ({ kind: 'request' } & McpRequest) | McpOther {
  const refuse = (code: number, text: string): McpOther => invalid({ code, text });
  if (!isObject(message) || message['jsonrpc'] !== '2.0' || typeof message['method'] !== 'string')
    return refuse(rpcErrors.request, 'The body must be one JSON-RPC 2.0 request or notification.');
  const { id, method, params = {} } = message;
  if (id === undefined) return { kind: 'notification' };
  if (typeof id !== 'string' && typeof id !== 'number')
    return refuse(rpcErrors.request, 'The id must be a string or a number.');
  if (!isObject(params)) return invalid({ id, code: rpcErrors.params, text: 'params must be an object.' });
  const meta = isObject(params['_meta']) ? params['_meta'] : {};
  const request = { kind: 'request', id, method, params } as const;
  if (meta[versionKey] === undefined) {
    const known = headers.version === undefined || (legacyVersions as readonly string[]).includes(headers.version);
    if (known) return { ...request, era: 'legacy' };
    // A client of the current revision must repeat the version in its message.
    if (headers.version === modernVersion)
      return invalid({
        id,
        code: rpcErrors.headerMismatch,
        text: `Header mismatch: params._meta must have ${versionKey}.`,
      });
    return unsupportedVersion(id, headers.version!);
  }
  if (meta[versionKey] !== modernVersion) return unsupportedVersion(id, String(meta[versionKey]).slice(0, 100));
  const mismatch = findMismatch(headers, { method, name: params['name'] });
  if (mismatch !== undefined) return invalid({ id, code: rpcErrors.headerMismatch, text: mismatch });
  if (!isObject(meta[capabilitiesKey]))
    return invalid({ id, code: rpcErrors.params, text: `params._meta must have ${capabilitiesKey}.` });
  return { ...request, era: 'modern' };
}

function findMismatch(headers: McpHeaders, { method, name }: { method: string; name: unknown }): string | undefined {
  if (headers.version !== modernVersion) return 'Header mismatch: MCP-Protocol-Version differs from the message.';
  if (headers.method !== method) return 'Header mismatch: Mcp-Method differs from the message.';
  if (method === 'tools/call' && decodeHeader(headers.name) !== name)
    return 'Header mismatch: Mcp-Name differs from the message.';
  return undefined;
}

/** Names that are not plain ASCII are sent as Base64 between marks. */
function decodeHeader(value: string | undefined): string | undefined {
  const [, encoded] = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value ?? '') ?? [];
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString('utf8');
}

function unsupportedVersion(id: RpcId, requested: string): McpOther {
  const data = { supported: supportedVersions, requested };
  return invalid({ id, code: rpcErrors.version, text: 'Unsupported protocol version', data });
}

type Fault = { id?: RpcId; code: number; text: string; data?: object };

function invalid(fault: Fault): McpOther {
  return { kind: 'error', status: 400, body: makeError(fault) };
}

export function makeError({ id, code, text, data }: Fault): object {
  return {
    jsonrpc: '2.0',
    ...(id === undefined ? {} : { id }),
    error: { code, message: text, ...(data && { data }) },
  };
}

export type ToolResult = { content: { type: 'text'; text: string }[]; structuredContent?: object; isError?: true };

export type McpServer = {
  version: string;
  instructions: string;
  /** Definitions as `tools/list` returns them. */
  tools: readonly object[];
  /** Returns undefined for a tool that does not exist. */
  callTool(name: string, args: Record<string, unknown>): Promise<ToolResult | undefined>;
};

/** Answers a request with the body and status of the HTTP response. */
export async function answerRequest(
  server: McpServer,
  { id, method, params, era }: McpRequest,
): Promise<{ status: number; body: object }> {
  const result = await findResult(server, { method, params, era });
  if (result === 'unknown method') {
    const body = makeError({ id, code: rpcErrors.method, text: 'Method not found' });
    return { status: era === 'modern' ? 404 : 200, body };
  }
  if (result === 'unknown tool' || result === 'no arguments') {
    const text = result === 'unknown tool' ? 'Unknown tool' : 'arguments must be an object.';
    return { status: 200, body: makeError({ id, code: rpcErrors.params, text }) };
  }
  return {
    status: 200,
    body: { jsonrpc: '2.0', id, result: era === 'modern' ? { resultType: 'complete', ...result } : result },
  };
}

/** The tools are the same for every caller, so any cache may keep their list. */
const caching = { ttlMs: 3_600_000, cacheScope: 'public' } as const;

async function findResult(
  server: McpServer,
  { method, params, era }: Omit<McpRequest, 'id'>,
): Promise<object | 'unknown method' | 'unknown tool' | 'no arguments'> {
  const serverInfo = { name: 'carillon', title: 'Carillon', version: server.version };
  const common = { capabilities: { tools: {} }, serverInfo, instructions: server.instructions };
  switch (`${era} ${method}`) {
    case 'modern server/discover':
      return { supportedVersions, ...common, ...caching };
    case 'legacy initialize': {
      const asked = params['protocolVersion'];
      const isKnown = (legacyVersions as readonly unknown[]).includes(asked);
      return { protocolVersion: isKnown ? asked : legacyVersions[0], ...common };
    }
    case 'legacy ping':
      return {};
    case 'modern tools/list':
      return { tools: server.tools, ...caching };
    case 'legacy tools/list':
      return { tools: server.tools };
    case 'modern tools/call':
    case 'legacy tools/call': {
      const { name, arguments: args = {} } = params;
      if (typeof name !== 'string') return 'unknown tool';
      if (!isObject(args)) return 'no arguments';
      return (await server.callTool(name, args)) ?? 'unknown tool';
    }
    default:
      return 'unknown method';
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

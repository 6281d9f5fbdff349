import { readFile, stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { signPush } from '../../domain/crypto/signatures.ts';
import { readPrintedVariables } from '../../start/config.ts';
import { exitCodes, StartError } from '../../start/start-errors.ts';
import { jsonLineOption } from '../command-options.ts';
import { toPlainLine } from '../print-table.ts';

/** `carillon check`: replays an integration against a server and reports the differences. */
export function registerCheck(program: Command): void {
  program
    .command('check')
    .description(
      'Replay a recorded integration against a server and report the differences; this sends the recorded messages',
    )
    .argument('<base-url>', 'origin of the server, which may be on this machine')
    .requiredOption('--recording <file>', 'HAR file, or requests with their expected responses as JSON or JSON lines')
    .option(...jsonLineOption)
    .action(checkRecording);
}

type Checked = { name: string; differences: Difference[]; failure?: string };

async function checkRecording(baseUrl: string, options: { recording: string; json?: true }): Promise<void> {
  const origin = parseOrigin(baseUrl);
  const calls = await readRecording(options.recording);
  const workspace = readWorkspace();
  const checked: Checked[] = [];
  for (const call of calls) {
    const { name, expected } = call;
    try {
      const reply = await playCall(origin, swapCredentials(call, workspace));
      rememberTokens(workspace, reply.body);
      checked.push({ name, differences: compareReply(expected, reply) });
    } catch (error) {
      const { message, cause } = error as Error;
      checked.push({ name, differences: [], failure: cause instanceof Error ? cause.message : message });
    }
  }
  const differing = checked.filter(
    ({ differences, failure }) => failure !== undefined || differences.some(({ kind }) => kind !== 'extra'),
  ).length;
  if (options.json) process.stdout.write(`${JSON.stringify({ requests: calls.length, differing, checked })}\n`);
  else print(checked, `${calls.length - differing} of ${calls.length} requests are replied to as recorded.`);
  if (differing > 0) process.exitCode = exitCodes.REPLIES_DIFFER.code;
}

function print(checked: Checked[], summary: string): void {
  for (const { name, differences, failure } of checked) {
    const isSame = failure === undefined && differences.every(({ kind }) => kind === 'extra');
    process.stdout.write(`${isSame ? 'same   ' : 'differs'}  ${toPlainLine(name)}\n`);
    if (failure !== undefined) process.stdout.write(`           no response: ${toPlainLine(failure)}\n`);
    for (const { kind, where, expected, found } of differences)
      process.stdout.write(`           ${toPlainLine(`${kind} ${where}: recorded ${expected}, found ${found}`)}\n`);
  }
  process.stdout.write(`${summary}\n`);
}

/** @throws StartError if the text is not an origin: a path or credentials in it would be dropped silently */
function parseOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin =
    url && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === '' && url.hash === '';
  if (!isOrigin || url.username !== '' || url.password !== '')
    throw new StartError('SETTING_INVALID', `${text} is not the origin of a server, such as http://127.0.0.1:8080.`);
  return url.origin;
}

/** Reads the variables that `carillon status --env` prints: every user of the machine could see a key on the command line. */
function readWorkspace(): CheckedWorkspace {
  const environment = readPrintedVariables();
  return {
    workspaceId: environment.CARILLON_WORKSPACE_ID,
    dbName: environment.CARILLON_WORKSPACE_DB_NAME,
    oauthKey: environment.CARILLON_OAUTH_KEY,
    dataKey: environment.CARILLON_DATA_KEY,
    pushKey: environment.CARILLON_PUSH_KEY,
    campaignsKey: environment.CARILLON_CAMPAIGNS_KEY,
  };
}

/** Stores the tokens that this server issued, for later requests. */
function rememberTokens(workspace: CheckedWorkspace, body: unknown): void {
  const data = isRecord(body) ? body.data : undefined;
  if (!isRecord(data)) return;
  if (typeof data.access_token === 'string') workspace.accessToken = data.access_token;
  if (typeof data.refresh_token === 'string') workspace.refreshToken = data.refresh_token;
}

/** One request of an integration, and the response that was recorded. */
type RecordedCall = {
  name: string;
  method: string;
  /** With its query, relative to the base URL. */
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
  expected: { status: number; headers: Record<string, string>; body: unknown };
};

// More than a user records in an afternoon of clicking; a file of another kind is not read into memory.
const maxFileBytes = 20 * 1024 * 1024;
const maxCalls = 1_000;

/** Reads a HAR file, or a described integration as a JSON list or JSON lines. @throws StartError */
async function readRecording(path: string): Promise<RecordedCall[]> {
  const found = await stat(path).catch((error: unknown) => refuse(`${path} cannot be read.`, error));
  if (found.isDirectory()) refuse(`${path} is a folder.`);
  if (found.size > maxFileBytes) refuse(`${path} is larger than ${maxFileBytes / 1024 / 1024} MiB.`);
  const document = parseDocument(await readFile(path, 'utf8'), path);
  const isHar = isRecord(document) && isRecord(document.log) && Array.isArray(document.log.entries);
  const rows: unknown[] = isHar ? ((document.log as Row).entries as unknown[]) : [document].flat();
  if (rows.length === 0) refuse(`${path} contains no requests: it is neither a HAR file nor a list of requests.`);
  if (rows.length > maxCalls) refuse(`${path} contains more than ${maxCalls} requests.`);
  return rows.map((row, index) => {
    if (!isRecord(row)) return refuse(`${path}: request ${index + 1} is not an object.`);
    try {
      return isHar ? fromHar(row) : fromDescription(row);
    } catch (error) {
      return refuse(`${path}: request ${index + 1}: ${(error as Error).message}.`, error);
    }
  });
}

type Row = Record<string, unknown>;

function parseDocument(text: string, path: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Not one document: parsed as JSON lines below.
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line, index) => {
    try {
      return JSON.parse(line) as unknown;
    } catch (error) {
      return refuse(`${path} is neither JSON nor JSON lines: line ${index + 1} cannot be parsed.`, error);
    }
  });
}

function fromHar({ request, response }: Row): RecordedCall {
  if (!isRecord(request) || !isRecord(response)) throw new Error('request and response are required');
  const { pathname, search } = new URL(String(request.url));
  const posted = isRecord(request.postData) ? request.postData.text : undefined;
  const content = isRecord(response.content) ? response.content : {};
  const text = typeof content.text === 'string' ? content.text : '';
  return {
    name: `${String(request.method)} ${pathname}`,
    method: String(request.method),
    path: pathname + search,
    headers: pairsToRecord(request.headers),
    body: typeof posted === 'string' ? posted : undefined,
    expected: {
      status: readStatus(response.status),
      headers: pairsToRecord(response.headers),
      body: readBody(content.encoding === 'base64' ? Buffer.from(text, 'base64').toString() : text),
    },
  };
}

function fromDescription({ name, method = 'GET', path, headers = {}, body, expect }: Row): RecordedCall {
  if (typeof path !== 'string' || !path.startsWith('/')) throw new Error('path begins with /');
  if (!isRecord(expect)) throw new Error('expect is required');
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const type: Record<string, string> = typeof body === 'object' ? { 'content-type': 'application/json' } : {};
  return {
    name: typeof name === 'string' ? name : `${String(method)} ${path.split('?')[0]}`,
    method: String(method),
    path,
    headers: { ...type, ...toHeaders(headers) },
    body: text,
    expected: { status: readStatus(expect.status), headers: toHeaders(expect.headers ?? {}), body: expect.body },
  };
}

function readStatus(status: unknown): number {
  if (Number.isInteger(status) && Number(status) >= 100 && Number(status) <= 599) return Number(status);
  throw new Error('the status of the response must be a number from 100 to 599');
}

function pairsToRecord(pairs: unknown): Record<string, string> {
  const known = Array.isArray(pairs) ? pairs.filter(isRecord) : [];
  return toHeaders(Object.fromEntries(known.map(({ name, value }) => [String(name), value])));
}

function toHeaders(headers: unknown): Record<string, string> {
  if (!isRecord(headers)) throw new Error('headers must be an object');
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
}

/** Parses the body if it is JSON, else returns the text. */
function readBody(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text === '' ? undefined : text;
  }
}

function isRecord(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse(sentence: string, cause?: unknown): never {
  throw new StartError('SETTING_INVALID', sentence, cause);
}

/** Credentials of the checked workspace. Missing ones keep the recorded value. */
type CheckedWorkspace = {
  workspaceId?: string | undefined;
  dbName?: string | undefined;
  oauthKey?: string | undefined;
  dataKey?: string | undefined;
  pushKey?: string | undefined;
  campaignsKey?: string | undefined;
  /** From the newest token response. */
  accessToken?: string | undefined;
  refreshToken?: string | undefined;
};

/** Returns the call with the credentials of another workspace: ids, keys, tokens, and new signatures. */
function swapCredentials(call: RecordedCall, workspace: CheckedWorkspace): RecordedCall {
  const { workspaceId } = workspace;
  const path = workspaceId === undefined ? call.path : swapPath(call.path, workspaceId);
  const body = swapBody(call, workspace);
  const name = campaignNameOf(body);
  const headers = Object.fromEntries(
    Object.entries(call.headers).map(([header, value]) => [
      header,
      swapHeader({ header, value, path, name }, workspace),
    ]),
  );
  return { ...call, path, headers, body };
}

/** Replaces the workspace id in the paths of the families that contain it, and in the query of the others. */
export function swapPath(path: string, workspaceId: string): string {
  return path
    .replace(
      /^(\/v1\/(?:customer|device|event|transition)\/)(?!(?:merge|delete)(?:\/?(?:\?|$)))[^/?]+(?=\/?(?:\?|$))/,
      `$1${workspaceId}`,
    )
    .replace(/([?&]app_id=)[^&#]*/, `$1${workspaceId}`);
}

function swapBody(call: RecordedCall, workspace: CheckedWorkspace): string | undefined {
  if (call.path.startsWith('/v1/oauth/')) return swapForm(call.body, workspace);
  if (call.path.startsWith('/v1/integrations/authentication')) return swapConnection(call.body, workspace);
  return swapPush(call, workspace);
}

/** Swaps the credentials that a connection test has in its body. */
function swapConnection(body: string | undefined, { workspaceId, dataKey }: CheckedWorkspace): string | undefined {
  const sent = readBody(body ?? '');
  if (!isRecord(sent) || workspaceId === undefined || dataKey === undefined) return body;
  return JSON.stringify({ ...sent, app_id: workspaceId, app_secret: dataKey });
}

function swapForm(body: string | undefined, workspace: CheckedWorkspace): string | undefined {
  if (body === undefined) return undefined;
  const form = new URLSearchParams(body);
  const { workspaceId, oauthKey, refreshToken, accessToken } = workspace;
  const values = { client_id: workspaceId, client_secret: oauthKey, refresh_token: refreshToken, token: accessToken };
  for (const [field, value] of Object.entries(values))
    if (value !== undefined && form.get(field)) form.set(field, value);
  return form.toString();
}

/** Swaps a push of v2, which contains id and signature in its body. */
function swapPush({ body, path }: RecordedCall, { workspaceId, pushKey }: CheckedWorkspace): string | undefined {
  const push = path.startsWith('/v2/transaction/sendpush') ? readBody(body ?? '') : undefined;
  if (!isRecord(push) || workspaceId === undefined || pushKey === undefined) return body;
  const campaignName = String(push.campaignName);
  return JSON.stringify({
    ...push,
    appId: workspaceId,
    signature: signPush({ appId: workspaceId, campaignName, key: pushKey }),
  });
}

function campaignNameOf(body: string | undefined): string | undefined {
  const push = readBody(body ?? '');
  return isRecord(push) && typeof push.campaignName === 'string' ? push.campaignName : undefined;
}

type Header = { header: string; value: string; path: string; name: string | undefined };

function swapHeader({ header, value, path, name }: Header, workspace: CheckedWorkspace): string {
  const { workspaceId, dbName, pushKey, accessToken } = workspace;
  if (header.endsWith('-appkey')) return workspaceId ?? value;
  if (header.endsWith('-dbname')) return dbName ?? value;
  if (header.endsWith('-pushapi-signature') && workspaceId !== undefined && pushKey !== undefined && name !== undefined)
    return signPush({ appId: workspaceId, campaignName: name, key: pushKey });
  if (header !== 'authorization') return value;
  if (/^bearer /i.test(value)) return accessToken === undefined ? value : `Bearer ${accessToken}`;
  const key = /campaign|business/.test(path) ? workspace.campaignsKey : workspace.dataKey;
  if (workspaceId === undefined || key === undefined) return value;
  return `Basic ${Buffer.from(`${workspaceId}:${key}`).toString('base64')}`;
}

const maxMilliseconds = 30_000;
const maxReplyBytes = 5 * 1024 * 1024;

// Headers of the recorded connection, and those that fetch sets itself.
const connectionHeaders = new Set(
  [
    'host',
    'connection',
    'content-length',
    'transfer-encoding',
    'accept-encoding',
    'cookie',
    'expect',
    'upgrade',
  ].concat([...['keep-alive', 'te', 'trailer', 'proxy-authorization', 'proxy-connection']]),
);

/**
 * Makes a call at the base URL only: the recorded host is not called, and a redirection is a response. The operator typed the
 * address, so it may be on this machine.
 *
 * @throws Error without a response within 30 seconds, and for one of more than 5 MiB
 */
async function playCall(baseUrl: string, { method, path, headers, body }: RecordedCall): Promise<Reply> {
  const sent = Object.entries(headers).filter(([name]) => !name.startsWith(':') && !connectionHeaders.has(name));
  const reply = await fetch(baseUrl + path, {
    ...{ method, headers: Object.fromEntries(sent), redirect: 'manual', signal: AbortSignal.timeout(maxMilliseconds) },
    ...(body === undefined || method === 'GET' || method === 'HEAD' ? {} : { body }),
  });
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of reply.body ?? []) {
    size += piece.length;
    if (size > maxReplyBytes) throw new Error('the response has more than 5 MiB');
    pieces.push(piece);
  }
  const text = Buffer.concat(pieces).toString();
  return { status: reply.status, headers: Object.fromEntries(reply.headers), body: readBody(text) };
}

type Reply = { status: number; headers: Record<string, string>; body: unknown };

/** A difference that a caller would notice, with its location: `status`, `header content-type`, `body.data.id`. */
type Difference = {
  kind: 'status' | 'missing' | 'type' | 'header' | 'extra';
  where: string;
  expected: string;
  found: string;
};

// Headers that define how a body is parsed and how long to wait. Others are a proxy's, or change with every response.
const comparedHeaders = ['content-type', 'retry-after', 'location'];

/**
 * Returns what is missing or different in a response, compared with the recorded one: status, members and their types, headers.
 * Values belong to the account, so they are not compared. An additional member is `extra`, which a tolerant reader ignores.
 */
export function compareReply(expected: Reply, found: Reply): Difference[] {
  const differences: Difference[] = [];
  if (expected.status !== found.status)
    differences.push({
      ...{ kind: 'status', where: 'status' },
      ...{ expected: String(expected.status), found: String(found.status) },
    });
  for (const name of comparedHeaders) {
    const [wanted, given] = [expected.headers[name], found.headers[name]];
    if (wanted === undefined || (given !== undefined && (name !== 'content-type' || typeOf(wanted) === typeOf(given))))
      continue;
    differences.push({ kind: 'header', where: `header ${name}`, expected: wanted, found: given ?? 'nothing' });
  }
  if (expected.body !== undefined)
    compareValues(differences, { where: 'body', expected: expected.body, found: found.body });
  return differences;
}

const typeOf = (contentType: string): string => contentType.split(';')[0]!.trim().toLowerCase();

type Compared = { where: string; expected: unknown; found: unknown };

function compareValues(differences: Difference[], { where, expected, found }: Compared): void {
  // A null does not show the type that the member has otherwise.
  if (expected === null || (found === null && !isRecord(expected))) return;
  const [wanted, given] = [nameType(expected), nameType(found)];
  if (wanted !== given) {
    const kind = found === undefined ? 'missing' : 'type';
    differences.push({ kind, where, expected: wanted, found: given });
  } else if (Array.isArray(expected)) {
    // Items are alike, so only the first of each list is compared.
    const [first] = found as unknown[];
    if (expected.length > 0 && first !== undefined)
      compareValues(differences, { where: `${where}[0]`, expected: expected[0] as unknown, found: first });
  } else if (isRecord(expected) && isRecord(found) && isKeyedByIds(expected)) {
    // Its keys belong to the account, as values do; its values are alike, as items of a list are.
    const [[id, first]] = Object.entries(expected) as [[string, unknown]];
    const [other] = Object.values(found);
    if (other !== undefined) compareValues(differences, { where: `${where}.<${id}>`, expected: first, found: other });
  } else if (isRecord(expected) && isRecord(found)) {
    for (const name of Object.keys(expected))
      compareValues(differences, { where: `${where}.${name}`, expected: expected[name], found: found[name] });
    for (const name of Object.keys(found).filter((key) => !Object.hasOwn(expected, key)))
      differences.push({ kind: 'extra', where: `${where}.${name}`, expected: 'nothing', found: nameType(found[name]) });
  }
}

/** Ids of campaigns and requests, numbers, and days: names that no interface has, but each account. */
const idOfAccount = /^(?=.*\d)(?:[0-9a-f]{8,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+|\d{4}-\d{2}-\d{2}.*)$/i;

function isKeyedByIds(value: Record<string, unknown>): boolean {
  const names = Object.keys(value);
  return names.length > 0 && names.every((name) => idOfAccount.test(name));
}

function nameType(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}

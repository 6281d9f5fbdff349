import type { Command } from 'commander';
import { readPrintedVariables } from '../start/config.ts';
import { exitCodes, StartError } from '../start/start-errors.ts';
import { compareReply } from './check/compare-reply.ts';
import type { Difference } from './check/compare-reply.ts';
import { playCall } from './check/play-call.ts';
import { isRecord, readRecording } from './check/read-recording.ts';
import { swapCredentials } from './check/swap-credentials.ts';
import type { CheckedWorkspace } from './check/swap-credentials.ts';
import { jsonLineOption } from './command-options.ts';
import { toPlainLine } from './print-table.ts';

/** `carillon check`: plays an integration against a server and says what would differ. */
export function registerCheck(program: Command): void {
  program
    .command('check')
    .description('Play a recorded integration against a server and say what would differ; it sends what was recorded')
    .argument('<base-url>', 'origin of the server, also one of this machine')
    .requiredOption('--recording <file>', 'HAR file, or requests with what they expect as JSON or JSON lines')
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
    if (failure !== undefined) process.stdout.write(`           no reply: ${toPlainLine(failure)}\n`);
    for (const { kind, where, expected, found } of differences)
      process.stdout.write(`           ${toPlainLine(`${kind} ${where}: recorded ${expected}, found ${found}`)}\n`);
  }
  process.stdout.write(`${summary}\n`);
}

/** @throws StartError for what is no origin; a path or credentials in it would be dropped unseen */
function parseOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin =
    url && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === '' && url.hash === '';
  if (!isOrigin || url.username !== '' || url.password !== '')
    throw new StartError('SETTING_INVALID', `${text} is not the origin of a server, such as http://127.0.0.1:8080.`);
  return url.origin;
}

/** The variables that `carillon status --env` prints: a key on the command line would be seen by everybody on the machine. */
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

/** Later requests travel under what this server gave out. */
function rememberTokens(workspace: CheckedWorkspace, body: unknown): void {
  const data = isRecord(body) ? body.data : undefined;
  if (!isRecord(data)) return;
  if (typeof data.access_token === 'string') workspace.accessToken = data.access_token;
  if (typeof data.refresh_token === 'string') workspace.refreshToken = data.refresh_token;
}

import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { resetDemoWorkspace } from '../../app/sandbox/seed-demo-workspace.ts';
import { isAlive } from '../../app/system/nodes.ts';
import type { SandboxRefusal } from '../../domain/sandbox/refusals.ts';
import { makeSimulatedSubscription } from '../../providers/webpush/simulated-browser.ts';
import { StartError } from '../../start/start-errors.ts';
import { listNodes } from '../../storage/installation/nodes.ts';
import { commandLine, withInstallation } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonLineOption, jsonOption, parseCount } from '../command-options.ts';
import { nothing, printJsonLine, printTable } from '../print-table.ts';

/** `carillon sandbox`: controls the sandbox. */
export function registerSandbox(program: Command): void {
  const sandbox = program.command('sandbox').description('The sandbox');
  sandbox
    .command('reset')
    .description('Reset the demo workspace to its state at the first start: same ids, same order, same keys')
    .action(() => withInstallation(program, resetSandbox));
  sandbox
    .command('clock')
    .description('Show the clock of a running sandbox, advance it with a stop at everything that is due, or freeze it')
    .addOption(
      new Option('--advance <time>', 'advance by this much: 45s, 15m, 12h, 30d')
        .argParser(parseDuration)
        .conflicts(['untilIdle', 'freeze', 'resume', 'reset']),
    )
    .addOption(
      new Option('--until-idle', 'advance until nothing is due within 31 days').conflicts([
        'freeze',
        'resume',
        'reset',
      ]),
    )
    .addOption(new Option('--freeze', 'freeze the clock; --advance still moves it').conflicts(['resume', 'reset']))
    .addOption(new Option('--resume', 'let a frozen clock run again').conflicts('reset'))
    .option('--reset', 'return to real time')
    .option(...jsonLineOption)
    .action((options: ClockOptions) => withInstallation(program, (context) => moveSandboxClock(context, options)));
  sandbox
    .command('faults')
    .description('Make simulated providers or API routes of a running sandbox fail, or end all faults')
    .addOption(
      new Option('--set <json>', 'the new faults, as POST /sandbox/faults accepts them').argParser(parseObject),
    )
    .addOption(new Option('--clear', 'end all faults').conflicts('set'))
    .action((options: FaultOptions, command: Command) =>
      options.set === undefined && !options.clear
        ? command.error("error: one of '--set <json>' and '--clear' is needed")
        : withInstallation(program, (context) => setSandboxFaults(context, options)),
    );
  sandbox
    .command('refusals')
    .description(
      'Show the newest 100 requests that the simulated providers of a running sandbox rejected, with the reasons',
    )
    .option(...jsonOption)
    .action((options: { json?: true }) => withInstallation(program, (context) => printRefusals(context, options)));
  sandbox
    .command('generate-users')
    .description('Write a file of users with simulated devices, for import')
    .requiredOption('--users <number>', 'number of users, one device each', parseCount)
    .requiredOption('--out <file>', 'file to write')
    .action((options: GenerateUsersOptions) =>
      withInstallation(program, (context) => generateUsersCommand(context, options)),
    );
}

type ClockOptions = {
  advance?: number;
  untilIdle?: true;
  freeze?: true;
  resume?: true;
  reset?: true;
  json?: true;
};
type FaultOptions = { set?: object; clear?: true };

/** Resets the demo workspace to its seed: through a running node, which also clears its counters and faults, or without one. */
async function resetSandbox(context: CommandContext): Promise<void> {
  if ((await findSandboxUrl(context)) !== undefined) {
    const { workspaceId } = await callSandbox<{ workspaceId: string }>(context, { path: '/reset', body: {} });
    process.stdout.write(`Workspace  ${workspaceId}\nReset to its seed, without counters and faults.\n`);
    return;
  }
  const secret = context.secretFor('simulator');
  const makeSubscription = (id: string): string => makeSimulatedSubscription({ secret, id });
  const { workspaceId } = await resetDemoWorkspace({ ...context, makeSubscription }, { actor: commandLine });
  process.stdout.write(`Workspace  ${workspaceId}\nReset to its seed.\n`);
}

type Clock = {
  now: string;
  offsetSeconds: number;
  frozen: boolean;
  advancing: { stops: number; remainingSeconds: number } | null;
};

const lookMilliseconds = 1_000;

async function moveSandboxClock(context: CommandContext, options: ClockOptions): Promise<void> {
  let clock = await callSandbox<Clock>(context, { path: '/clock', ...moveOf(options) });
  while (clock.advancing) {
    const { stops, remainingSeconds } = clock.advancing;
    process.stderr.write(`${clock.now}, ${stops} stops, ${Math.round(remainingSeconds)} s to go\n`);
    await new Promise((resolve) => setTimeout(resolve, lookMilliseconds));
    clock = await callSandbox<Clock>(context, { path: '/clock' });
  }
  if (options.json) return printJsonLine(clock);
  process.stdout.write(`Clock      ${clock.now}\nMoved by   ${Math.round(clock.offsetSeconds)} s\n`);
  if (clock.frozen) process.stdout.write('It is stopped until it is moved; --resume lets it run again.\n');
}

function moveOf({ advance, untilIdle, freeze, resume, reset }: ClockOptions): { body?: object } {
  if (advance !== undefined) return { body: { advanceSeconds: advance } };
  if (untilIdle) return { body: { runUntilIdle: true } };
  if (freeze) return { body: { freeze: true } };
  if (resume) return { body: { resume: true } };
  return reset ? { body: { reset: true } } : {};
}

async function setSandboxFaults(context: CommandContext, { set = {} }: FaultOptions): Promise<void> {
  await callSandbox(context, { path: '/faults', body: set });
  process.stdout.write(`${Object.keys(set).length === 0 ? 'All faults have ended.' : 'The faults are active.'}\n`);
}

async function printRefusals(context: CommandContext, { json }: { json?: true }): Promise<void> {
  const { refusals } = await callSandbox<{ refusals: SandboxRefusal[] }>(context, { path: '/refusals?limit=1000' });
  if (json) return void refusals.forEach(printJsonLine);
  printTable(
    ['AT', 'PROVIDER', 'STATUS', 'BY', 'REASON', 'DEVICE'],
    refusals.map(({ at, provider, status, rule, reason, device }) => [
      ...[at, provider, status === null ? nothing : String(status), rule, reason],
      device === null ? nothing : device.slice(0, maxShownCharacters),
    ]),
  );
}

const maxShownCharacters = 24;

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Returns seconds. @throws InvalidArgumentError */
function parseDuration(text: string): number {
  const [, count, unit] = /^(\d{1,7})([smhd])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined)
    throw new InvalidArgumentError('must be a number with s, m, h or d, such as 30d');
  return Number(count) * unitSeconds[unit]!;
}

/** @throws InvalidArgumentError */
function parseObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value;
  } catch {
    // Reported below.
  }
  throw new InvalidArgumentError('an object in JSON');
}

// An advance responds with its progress after 20 seconds; a reset waits for messages that are being sent.
const maxMilliseconds = 60_000;

/** Calls a route of the sandbox at a running node, because its state is in memory. @throws StartError SETTING_INVALID */
async function callSandbox<Answer>(
  context: Pick<CommandContext, 'database' | 'clock'>,
  { path, body }: { path: string; body?: object },
): Promise<Answer> {
  const url = await findSandboxUrl(context);
  if (url === undefined) throw new StartError('SETTING_INVALID', 'No node is running; start one with: carillon start.');
  const headers = body && { 'content-type': 'application/json' };
  const request = { method: body ? 'POST' : 'GET', ...(body && { headers, body: JSON.stringify(body) }) };
  const signal = AbortSignal.timeout(maxMilliseconds);
  const answer = await fetch(`${url}/sandbox${path}`, { ...request, signal } as RequestInit).catch((error: unknown) => {
    throw new StartError('SETTING_INVALID', `The node at ${url} does not respond.`, error);
  });
  const text = await answer.text();
  if (answer.ok) return (text === '' ? undefined : JSON.parse(text)) as Answer;
  throw new StartError('SETTING_INVALID', `The node at ${url} rejected the call: ${readReason(text) ?? answer.status}`);
}

/** Returns the URL of the first node that serves calls. */
async function findSandboxUrl({
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

type GenerateUsersOptions = { users: number; out: string };

/**
 * `carillon sandbox generate-users`: writes a file of users with one device each, Android, iOS and web in turn, for `carillon
 * import`. Equal numbers produce equal files; the sandbox can decrypt for the browsers' keys.
 */
async function generateUsersCommand(context: CommandContext, options: GenerateUsersOptions): Promise<void> {
  const secret = context.secretFor('simulator');
  await pipeline(Readable.from(lines(options.users, secret)), createWriteStream(options.out));
  process.stdout.write(`${JSON.stringify({ file: options.out, users: options.users })}\n`);
}

const linesPerPiece = 500;

function* lines(users: number, secret: Buffer): Generator<string> {
  let piece = '';
  for (let number = 0; number < users; number += 1) {
    piece += `${JSON.stringify(makeUser(number, secret))}\n`;
    if (number % linesPerPiece === linesPerPiece - 1) {
      yield piece;
      piece = '';
    }
  }
  if (piece !== '') yield piece;
}

const platforms = ['ANDROID', 'iOS', 'web'] as const;

function makeUser(number: number, secret: Buffer): object {
  const platform = platforms[number % platforms.length]!;
  return {
    customer_id: `demo-user-${number}`,
    attributes: { u_fn: `User ${number}`, u_em: `user${number}@example.com`, visits: number % 100 },
    devices: [{ device_id: `device-${number}`, platform, push_id: pushIdOf({ platform, number, secret }) }],
  };
}

/** Forms of real tokens: about 150 characters for FCM, 32 bytes in hexadecimal for APNs, a subscription for a browser. */
function pushIdOf({
  platform,
  number,
  secret,
}: {
  platform: (typeof platforms)[number];
  number: number;
  secret: Buffer;
}): string {
  const digest = createHash('sha256').update(`demo-device:${number}`).digest();
  if (platform === 'ANDROID')
    return `${digest.toString('base64url').slice(0, 22)}:APA91b${digest.toString('base64url').repeat(3)}`;
  if (platform === 'iOS') return digest.toString('hex');
  return makeSimulatedSubscription({ secret, id: `demo-${number}` });
}

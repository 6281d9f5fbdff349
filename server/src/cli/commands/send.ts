import { readFile, stat } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { Option } from 'commander';
import type { Command } from 'commander';
import { makeCampaignReport } from '../../app/campaigns/campaign-report.ts';
import { makeAcceptPush } from '../../app/push/accept-push.ts';
import { admitOperatorPush } from '../../app/push/admit-push.ts';
import type { PushOfWorkspace } from '../../app/push/admit-push.ts';
import { previewPush } from '../../app/push/preview-push.ts';
import type { PushPreview } from '../../app/push/preview-push.ts';
import { platforms } from '../../domain/content/content.ts';
import type { Platform } from '../../domain/content/content.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxPushBodyBytes } from '../../domain/limits/push.ts';
import type { PushCommand, PushAudience } from '../../domain/push.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { makeDoorbell } from '../../engine/doorbell.ts';
import { presentPreview } from '../../http/campaigns/test-and-preview.ts';
import { presentAcceptedPush, presentContentWarnings } from '../../http/push/answers.ts';
import { parsePush, pushBodyV21 } from '../../http/push/parse-push.ts';
import { parseJson } from '../../http/route/json-body.ts';
import { findUnknownFields } from '../../http/route/warnings.ts';
import { StartError } from '../../start/start-errors.ts';
import { findInstallation } from '../../storage/installation/installation.ts';
import { withInstallation, findWorkspaceToUse } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { workspaceOption } from '../command-options.ts';
import { toPlainLine } from '../print-table.ts';
import { followCampaign } from '../watch.ts';

const optionsOfBody = ['all', 'segment', 'users', 'platform', 'title', 'message', 'image', 'deepLink', 'icon', 'tag'];

/** `carillon send`: sends a push through the same use cases as a signed request to the push API. */
export function registerSend(program: Command): void {
  program
    .command('send')
    .description('Send a push through a running node, or preview it with --dry-run')
    .option(
      '--name <name>',
      'name of the campaign, 5 to 256 characters; must be new, but with --users it may be that of a campaign to join',
    )
    .option('--all', 'send to all users; requires --yes if this reaches real devices')
    .option('--segment <name>', 'send to the members of a segment')
    .option('--users <customer id...>', 'send to these users, 50 at most')
    .addOption(
      new Option('--platform <platform...>', 'platforms to send to')
        .choices([...platforms])
        .default(['ANDROID', 'IOS']),
    )
    .option('--title <text>', 'title; all texts may be templates')
    .option('--message <text>', 'message')
    .option('--image <address>', 'https URL of an image')
    .option('--deep-link <address>', 'link that a tap opens; required for WEB')
    .option('--icon <address>', 'URL of an icon; required for WEB')
    .option('--tag <tag...>', 'tags of the campaign')
    .addOption(
      new Option(
        '--file <path>',
        'request body of the push API as JSON, instead of these options; - for standard input',
      ).conflicts(optionsOfBody),
    )
    .addOption(
      new Option('--dry-run', 'send nothing; show the message of each platform and the number of devices').conflicts(
        'watch',
      ),
    )
    .option('--preview-for <customer id>', 'user for whom a dry run renders the texts')
    .option('--yes', 'confirm a send to all users')
    .option('--watch', 'wait until everything is sent; exits with 2 if it fails or is paused')
    .option('--json', 'print one line of JSON')
    .option(...workspaceOption)
    .action((options: SendOptions, command: Command) =>
      options.previewFor !== undefined && !options.dryRun
        ? command.error("error: option '--preview-for <customer id>' needs '--dry-run'")
        : withInstallation(program, (context) => send(context, options)),
    );
}

type SendOptions = PushOptions & {
  dryRun?: true;
  previewFor?: string;
  yes?: true;
  watch?: true;
  json?: true;
  workspace?: string;
};

async function send(context: CommandContext, options: SendOptions): Promise<void> {
  const body = await readPushBody(options);
  const workspaceId = await findWorkspaceToUse(context.database, options.workspace ?? workspaceOf(body));
  const read = await readPush(context, { body, workspaceId, purpose: options.dryRun ? 'look' : 'send' });
  for (const warning of read.warnings) process.stderr.write(`Note: ${toPlainLine(warning)}\n`);
  const asked = { ...read, previewFor: options.previewFor };
  if (options.dryRun) return printPreview(await previewPush(context, asked), { ...read, json: options.json });
  if (read.command.audience.kind === 'all-users' && !options.yes) await refuseRealDevices(context, read);
  const accepted = await makeAcceptPush({ ...context, doorbell: makeDoorbell(context) })({
    ...read,
    idempotencyKey: undefined,
    rawBody: '',
  });
  if (!options.json) {
    process.stdout.write(`Campaign   ${accepted.campaignId}\n`);
    for (const next of accepted.nextSends) process.stdout.write(`Next send  ${next}\n`);
    process.stdout.write('Accepted; a running node sends it.\n');
  }
  const ended = options.watch ? await watch(context, { workspaceId, id: accepted.campaignId }) : undefined;
  if (options.json)
    process.stdout.write(
      `${JSON.stringify({ ...presentAcceptedPush(accepted), warnings: read.warnings, ...ended })}\n`,
    );
  else if (ended) printEnd(ended);
  const fault = faults[ended?.campaignStatus ?? ''];
  if (fault !== undefined)
    throw new StartError('SETTING_INVALID', `${fault}: ${toPlainLine(ended?.statusReason ?? 'no reason')}`);
}

/** Errors for the statuses in which a watched send did not complete. */
const faults: Record<string, string> = { FAILED: 'The campaign failed', PAUSED: 'The campaign is paused' };

/**
 * Rejects a send to all users without --yes, except in a demo workspace without real credentials.
 *
 * @throws StartError SETTING_INVALID
 */
async function refuseRealDevices(context: CommandContext, read: ReadPush): Promise<void> {
  const { workspace } = read.admitted;
  const preview = await previewPush(context, { ...read, previewFor: undefined });
  const isDemo = (await findInstallation(context.database))?.demoWorkspaceId === workspace.id;
  if (isDemo && preview.platforms.every(({ credentials }) => credentials !== 'real')) return;
  throw new StartError(
    'SETTING_INVALID',
    `This goes to all users of ${toPlainLine(workspace.name)}, ${devicesOf(preview)}. Preview it with --dry-run, or send it with --yes.`,
  );
}

type Ended = {
  campaignStatus: string;
  statusReason: string | null;
  outcomes: { platform: string; outcome: string; devices: number }[];
};

async function watch({ database, clock }: CommandContext, key: { workspaceId: string; id: string }): Promise<Ended> {
  const { status, statusReason } = await followCampaign(database, key);
  const { outcomes } = await makeCampaignReport({ database, clock }).progress(key);
  return { campaignStatus: status, statusReason, outcomes };
}

function printEnd({ campaignStatus, outcomes }: Ended): void {
  process.stdout.write(`Status     ${campaignStatus}\n`);
  for (const { platform, outcome, devices } of outcomes)
    process.stdout.write(`${platform.padEnd(11)}${devices} ${outcome}\n`);
}

type PushOptions = {
  name?: string;
  file?: string;
  all?: true;
  segment?: string;
  users?: string[];
  platform: Platform[];
  title?: string;
  message?: string;
  image?: string;
  deepLink?: string;
  icon?: string;
  tag?: string[];
};

/** Returns the body that the push API would get, from a file or from the options. @throws StartError SETTING_INVALID */
async function readPushBody(options: PushOptions): Promise<Record<string, unknown>> {
  if (options.file === undefined) return makeBody(options);
  const body = await readBodyFile(options.file);
  return options.name === undefined ? body : { ...body, campaignName: options.name };
}

async function readBodyFile(path: string): Promise<Record<string, unknown>> {
  const refuse = (why: string, cause?: unknown) => new StartError('SETTING_INVALID', `The file ${path} ${why}.`, cause);
  let body: unknown;
  try {
    if (path !== '-' && (await stat(path)).size > maxPushBodyBytes)
      throw refuse(`is larger than the ${maxPushBodyBytes} bytes of a request`);
    body = parseJson(path === '-' ? await text(process.stdin) : await readFile(path, 'utf8'));
  } catch (error) {
    if (error instanceof StartError) throw error;
    const why = (error instanceof ServiceError && error.context.detail) || (error as Error).message;
    throw refuse(`cannot be read: ${why}`, error);
  }
  if (body === null || typeof body !== 'object' || Array.isArray(body)) throw refuse('does not contain a JSON object');
  return body as Record<string, unknown>;
}

function makeBody(options: PushOptions): Record<string, unknown> {
  const { name, platform: targetPlatform, tag } = options;
  if (name === undefined) throw new StartError('SETTING_INVALID', 'Name the campaign with --name, or give --file.');
  const payload = targetPlatform.map((platform) => [platform, makePayload(platform, options)]);
  return {
    campaignName: name,
    ...makeAudience(options),
    targetPlatform,
    payload: Object.fromEntries(payload),
    campaignDelivery: { type: 'soon' },
    ...(tag && { campaignTags: tag }),
  };
}

function makeAudience({ all, segment, users }: PushOptions): Record<string, unknown> {
  if ([all, segment, users].filter((one) => one !== undefined).length !== 1)
    throw new StartError('SETTING_INVALID', 'Give one audience: --all, --segment <name> or --users <customer id...>.');
  if (all) return { targetAudience: 'All Users' };
  if (segment !== undefined) return { targetAudience: 'Custom Segment', customSegmentName: segment };
  return {
    targetAudience: 'User',
    targetUserAttributes: {
      attribute: 'USER_ATTRIBUTE_UNIQUE_ID',
      comparisonParameter: 'in',
      attributeValue: users,
    },
  };
}

/** Uses one text on every platform. A missing value that a platform requires is rejected as in the API. */
function makePayload(platform: Platform, options: PushOptions): Record<string, unknown> {
  const { title, message, image, deepLink, icon } = options;
  const shown = { title, message };
  if (platform === 'WEB') return { ...shown, redirectURL: deepLink, iconURL: icon, imageURL: image };
  return {
    ...shown,
    ...(image !== undefined && { richContent: [{ type: 'image', value: image }] }),
    ...(deepLink !== undefined && { defaultAction: { type: 'deeplinking', value: deepLink } }),
  };
}

/** A push that the API would accept, with its warnings. */
type ReadPush = { admitted: PushOfWorkspace; command: PushCommand; warnings: string[] };

type Reading = { body: Record<string, unknown>; workspaceId: string; purpose: 'send' | 'look' };

/** Reads the push like the push API, with its errors in the same order (decision D31). @throws ServiceError */
async function readPush(
  { database, clock, prefixes }: CommandContext,
  { body, workspaceId, purpose }: Reading,
): Promise<ReadPush> {
  if (body.requestType !== undefined && body.requestType !== 'push')
    throw new ServiceError('PUSH_REQUEST_TYPE_INVALID');
  const named = workspaceOf(body);
  if (named !== undefined && named !== workspaceId) throw new ServiceError('PUSH_APP_ID_INVALID');
  const { campaignName, targetAudience: audience } = body;
  const name = typeof campaignName === 'string' ? campaignName : undefined;
  const by = 'Command line';
  const admitted = await admitOperatorPush(
    { database, clock },
    { workspaceId, campaignName: name, audience, by, purpose },
  );
  const command = parsePush(body, { admitted, now: clock.now(), queryType: undefined, prefixes });
  const warnings = [
    ...(body.signature === undefined ? [] : ['signature is not needed here and was not checked']),
    ...findUnknownFields(pushBodyV21, body).map((path) => `unknown field ${path}`),
    ...command.warnings,
    ...presentContentWarnings(command, { payload: admitted.workspace.androidPayload, apps: admitted.apps }),
  ];
  return { admitted, command, warnings };
}

/** Returns the workspace that a body of v2 names. */
function workspaceOf({ appId }: Record<string, unknown>): string | undefined {
  return typeof appId === 'string' && appId !== '' ? appId : undefined;
}

/** Prints the result of `carillon send --dry-run`: each platform with its texts and its device count. */
function printPreview(
  preview: PushPreview,
  { admitted, command, warnings, json }: ReadPush & { json: true | undefined },
): void {
  const shown = presentPreview(preview).platforms as Record<string, object>;
  const platforms = preview.platforms.map(({ platform, devices, credentials }) => ({
    platform,
    devices: devices ?? null,
    credentials: credentials ?? null,
    ...shown[platform.toLowerCase()],
  }));
  const { kind: timing } = command.timing;
  const { customerId, pending } = preview;
  if (json) {
    const campaign = admitted.name;
    const facts = { campaign, audience: command.audience, timing, customerId, platforms, pending, warnings };
    process.stdout.write(`${JSON.stringify(facts)}\n`);
    return;
  }
  const print = (title: string, value: string): boolean =>
    process.stdout.write(`${title.padEnd(11)}${toPlainLine(value)}\n`);
  print('Campaign', `${admitted.name}${admitted.existing ? ' (exists already; its stored settings are used)' : ''}`);
  print('Audience', `${describeAudience(command.audience)}, ${devicesOf(preview)}`);
  print('When', timing === 'soon' ? 'immediately' : timing);
  for (const reason of pending) print('Note', reason);
  if (customerId !== '') print('Shown for', customerId);
  for (const { platform, devices, credentials, ...rendered } of platforms) {
    process.stdout.write(`\n${platform}, ${describeDevices(devices)}, ${describeCredentials(credentials)}\n`);
    printMembers(rendered);
  }
  process.stdout.write('\nNothing was sent.\n');
}

/** Formats `up to 3 devices (ANDROID 2, IOS 1)`; caps, quiet hours and lost devices reduce the number. */
function devicesOf({ platforms }: PushPreview): string {
  if (platforms.some(({ devices }) => devices === undefined)) return 'more devices than could be counted in 10 s';
  const sum = platforms.reduce((total, { devices = 0 }) => total + devices, 0);
  const each = platforms.map(({ platform, devices }) => `${platform} ${devices}`);
  return `up to ${describeDevices(sum)} (${each.join(', ')})`;
}

function describeDevices(devices: number | null): string {
  if (devices === null) return 'not counted';
  return `${devices} ${devices === 1 ? 'device' : 'devices'}`;
}

function describeCredentials(credentials: 'simulated' | 'real' | null): string {
  return credentials === null ? 'no credentials; runs pause until there are some' : `${credentials} credentials`;
}

function describeAudience(audience: PushAudience): string {
  switch (audience.kind) {
    case 'all-users':
      return 'all users';
    case 'segment':
      return `segment ${audience.name}`;
    case 'user':
      return `users whose ${audience.attribute} is ${audience.values.join(', ')}`;
    default:
      return unknownCase(audience);
  }
}

/** Prints each value under its path; empty values are left out. */
function printMembers(value: unknown, path = ''): void {
  if (value === undefined || value === null || value === '') return;
  if (typeof value !== 'object') {
    process.stdout.write(`  ${path}: ${toPlainLine(String(value))}\n`);
    return;
  }
  for (const [name, member] of Object.entries(value)) printMembers(member, path === '' ? name : `${path}.${name}`);
}

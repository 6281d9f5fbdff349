import { Option } from 'commander';
import type { Command } from 'commander';
import { makeCampaignReport } from '../app/console/campaign-report.ts';
import { makeAcceptPush } from '../app/push/accept-push.ts';
import { previewPush } from '../app/push/preview-push.ts';
import { platforms } from '../domain/campaigns/content.ts';
import { makeDoorbell } from '../engine/doorbell.ts';
import { presentAcceptedPush } from '../http/push/present.ts';
import { StartError } from '../start/start-errors.ts';
import { findInstallation } from '../storage/installation/installation.ts';
import { withInstallation } from './command-context.ts';
import type { CommandContext } from './command-context.ts';
import { workspaceOption } from './command-options.ts';
import { findWorkspaceToUse } from './find-workspace-to-use.ts';
import { devicesOf, printPreview } from './print-push-preview.ts';
import { toPlainLine } from './print-table.ts';
import { readPush, workspaceOf } from './read-push.ts';
import type { ReadPush } from './read-push.ts';
import { readPushBody } from './read-push-body.ts';
import type { PushOptions } from './read-push-body.ts';
import { followCampaign } from './watch-campaign.ts';

const ofTheFile = ['all', 'segment', 'users', 'platform', 'title', 'message', 'image', 'deepLink', 'icon', 'tag'];

/** `carillon send`: a push, through what the push API does with a request that is signed. */
export function registerSend(program: Command): void {
  program
    .command('send')
    .description('Send a push, or show with --dry-run what it would be; a running node sends it')
    .option('--name <name>', 'name of the campaign, 5 to 256 characters; new, but for --users, who join a campaign')
    .option('--all', 'to all users; needs --yes where this reaches real devices')
    .option('--segment <name>', 'to the members of a segment')
    .option('--users <customer id...>', 'to these users, 50 at most')
    .addOption(
      new Option('--platform <platform...>', 'any of them').choices([...platforms]).default(['ANDROID', 'IOS']),
    )
    .option('--title <text>', 'title; texts may be templates')
    .option('--message <text>', 'message')
    .option('--image <address>', 'image, https')
    .option('--deep-link <address>', 'what a tap opens; WEB needs it')
    .option('--icon <address>', 'icon; WEB needs it')
    .option('--tag <tag...>', 'tags of the campaign')
    .addOption(
      new Option('--file <path>', 'body of the push API as JSON instead of these; - for standard input').conflicts(
        ofTheFile,
      ),
    )
    .addOption(
      new Option('--dry-run', 'send nothing; show what each platform gets and how many devices it is for').conflicts(
        'watch',
      ),
    )
    .option('--preview-for <customer id>', 'the user whose texts a dry run shows')
    .option('--yes', 'send to all users')
    .option('--watch', 'wait until everything is sent; 2 if it fails or is paused')
    .option('--json', 'as one line of JSON')
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

/** What whoever waited for the sending did not get. */
const faults: Record<string, string> = { FAILED: 'The campaign failed', PAUSED: 'The campaign is paused' };

/** All users of what is no rehearsal are asked for twice. @throws StartError SETTING_INVALID */
async function refuseRealDevices(context: CommandContext, read: ReadPush): Promise<void> {
  const { workspace } = read.admitted;
  const preview = await previewPush(context, { ...read, previewFor: undefined });
  const isDemo = (await findInstallation(context.database))?.demoWorkspaceId === workspace.id;
  if (isDemo && preview.platforms.every(({ credentials }) => credentials !== 'real')) return;
  throw new StartError(
    'SETTING_INVALID',
    `This goes to all users of ${toPlainLine(workspace.name)}, ${devicesOf(preview)}. Look at it with --dry-run, send it with --yes.`,
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

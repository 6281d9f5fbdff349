import type { Command } from 'commander';
import { explainDelivery } from '../../app/explain.ts';
import type { Explanation } from '../../app/explain.ts';
import { describeTrigger } from '../../domain/events/triggers.ts';
import { unknownCustomerId, describeDelivery, describeNoRun, describeRun } from '../../domain/explain.ts';
import { withInstallation, findWorkspaceToUse } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonLineOption, workspaceOption } from '../command-options.ts';
import { printJsonLine, toPlainLine } from '../print-table.ts';

/** `carillon explain`: the reason why a user got a campaign or did not, by run and device. */
export function registerExplain(program: Command): void {
  program
    .command('explain')
    .description('Explain why a user received a campaign or did not')
    .requiredOption('--campaign <id>', 'id of the campaign')
    .requiredOption('--user <customer id>', 'customer id of the user')
    .option('--run <id>', 'one run of the campaign; default: the newest 20')
    .option(...jsonLineOption)
    .option(...workspaceOption)
    .action((options: ExplainOptions) => withInstallation(program, (context) => printExplanation(context, options)));
}

type ExplainOptions = { campaign: string; user: string; run?: string; workspace?: string; json?: true };

async function printExplanation({ database }: CommandContext, options: ExplainOptions): Promise<void> {
  const workspaceId = await findWorkspaceToUse(database, options.workspace);
  const asked = { workspaceId, campaignId: options.campaign, customerId: options.user, runId: options.run };
  const explained = await explainDelivery({ database }, asked);
  if (options.json) return printJsonLine(toJson(explained));
  const { campaign, runs, triggers } = explained;
  const print = (line: string): boolean => process.stdout.write(`${toPlainLine(line)}\n`);
  print(
    `${campaign.name} (${campaign.id}), ${campaign.status}${campaign.statusReason ? `: ${campaign.statusReason}` : ''}`,
  );
  if (!runs) return void print(unknownCustomerId);
  if (runs.length === 0)
    print(
      isDue(explained)
        ? `${describeNoRun(triggers)} It is due at ${campaign.nextAt!.toISOString()}.`
        : describeNoRun(triggers),
    );
  for (const trigger of triggers ?? []) print(`${trigger.state}: ${describeTrigger(trigger)}`);
  for (const run of runs) {
    print(`Run ${run.runId}, ${run.runStatus}, ${run.createdAt.toISOString()}: ${run.step}. ${describeRun(run)}`);
    for (const device of run.devices)
      print(`  ${device.platform} ${device.deviceId ?? '(removed)'}: ${device.step}. ${describeDelivery(device)}`);
  }
}

/** The next time of an event-triggered campaign is its expiry, so it is not due. */
function isDue({ campaign, triggers }: Explanation): boolean {
  return campaign.nextAt !== null && !triggers;
}

/** Returns the findings with the sentence of each step; `explanation` is the reason when there is no run. */
function toJson({ campaign, customerId, runs, triggers }: Explanation): object {
  const without = runs === undefined ? unknownCustomerId : runs.length === 0 ? describeNoRun(triggers) : null;
  return {
    campaign,
    customerId,
    explanation: without,
    runs: (runs ?? []).map((run) => ({
      ...run,
      explanation: describeRun(run),
      devices: run.devices.map((device) => ({ ...device, explanation: describeDelivery(device) })),
    })),
    ...(triggers && { triggers: triggers.map((trigger) => ({ ...trigger, explanation: describeTrigger(trigger) })) }),
  };
}

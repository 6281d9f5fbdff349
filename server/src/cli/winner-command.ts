import { Option } from 'commander';
import type { Command } from 'commander';
import { audit } from '../app/accounts/audit.ts';
import { nameWinner } from '../app/campaigns/name-winner.ts';
import type { WinnerChoice } from '../app/campaigns/name-winner.ts';
import { readWinner } from '../app/campaigns/read-winner.ts';
import type { CampaignWinner } from '../app/campaigns/read-winner.ts';
import { maxVariations } from '../domain/experiments/limits.ts';
import { learningMeasures, variationName } from '../domain/experiments/variants.ts';
import type { LearningMeasure } from '../domain/experiments/variants.ts';
import { presentWinner } from '../http/campaigns/present-winner.ts';
import { withInstallation } from './command-context.ts';
import type { CommandContext } from './command-context.ts';
import { jsonLineOption, workspaceOption } from './command-options.ts';
import { findWorkspaceToUse } from './find-workspace-to-use.ts';
import { nothing, printJsonLine, printTable, toPlainLine } from './print-table.ts';

const names = Array.from({ length: maxVariations }, (_, index) => variationName(index + 1));

/** `carillon campaigns winner`: shows how the variations of a campaign stand, and names the one that the rest gets. */
export function registerWinner(program: Command, campaigns: Command): void {
  campaigns
    .command('winner')
    .description('Show how the variations of a campaign stand; or name the one that all who were not sent to yet get')
    .argument('<id>')
    .addOption(new Option('--variation <name>', 'this one').choices(names).conflicts(['metric', 'none']))
    .addOption(
      new Option('--metric <metric>', 'the one that is the best by these figures with 95 %')
        .choices(learningMeasures)
        .conflicts('none'),
    )
    .option('--none', 'none any more: the shares decide again')
    .option(...jsonLineOption)
    .option(...workspaceOption)
    .action((id: string, options: WinnerOptions) =>
      withInstallation(program, (context) => winnerCommand(context, { ...options, id })),
    );
}

type WinnerOptions = { variation?: string; metric?: LearningMeasure; none?: true; json?: true; workspace?: string };

const by = { id: null, name: 'the command line' };

export async function winnerCommand(
  context: Pick<CommandContext, 'database' | 'clock' | 'encryption'>,
  { id, json, workspace, ...asked }: WinnerOptions & { id: string },
): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, workspace);
  const key = { workspaceId, id };
  const choice = choiceOf(asked);
  const told = choice
    ? await nameWinner(context, {
        ...{ ...key, choice, requestedBy: by.name, idempotencyKey: undefined, rawBody: '' },
        noteWinner: (tx, { campaign: { name }, winner }) => {
          const detail = { variation: winner === null ? null : variationName(winner), metric: asked.metric ?? null };
          const action = 'campaign.winner' as const;
          return audit(tx, {
            actor: by,
            workspaceId,
            action,
            object: { id, name },
            detail,
            at: context.clock.realNow(),
          });
        },
      })
    : await readWinner(context, key);
  if (json) return printJsonLine(presentWinner(told));
  print(told);
}

function choiceOf({ variation, metric, none }: WinnerOptions): WinnerChoice | undefined {
  if (variation !== undefined) return { kind: 'variation', variation: names.indexOf(variation) + 1 };
  if (metric !== undefined) return { kind: 'figures', measure: metric };
  return none ? { kind: 'none' } : undefined;
}

function print({ campaign, figures }: CampaignWinner): void {
  const { name, winner, namedAt, namedBy } = campaign;
  process.stdout.write(`Campaign  ${toPlainLine(name)}\n`);
  const named =
    winner === null ? nothing : `${variationName(winner)}, named ${namedAt!.toISOString()} by ${toPlainLine(namedBy!)}`;
  process.stdout.write(`Winner    ${named}\n`);
  if (figures.length === 0) return;
  process.stdout.write('\n');
  printTable(
    ['METRIC', 'VARIATION', 'SENT', 'SUCCESSES', 'RATE', '95 %', 'BEST'],
    figures.flatMap(({ measure, variations }) =>
      variations.map(({ variation, trials, successes, rate, interval, bestPercent }) => [
        ...[measure, variationName(variation), String(trials), String(successes)],
        rate === undefined ? nothing : inPercent(rate),
        interval ? `${inPercent(interval.low)} to ${inPercent(interval.high)}` : nothing,
        `${bestPercent} %`,
      ]),
    ),
  );
}

function inPercent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}

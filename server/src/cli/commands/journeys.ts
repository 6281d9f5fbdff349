import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { changeJourneyState } from '../../app/journeys/change-journey-state.ts';
import type { JourneyAction } from '../../app/journeys/change-journey-state.ts';
import { createJourney, readJourney, removeJourney, searchJourneys, unrepeated } from '../../app/journeys/journeys.ts';
import { readJourneyFigures } from '../../app/journeys/journey-users.ts';
import { publishJourney, validateJourney } from '../../app/journeys/publish-journey.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxJourneys } from '../../domain/limits/journeys.ts';
import { parseJourney } from '../../http/journeys/requests.ts';
import { isObject } from '../../fields/request-reader.ts';
import { commandLine, findWorkspaceToUse, withInstallation } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonOption, workspaceOption } from '../command-options.ts';
import { nothing, printTable } from '../print-table.ts';

/** `carillon journeys`: lists and moves journeys, and writes and reads them as files. */
export function registerJourneys(program: Command): void {
  const journeys = program.command('journeys').description('Graphs of steps through which each user passes alone');
  const add = (name: string, description: string) =>
    journeys
      .command(name)
      .description(description)
      .option(...workspaceOption);
  const ofOne =
    <Options>(act: (context: CommandContext, named: Named, options: Options) => Promise<void>) =>
    (id: string, options: Options & Workspace) =>
      withInstallation(program, async (context) => {
        const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
        await act(context, { workspaceId, id }, options);
      });

  add('list', 'List the journeys, newest first')
    .option(...jsonOption)
    .action((options: Workspace & Json) => withInstallation(program, (context) => list(context, options)));
  add('import', 'Create a draft from a file that export wrote')
    .argument('<file>', 'JSON file with name and graph')
    .option('--name <name>', 'name of the draft; default: that in the file')
    .action((file: string, options: Workspace & { name?: string }) =>
      withInstallation(program, (context) => importFile(context, { file, ...options })),
    );
  add('export', 'Write the draft of a journey, else its live graph, to a file')
    .argument('<journey>', 'id of the journey')
    .requiredOption('--out <file>', 'file to write')
    .action(ofOne(exportFile));
  add('check', 'List what keeps the draft of a journey from being published')
    .argument('<journey>', 'id of the journey')
    .option(...jsonOption)
    .action(ofOne(check));
  add('publish', 'Publish the draft of a journey as its next version')
    .argument('<journey>', 'id of the journey')
    .option('--move <rule...>', 'old=new moves the users at a removed step; old= lets them leave')
    .action(ofOne(publish));
  for (const [action, description] of Object.entries(actions))
    add(action, description)
      .argument('<journey>', 'id of the journey')
      .action(ofOne((context, named) => change(context, { ...named, action: action as JourneyAction })));
  add('remove', 'Remove a journey that was never published')
    .argument('<journey>', 'id of the journey')
    .action(ofOne(remove));
  add('figures', 'Count the users at each step, and those who left it by each edge')
    .argument('<journey>', 'id of the journey')
    .option(...jsonOption)
    .action(ofOne(figures));
}

type Workspace = { workspace?: string };
type Json = { json?: true };
type Named = { workspaceId: string; id: string };

const actions: Record<JourneyAction, string> = {
  pause: 'Pause a journey: users neither enter nor go on',
  resume: 'Resume a paused journey',
  stop: 'Stop a journey for good: everyone leaves',
};

async function list({ database }: CommandContext, options: Workspace & Json): Promise<void> {
  const workspaceId = await findWorkspaceToUse(database, options.workspace);
  const every = { statuses: undefined, name: undefined, createdFrom: undefined, createdBefore: undefined };
  const found = await searchJourneys({ database }, { ...every, workspaceId, after: undefined, limit: maxJourneys });
  printTable(
    ['JOURNEY', 'STATUS', 'VERSION', 'DRAFT', 'NAME'],
    found.map(({ id, status, version, draft, name }) => [
      ...[id, status, version === null ? nothing : String(version)],
      ...[draft === null ? 'no' : 'yes', name],
    ]),
    options,
  );
}

async function importFile(
  context: CommandContext,
  { file, name, workspace }: Workspace & { file: string; name?: string },
): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, workspace);
  const sent: unknown = JSON.parse(await readFile(file, 'utf8'));
  const journey = parseJourney({ ...(isObject(sent) ? sent : {}), ...(name === undefined ? {} : { name }) });
  const caller = { workspaceId, actor: commandLine, once: unrepeated };
  const { id } = await createJourney(context, { ...caller, ...journey });
  process.stdout.write(`Journey  ${id}\nName     ${journey.name}\n`);
}

async function exportFile(context: CommandContext, named: Named, { out }: { out: string }): Promise<void> {
  const { journey, live } = await readJourney(context, named);
  const text = JSON.stringify({ name: journey.name, graph: journey.draft ?? live!.graph }, undefined, 2);
  await writeFile(out, `${text}\n`);
  process.stdout.write(`Wrote ${out}.\n`);
}

async function check(context: CommandContext, named: Named, { json }: Json): Promise<void> {
  const faults = await validateJourney(context, named);
  if (json) process.stdout.write(`${JSON.stringify({ isValid: faults.length === 0, faults })}\n`);
  else if (faults.length > 0) throw new ServiceError('CAMPAIGN_REQUEST_INVALID', { faults });
  else process.stdout.write('The draft can be published.\n');
}

async function publish(context: CommandContext, named: Named, { move = [] }: { move?: string[] }): Promise<void> {
  const rules = move.map((rule) => {
    const [step = '', to = ''] = rule.split('=');
    return [step, to === '' ? null : to] as const;
  });
  const caller = { ...named, actor: commandLine, once: unrepeated };
  const { version } = await publishJourney(context, { ...caller, users: Object.fromEntries(rules) });
  process.stdout.write(`Published version ${version}.\n`);
}

async function change(context: CommandContext, asked: Named & { action: JourneyAction }): Promise<void> {
  await changeJourneyState(context, { ...asked, actor: commandLine });
  const { journey } = await readJourney(context, asked);
  process.stdout.write(`${journey.name} is ${journey.status}.\n`);
}

async function remove(context: CommandContext, named: Named): Promise<void> {
  await removeJourney(context, { ...named, actor: commandLine });
  process.stdout.write(`Removed ${named.id}.\n`);
}

async function figures({ database }: CommandContext, named: Named, options: Json): Promise<void> {
  const { inside, edges } = await readJourneyFigures({ database }, { ...named, from: undefined, to: undefined });
  printTable(
    ['STEP', 'EDGE', 'VERSION', 'USERS'],
    [
      ...inside.map(({ step, users }) => [step, 'inside', nothing, String(users)]),
      ...edges.map(({ step, edge, version, users }) => [
        ...[step === '' ? nothing : step, edge, String(version), String(users)],
      ]),
    ],
    options,
  );
}

import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { addTopic, changeTopic, listWorkspaceTopics, removeTopic } from '../../app/topics/manage-topics.ts';
import { readUserTopics, setUserTopics } from '../../app/topics/user-topics.ts';
import type { UserTopic } from '../../app/topics/user-topics.ts';
import { commandLine, findWorkspaceToUse, withInstallation } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonOption, workspaceOption } from '../command-options.ts';
import { nothing, printTable } from '../print-table.ts';

/** `carillon topics`: what users can join or leave, and what each chose. */
export function registerTopics(program: Command): void {
  const topics = program.command('topics').description('Topics that users can join or leave');
  topics
    .command('list')
    .description('List the topics')
    .option(...jsonOption)
    .option(...workspaceOption)
    .action((options: Of & Json) => withInstallation(program, (context) => topicsCommand.list(context, options)));
  topics
    .command('add')
    .description('Add a topic')
    .argument('<topic>', 'its key: lower-case letters, digits, - and _')
    .requiredOption('--name <text>', 'users read it')
    .addOption(
      new Option('--default <state>', 'whether users without a choice are in it; cannot be changed')
        .choices(['in', 'out'])
        .makeOptionMandatory(),
    )
    .option('--description <text>', 'users read it')
    .option('--position <number>', 'order in lists, then by key', toPosition)
    .option(...workspaceOption)
    .action((key: string, options: AddOptions) =>
      withInstallation(program, (context) => topicsCommand.add(context, { key, ...options })),
    );
  topics
    .command('change')
    .description('Change a topic; what is not named stays as it is')
    .argument('<topic>', 'its key')
    .option('--name <text>', 'users read it')
    .option('--description <text>', 'users read it')
    .option('--position <number>', 'order in lists, then by key', toPosition)
    .option(...workspaceOption)
    .action((key: string, options: ChangeOptions) =>
      withInstallation(program, (context) => topicsCommand.change(context, { key, ...options })),
    );
  topics
    .command('remove')
    .description('Remove a topic that no campaign needs, with what users chose')
    .argument('<topic>', 'its key')
    .option(...workspaceOption)
    .action((key: string, options: Of) =>
      withInstallation(program, (context) => topicsCommand.remove(context, { key, ...options })),
    );
  topics
    .command('user')
    .description('Show which topics a user is in, or set them')
    .argument('<customer-id>', 'the user')
    .option('--join <topics...>', 'keys of topics that the user joins')
    .option('--leave <topics...>', 'keys of topics that the user leaves')
    .option(...jsonOption)
    .option(...workspaceOption)
    .action((customerId: string, options: UserOptions) =>
      withInstallation(program, (context) => topicsCommand.user(context, { customerId, ...options })),
    );
}

type Json = { json?: true };
type Of = { workspace?: string };
type ChangeOptions = Of & { name?: string; description?: string; position?: number };
type AddOptions = ChangeOptions & { name: string; default: 'in' | 'out' };
type UserOptions = Of & Json & { join?: string[]; leave?: string[] };
type Key = { key: string };

const topicsCommand = {
  async list({ database }: CommandContext, options: Of & Json): Promise<void> {
    const workspaceId = await findWorkspaceToUse(database, options.workspace);
    printTable(
      ['TOPIC', 'NAME', 'DEFAULT', 'POSITION', 'DESCRIPTION'],
      (await listWorkspaceTopics(database, workspaceId)).map((topic) => [
        topic.key,
        topic.name,
        inOrOut(topic.isInByDefault),
        String(topic.position),
        topic.description || nothing,
      ]),
      options,
    );
  },

  async add(context: CommandContext, { key, ...options }: Key & AddOptions): Promise<void> {
    const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
    const { name, description = '', position = 0 } = options;
    const topic = { key, name, description, position, isInByDefault: options.default === 'in' };
    await addTopic(context, { actor: commandLine, workspaceId, ...topic });
    process.stdout.write(`Added ${key} to ${workspaceId}.\n`);
  },

  async change(context: CommandContext, { key, workspace, ...change }: Key & ChangeOptions): Promise<void> {
    const workspaceId = await findWorkspaceToUse(context.database, workspace);
    await changeTopic(context, { actor: commandLine, workspaceId, key, ...change });
    process.stdout.write(`Changed ${key}.\n`);
  },

  async remove(context: CommandContext, { key, workspace }: Key & Of): Promise<void> {
    const workspaceId = await findWorkspaceToUse(context.database, workspace);
    await removeTopic(context, { actor: commandLine, workspaceId, key });
    process.stdout.write(`Removed ${key}.\n`);
  },

  async user(context: CommandContext, { customerId, ...options }: { customerId: string } & UserOptions): Promise<void> {
    const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
    const named = { workspaceId, identity: { kind: 'customer-id' as const, value: customerId } };
    const choices = new Map([
      ...(options.join ?? []).map((key) => [key, true] as const),
      ...(options.leave ?? []).map((key) => [key, false] as const),
    ]);
    const topics =
      choices.size === 0
        ? await readUserTopics(context.database, named)
        : await setUserTopics(context, { actor: commandLine, ...named, choices, source: 'CONSOLE' });
    printTable(['TOPIC', 'NAME', 'IN IT', 'CHOSEN AT', 'SOURCE'], topics.map(toRow), options);
  },
};

function toRow({ key, name, isIn, choice }: UserTopic): string[] {
  const chosen = choice ? [choice.chosenAt.toISOString(), choice.source] : [nothing, 'default'];
  return [key, name, inOrOut(isIn), ...chosen];
}

function inOrOut(isIn: boolean): string {
  return isIn ? 'in' : 'out';
}

function toPosition(text: string): number {
  const position = Number(text);
  if (!Number.isInteger(position) || position < 0 || position > 1_000)
    throw new InvalidArgumentError('It must be a whole number from 0 to 1000.');
  return position;
}

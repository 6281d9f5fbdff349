import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import { rotateMasterKey } from '../../app/system/master-key.ts';
import type { RotationProgress, RotationResult } from '../../app/system/master-key.ts';
import { isAlive } from '../../app/system/nodes.ts';
import { masterKeyIdOf } from '../../domain/crypto/encryption.ts';
import { StartError } from '../../start/start-errors.ts';
import { countUnderOtherKeys, encryptedColumns } from '../../storage/installation/encrypted-values.ts';
import { findInstallation } from '../../storage/installation/installation.ts';
import { listNodes } from '../../storage/installation/nodes.ts';
import { readSettings, withInstallation } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonLineOption } from '../command-options.ts';
import { printJsonLine, printTable } from '../print-table.ts';

/** `carillon master-key`: shows the key that everything is encrypted under, and rotates it while nodes serve. */
export function registerMasterKey(program: Command): void {
  const masterKey = program.command('master-key').description('The key that encrypts the secrets in the database');
  masterKey
    .command('status')
    .description('Show the key in use, the nodes that have it, and the progress of a rotation')
    .option(...jsonLineOption)
    .action((options: { json?: true }) => withInstallation(program, (context) => printStatus(context, options)));
  masterKey
    .command('rotate')
    .description('Re-encrypt all secrets under CARILLON_MASTER_KEY_NEXT; run it again if it was interrupted')
    .action(() => withInstallation(program, (context) => rotate(context, readSettings(program).nextMasterKey)));
}

async function printStatus({ database, clock }: CommandContext, { json }: { json?: true }): Promise<void> {
  const { masterKeyId, rotatingFromKeyId } = (await findInstallation(database))!;
  const counts: string[][] = [];
  for (const column of encryptedColumns) {
    const values = await countUnderOtherKeys(database, column, masterKeyId);
    counts.push([`${column.table}.${column.column}`, String(values)]);
  }
  const nodes = (await listNodes(database)).filter((node) => isAlive(node, clock));
  if (json)
    return printJsonLine({
      masterKeyId,
      rotatingFromKeyId,
      underOtherKeys: Object.fromEntries(counts.map(([column, values]) => [column, Number(values)])),
      nodes: nodes.map(({ host, processId, masterKeyIds }) => ({ host, processId, masterKeyIds })),
    });
  process.stdout.write(`Key in use     ${masterKeyId}\n`);
  process.stdout.write(`Rotating from  ${rotatingFromKeyId ?? '(no rotation is under way)'}\n\n`);
  printTable(['COLUMN', 'UNDER OTHER KEYS'], counts);
  process.stdout.write('\n');
  printTable(
    ['NODE', 'PROCESS', 'ENCRYPTS UNDER', 'ALSO HAS'],
    nodes.map(({ host, processId, masterKeyIds: [first, ...others] }) => [
      host,
      String(processId),
      first ?? 'unknown',
      others.join(' '),
    ]),
  );
}

async function rotate(context: CommandContext, nextMasterKey: Buffer | undefined): Promise<void> {
  if (!nextMasterKey)
    throw new StartError('SETTING_INVALID', 'Set CARILLON_MASTER_KEY_NEXT to the new key, on every node first.');
  const toKeyId = masterKeyIdOf(nextMasterKey);
  process.stdout.write(`Rotating to the key ${toKeyId}\n`);
  const onProgress = makeProgressPrinter();
  const result = await rotateMasterKey({ ...context, wait: setTimeout }, { toKeyId, onProgress });
  if (result.outcome !== 'rotated') throw new StartError('SETTING_INVALID', refusalOf(result));
  process.stdout.write(
    `${result.values} values re-encrypted, 0 left under another key. Now set the key ${toKeyId} as CARILLON_MASTER_KEY and remove CARILLON_MASTER_KEY_NEXT.\n`,
  );
}

const waits = {
  nodes: 'waiting until every node encrypts under the new key',
  transactions: 'waiting for transactions from before the change',
} as const;

/** Prints one line per batch, and one when the rotation starts waiting for a different condition. */
function makeProgressPrinter(): (progress: RotationProgress) => void {
  let waitingFor: keyof typeof waits | undefined;
  return (progress) => {
    if (progress.kind === 'values') process.stdout.write(`${progress.place}  ${progress.encrypted}\n`);
    else if (progress.for !== waitingFor) {
      waitingFor = progress.for;
      process.stdout.write(`${waits[waitingFor]}\n`);
    }
  };
}

function refusalOf(result: Exclude<RotationResult, { outcome: 'rotated' }>): string {
  switch (result.outcome) {
    case 'nodes without the key':
      return `Nothing was changed, because these nodes do not have the new key yet: ${result.hosts.join(', ')}.`;
    case 'unreadable values':
      return `These values cannot be decrypted; all others are under the new key: ${result.places.join(', ')}. Repair or delete them, then run the command again.`;
    case 'unfinished':
      return `The ${result.waitedFor} from before the change did not end in time. Nothing is lost: run the command again, and keep both keys until it succeeds.`;
  }
}

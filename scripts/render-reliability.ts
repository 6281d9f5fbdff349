import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sums } from '../server/test/rig/report.ts';
import type { TortureRecord } from '../server/test/torture/rounds.ts';
import { reliabilityPromises } from './reliability-promises.ts';
import type { ReliabilityPromise } from './reliability-promises.ts';

type Table = (head: string[], rows: string[][]) => string;

const root = join(import.meta.dirname, '..');

/** Renders the proof of each promise, and what the last recorded torture run measured for it. */
export async function renderReliability(table: Table): Promise<string> {
  const record = JSON.parse(await readFile(join(root, 'docs', 'reports', 'torture.json'), 'utf8')) as TortureRecord;
  const { date, commit, command, minutes, machine, broken } = record;
  const rows = reliabilityPromises.map((promise) => [
    promise.id,
    promise.promise,
    describeProofs(promise),
    [...measure(promise, record), ...(promise.open === undefined ? [] : [promise.open])].join(' ') ||
      'Checked by every `npm test`.',
  ]);
  return [
    `Measured on ${date} at commit \`${commit}\` in ${minutes} minutes on ${machine.cores} cores with ` +
      `${machine.memoryGiB} GiB of memory, Node ${machine.node}, by`,
    `\`\`\`sh\n${command}\n\`\`\``,
    'The seed determines each round: its scenario, the number of devices, the time, and the killed process. A round is one kill, ' +
      'stop or cut, followed by an audit. For a broken promise, the report prints the command that repeats its round.',
    broken.length === 0
      ? 'No promise was broken.'
      : `**${broken.length} promises were broken:**\n\n${broken.map((one) => `- ${one.promise.split('\n')[0]} (\`${one.command}\`)`).join('\n')}`,
    `### Promises\n\n${table(['#', 'Promise', 'Proof', 'Measured'], rows).trimEnd()}`,
    `### Rounds\n\n${renderRounds(record, table)}`,
  ].join('\n\n');
}

function describeProofs({ scenarios, tests, commands }: ReliabilityPromise): string {
  const proofs = [
    ...(scenarios.length === 0
      ? []
      : [`\`npm run test:torture\`: ${scenarios.map((name) => `\`${name}\``).join(', ')}`]),
    ...tests.map(({ file, test }) => `\`${file}\` › \`${test}\``),
    ...commands.map((name) => `\`npm run ${name}\``),
  ];
  return proofs.length === 0 ? 'None.' : `${proofs.join('; ')}.`;
}

const count = (number: number, noun: string): string => `${number.toLocaleString('en')} ${noun}`;

function measure({ scenarios }: ReliabilityPromise, { rounds, whole }: TortureRecord): string[] {
  const drawn = scenarios.flatMap((name) => (rounds[name] ? [rounds[name]] : []));
  const sum = addUp(drawn);
  const told = [
    ...(sum.rounds > 0 ? [count(sum.rounds, 'rounds')] : []),
    ...(sum.devices ? [count(sum.devices, 'devices')] : []),
    ...(sum.cuts ? [count(sum.cuts, 'connections cut')] : []),
    ...(sum.answered ? [count(sum.answered, 'requests answered Success')] : []),
    ...(sum.rounds > 0 ? [`lost ${sum.lost ?? 0}`] : []),
    ...(sum.devices ? [`under two identities ${sum.mixedIdentities ?? 0}`] : []),
    ...(sum.bound ? [`repeated ${count(sum.repeats ?? 0, `of at most ${sum.bound.toLocaleString('en')}`)}`] : []),
    ...(sum.answered
      ? [
          `answered Success and not stored ${sum.answeredNotStored ?? 0}`,
          `stored and answered otherwise ${sum.storedNotAnswered ?? 0}`,
          `5xx that are not documented ${sum.undocumented5xx ?? 0}`,
        ]
      : []),
  ];
  const others = scenarios.flatMap((name) => (whole[name] ? [`\`${name}\`: ${describeNumbers(whole[name])}.`] : []));
  return [...(told.length === 0 ? [] : [`${told.join(', ')}.`]), ...others];
}

function describeNumbers(numbers: TortureRecord['whole'][string]): string {
  return Object.entries(numbers)
    .map(
      ([label, number]) =>
        `${wordsOf(label)} ${typeof number === 'number' ? number.toLocaleString('en') : String(number)}`,
    )
    .join(', ');
}

/** `ledgerRows` becomes "ledger rows"; names of several words stay as they are. */
const wordsOf = (label: string): string => label.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

type RoundSums = Sums & { rounds: number };

function addUp(parts: readonly RoundSums[]): RoundSums {
  const sum: RoundSums = { rounds: 0 };
  for (const part of parts)
    for (const name of Object.keys(part) as (keyof RoundSums)[]) sum[name] = (sum[name] ?? 0) + part[name]!;
  return sum;
}

const columns: [keyof RoundSums, string][] = [
  ['rounds', 'Rounds'],
  ['devices', 'Devices'],
  ['lost', 'Lost'],
  ['mixedIdentities', 'Under two identities'],
  ['miscounted', 'Counters differ from the ledger'],
  ['repeats', 'Repeated'],
  ['bound', 'At most'],
  ['answered', 'Answered Success'],
  ['answeredNotStored', 'but not stored'],
  ['storedNotAnswered', 'Stored, other response'],
  ['undocumented5xx', '5xx, not documented'],
];

function renderRounds({ rounds }: TortureRecord, table: Table): string {
  const line = (name: string, sums: RoundSums): string[] => [
    name,
    ...columns.map(([column]) => (sums[column] === undefined ? '' : sums[column].toLocaleString('en'))),
  ];
  return table(
    ['Scenario', ...columns.map(([, title]) => title)],
    [
      ...Object.entries(rounds).map(([name, sums]) => line(`\`${name}\``, sums)),
      line('all', addUp(Object.values(rounds))),
    ],
  );
}

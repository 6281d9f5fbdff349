/** What a scenario saw, and the promises it found broken. Numbers of these names mean the same in every scenario. */
export type Report = { numbers: Record<string, number | string | boolean>; broken: string[] };

/** Counts that rounds are summed by. Of each, what it counts. */
const summedNumbers = {
  kills: 'processes and databases killed or stopped',
  cuts: 'connections cut at a commit',
  devices: 'devices addressed',
  requests: 'messages received',
  lost: 'devices without a message',
  mixedIdentities: 'devices with messages under two identities',
  notAccepted: 'rows of the ledger that are not ACCEPTED',
  miscounted: 'runs whose counters are not their ledger',
  repeats: 'messages received twice',
  bound: 'messages that might have been, by kills × chunks × window',
  answered: 'requests answered Success',
  answeredNotStored: 'answered Success and not stored',
  storedNotAnswered: 'stored and answered otherwise',
  undocumented5xx: 'answers 5xx that are not a 503 with Retry-After',
} as const;

export type Sums = Partial<Record<keyof typeof summedNumbers, number>>;

export function sumNumbers(reports: readonly Report[]): Sums {
  const sums: Sums = {};
  for (const { numbers } of reports) {
    for (const name of Object.keys(summedNumbers) as (keyof Sums)[]) {
      const number = numbers[name];
      if (typeof number === 'number') sums[name] = (sums[name] ?? 0) + number;
    }
  }
  return sums;
}

import type { FuzzReport } from './fuzz-routes.ts';
import type { Usage } from './measure-usage.ts';

/** The last quarter may hold so much more than the second; the first warms caches up. */
const maxGrowth = 0.05;
/** Fewer rounds say nothing of growth: a quarter is one round or two. */
const minRoundsForGrowth = 40;

/** After so many turns also what is asked seldom was asked. */
const turnsOfAll = 30;

/** What a run showed, line by line, and whether nothing of it is a fault. */
export function presentReport({ routes, statuses, findings, usage }: FuzzReport): {
  isClean: boolean;
  lines: string[];
} {
  const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, number) => total + number, 0);
  const sent = sum(statuses.values());
  const faults = sum([...statuses].filter(([status]) => status >= 500).map(([, count]) => count));
  const isLong = sent > routes.size * turnsOfAll;
  const unasked = [...routes].filter(([, { asked }]) => asked === 0).map(([name]) => name);
  const neverDone = [...routes].filter(([, { succeeded }]) => succeeded === 0).map(([name]) => name);
  const memory = describeUsage(usage);
  const lines = [
    `requests sent            ${sent}`,
    `routes in openapi.json   ${routes.size}`,
    `routes asked             ${routes.size - unasked.length}`,
    `routes with a 2xx        ${routes.size - neverDone.length}`,
    `statuses of 5xx          ${faults}`,
    `findings                 ${findings.length}`,
    '',
    'status  answers',
    ...[...statuses].sort(([one], [other]) => one - other).map(([status, count]) => `${status}     ${count}`),
    '',
    ...memory.lines,
    ...(isLong
      ? [...unasked.map((name) => `never asked: ${name}`), ...neverDone.map((name) => `never a 2xx: ${name}`)]
      : []),
    ' asked    2xx  route',
    ...[...routes].map(([name, { asked, succeeded }]) => `${pad(asked)}${pad(succeeded)}  ${name}`),
  ];
  const isClean = findings.length === 0 && (unasked.length === 0 || !isLong) && memory.isFlat;
  lines.push('', isClean ? 'nothing found' : 'NOT CLEAN');
  return { isClean, lines };
}

const pad = (count: number): string => String(count).padStart(6).padEnd(7).slice(-7);

function describeUsage(usage: Usage[]): { isFlat: boolean; lines: string[] } {
  const size = Math.max(1, Math.floor(usage.length / 4));
  const quarters = [0, 1, 2, 3].map((quarter) => usage.slice(quarter * size, (quarter + 1) * size));
  const meansOf = (kind: keyof Usage): number[] =>
    quarters.map((some) => some.reduce((total, one) => total + one[kind], 0) / Math.max(1, some.length));
  const row = (name: string, kind: keyof Usage, unit: number): string =>
    `${name.padEnd(30)} ${meansOf(kind)
      .map((mean) => (mean / unit).toFixed(1).padStart(8))
      .join('')}`;
  const growthOf = (kind: keyof Usage): number => {
    const [, second, , last] = meansOf(kind) as [number, number, number, number];
    return last / second - 1;
  };
  const told = (kind: keyof Usage): string => `${(growthOf(kind) * 100).toFixed(1)} %`;
  const isLongEnough = usage.length >= minRoundsForGrowth;
  return {
    isFlat: !isLongEnough || (growthOf('heapBytes') <= maxGrowth && growthOf('openFiles') <= maxGrowth),
    lines: [
      'the node, by quarter of the run       1       2       3       4',
      row('heap after a collection, MB', 'heapBytes', 1e6),
      row('resident, MB', 'residentBytes', 1e6),
      row('open files', 'openFiles', 1),
      isLongEnough
        ? `from the second quarter to the last: heap ${told('heapBytes')}, open files ${told('openFiles')}`
        : 'too few requests to judge what is held',
      '',
    ],
  };
}

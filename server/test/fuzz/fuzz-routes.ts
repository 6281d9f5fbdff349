import { Agent } from 'node:http';
import type { Database } from '../../src/storage/database.ts';
import type { Usage } from '../rig/measure-usage.ts';
import { judgeAnswer, readOperations } from './answers.ts';
import type { FuzzAnswer, Operation } from './answers.ts';
import { prepareCaller } from './caller.ts';
import type { Caller } from './caller.ts';
import { makeRequest } from './requests.ts';
import type { FuzzRequest } from './requests.ts';
import { ask } from './wire.ts';

/** The node that is asked. */
export type FuzzTarget = {
  url: string;
  workspaceId: string;
  keys: Caller['keys'];
  /** Of a superuser, to put right between the rounds what hostile requests have changed. */
  database: Database;
  measure(): Promise<Usage> | Usage;
};

type FuzzOptions = {
  seed: number;
  /** The number of the first request; with `requests: 1` one request is made again. */
  first: number;
  requests: number;
  /** A part of a route's name; undefined for every route. */
  only?: string | undefined;
  onFinding?: (finding: Finding) => void;
  /** After each round, with how many requests were sent so far. */
  onRound?: (sent: number) => void;
};

export type Finding = { number: number; what: string; request: FuzzRequest; answer: FuzzAnswer };

type FuzzReport = {
  /** How often each route was asked, and how often it did what it was asked for. */
  routes: Map<string, { asked: number; succeeded: number }>;
  /** How often each status came. */
  statuses: Map<number, number>;
  findings: Finding[];
  /** What the node held after each round. */
  usage: Usage[];
};

const parallelRequests = 32;
/** So often limits are forgotten, tokens fetched anew and the sandbox put right, so that most requests reach a route. */
const roundRequests = 400;
const maxFindings = 1_000;
/** What changes the sandbox for all others is asked seldom: once in so many turns. */
const rareRoutes = new Map([
  ['POST /sandbox/reset', 25],
  ['POST /sandbox/clock', 2],
]);

/** Sends requests of every route of the server's own document to a whole node, and judges every answer. */
export async function fuzzRoutes(target: FuzzTarget, options: FuzzOptions): Promise<FuzzReport> {
  const { seed, first, requests, only = '' } = options;
  const operations = (await listOperations(target)).filter(({ name }) => name.includes(only));
  const report: FuzzReport = {
    routes: new Map(operations.map(({ name }) => [name, { asked: 0, succeeded: 0 }])),
    statuses: new Map(),
    findings: [],
    usage: [],
  };
  const agent = new Agent({ keepAlive: true, maxSockets: parallelRequests });
  let sent = 0;
  const sendOne = async (number: number, caller: Caller): Promise<void> => {
    const request = makeRequest({ operations, caller }, { seed, number });
    const { name } = request.operation;
    const turns = rareRoutes.get(name) ?? 1;
    if (Math.floor(number / operations.length) % turns !== turns - 1) return;
    const answer = await ask({ url: target.url, agent }, request);
    sent += 1;
    report.statuses.set(answer.status, (report.statuses.get(answer.status) ?? 0) + 1);
    const route = report.routes.get(name)!;
    route.asked += 1;
    if (isSuccess(answer) && request.method === request.operation.method) route.succeeded += 1;
    const what = judgeAnswer(request, answer);
    if (what === undefined || report.findings.length >= maxFindings) return;
    const finding = { number, what, request, answer };
    report.findings.push(finding);
    options.onFinding?.(finding);
  };
  try {
    for (let from = first; from < first + requests; from += roundRequests) {
      const round = Math.floor(from / roundRequests);
      await setLimits(target.database, { isOn: false });
      const caller = await prepareCaller(target, from);
      await setLimits(target.database, { isOn: round % 5 === 4 });
      const end = Math.min(from + roundRequests, first + requests);
      let number = from;
      const send = async (): Promise<void> => {
        while (number < end) await sendOne(number++, caller);
      };
      await Promise.all(Array.from({ length: parallelRequests }, send));
      report.usage.push(await target.measure());
      options.onRound?.(sent);
    }
    return report;
  } finally {
    agent.destroy();
  }
}

/** A redirect is what a click is asked for; a push that failed says so with 200 (interface 2.5). */
function isSuccess({ status, text }: FuzzAnswer): boolean {
  return status < 400 && !text.startsWith('{"status":"Fail"');
}

async function listOperations({ url }: FuzzTarget): Promise<Operation[]> {
  const answer = await fetch(`${url}/openapi.json`);
  return readOperations((await answer.json()) as Parameters<typeof readOperations>[0]);
}

/**
 * Forgets what was counted, and keeps it so in four rounds of five: behind a limit of five campaigns a minute few requests
 * would reach anything.
 */
async function setLimits(database: Database, { isOn }: { isOn: boolean }): Promise<void> {
  await database.unsafe(`
    create or replace function forget_events() returns trigger language plpgsql as
      $$ begin new.events = '{}'; return new; end $$;
    create or replace trigger forget_events before insert or update on limit_windows
      for each row execute function forget_events();
    alter table limit_windows ${isOn ? 'disable' : 'enable'} trigger forget_events;
    delete from limit_windows;`);
}

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

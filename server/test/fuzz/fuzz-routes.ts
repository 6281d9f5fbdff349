import { Agent } from 'node:http';
import type { Database } from '../../src/storage/database.ts';
import { ask } from './ask.ts';
import { judgeAnswer } from './judge-answer.ts';
import type { FuzzAnswer } from './judge-answer.ts';
import { makeRequest } from './make-request.ts';
import type { FuzzRequest } from './make-request.ts';
import type { Usage } from './measure-usage.ts';
import { prepareCaller } from './prepare-caller.ts';
import type { Caller } from './prepare-caller.ts';
import { readOperations } from './read-operations.ts';
import type { Operation } from './read-operations.ts';

/** The node that is asked. */
export type FuzzTarget = {
  url: string;
  workspaceId: string;
  keys: Caller['keys'];
  /** Of a superuser, to put right between the rounds what hostile requests have changed. */
  database: Database;
  measure(): Promise<Usage> | Usage;
};

export type FuzzOptions = {
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

export type FuzzReport = {
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

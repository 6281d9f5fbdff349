import { isDeepStrictEqual } from 'node:util';
import recordedCases from './cases.json' with { type: 'json' };
import { startProgram } from './start-program.ts';
import type { Outcome, ProgramStart } from './start-program.ts';
import type { Fault, Recorder } from './start-recorder.ts';

export type Case = {
  title: string;
  /** Keys of the workspace that the client has; or whole options. */
  keys?: string[];
  options?: Record<string, string>;
  steps: Step[];
};

/** What the client is told to do, and what must come of it. Members that are absent are not compared. */
type Step = {
  do: string;
  body?: unknown;
  /** Members added to the body. */
  more?: Record<string, unknown>;
  idempotencyKey?: string;
  faults?: Fault[];
  result?: unknown;
  error?: Record<string, unknown>;
  waits?: number[];
  requests?: string[];
  /** How the credentials of the last request begin. */
  authorization?: string;
  /** The result or error names the X-Request-Id of the last request. */
  requestId?: boolean;
  /** A member of the result that a later step compares. */
  keep?: string;
  same?: string;
  /** The number of campaigns that the requests with this body made. */
  sends?: number;
};

export const cases = recordedCases as Case[];

export type World = {
  recorder: Recorder;
  workspaceId: string;
  dbName: string;
  keys: Record<string, string>;
  countCampaigns: (name: string) => Promise<number>;
};

/** Plays all cases with one program. @returns what was wrong, by the title of the case; an empty list if nothing was */
export async function playCases(start: ProgramStart, world: World): Promise<{ title: string; wrong: string[] }[]> {
  const { ask, stop } = startProgram(start);
  try {
    const played: { title: string; wrong: string[] }[] = [];
    for (const one of cases) played.push({ title: one.title, wrong: await playCase(one, { ask, world }) });
    return played;
  } finally {
    stop();
  }
}

async function playCase(
  { title, keys = [], options = {}, steps }: Case,
  { ask, world }: { ask: (step: object) => Promise<Outcome>; world: World },
): Promise<string[]> {
  const { recorder, workspaceId, dbName } = world;
  const own = Object.fromEntries(keys.map((name) => [name, world.keys[name]!]));
  await ask({ do: 'client', options: { baseUrl: recorder.url, workspaceId, dbName, ...own, ...options } });
  const campaignName = `${title} ${crypto.randomUUID()}`;
  const kept: Record<string, unknown> = {};
  const wrong: string[] = [];
  for (const step of steps) {
    recorder.expectCalls(step.faults ?? []);
    const { body, more, idempotencyKey } = step;
    const sent = body === 'push' ? { ...makePush(campaignName), ...more } : body;
    const key = idempotencyKey?.replace('{case}', campaignName);
    const { faults: _faults, ...told } = step;
    const outcome = await ask({ ...told, body: sent, idempotencyKey: key });
    wrong.push(...compare(step, { outcome, world, kept }));
    if (step.sends !== undefined) {
      const count = await world.countCampaigns(campaignName);
      if (count !== step.sends) wrong.push(`${count} campaigns instead of ${step.sends}`);
    }
  }
  return wrong;
}

function compare(
  step: Step,
  { outcome, world, kept }: { outcome: Outcome; world: World; kept: Record<string, unknown> },
): string[] {
  const wrong: string[] = [];
  const demand = (what: string, found: unknown, wanted: unknown): void => {
    if (!contains(found, wanted)) wrong.push(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
  };
  const { recorded } = world.recorder;
  const last = recorded.at(-1)?.headers ?? {};
  if (step.result !== undefined) demand('result', outcome.result ?? outcome.error, step.result);
  if (step.error !== undefined) demand('error', outcome.error, step.error);
  if (step.waits !== undefined) demand('waits', outcome.waits, step.waits);
  if (step.requests !== undefined) {
    const lines = recorded.map(({ line }) => line.replace(world.workspaceId, '{workspace}'));
    demand('requests', lines, step.requests);
  }
  if (step.authorization !== undefined) demand('credentials', last.authorization?.split(' ')[0], step.authorization);
  if (step.requestId) demand('request id', (outcome.result ?? outcome.error)?.requestId, last['x-request-id'] ?? 'one');
  if (step.keep !== undefined) kept[step.keep] = outcome.result?.[step.keep];
  if (step.same !== undefined) demand(step.same, outcome.result?.[step.same], kept[step.same] ?? 'one');
  // All attempts of a call are one call for the service.
  for (const name of ['idempotency-key', 'x-request-id']) {
    const given = new Set(recorded.filter(({ line }) => !line.includes('/oauth/')).map(({ headers }) => headers[name]));
    if (given.size > 1) wrong.push(`${name} differs between attempts`);
  }
  return wrong;
}

/** Objects may have more members than are wanted; everything else is equal. */
function contains(found: any, wanted: any): boolean {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return isDeepStrictEqual(found, wanted);
  if (typeof found !== 'object' || found === null) return false;
  return Object.entries(wanted).every(([name, value]) => contains(found[name], value));
}

function makePush(campaignName: string): Record<string, unknown> {
  return {
    campaignName,
    targetPlatform: ['ANDROID'],
    targetAudience: 'User',
    targetUserAttributes: {
      attribute: 'USER_ATTRIBUTE_UNIQUE_ID',
      comparisonParameter: 'is',
      attributeValue: 'ada',
    },
    payload: { ANDROID: { title: 'Grüße', message: 'Hello 👋' } },
    campaignDelivery: { type: 'soon' },
  };
}

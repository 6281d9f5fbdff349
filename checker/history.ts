import { get, groupBy, textAt } from './values.ts';

/**
 * Reads a history: one JSON object a line, in the order in which the rig saw things happen (docs/checker.md). The position of a
 * line is its time; clocks are used only where the contract names times.
 */

export type Call = {
  number: number;
  /** Positions of the call and of its answer; `end` is infinite if the caller never got one. */
  begin: number;
  end: number;
  /** Milliseconds by the clock of the installation, when the call was made and when it was answered. */
  at: number;
  repliedAt: number;
  workspace: string;
  method: string;
  /** Without its query. */
  path: string;
  query: URLSearchParams;
  body: unknown;
  credential: string | undefined;
  token: string | undefined;
  idempotencyKey: string | undefined;
  /** 0 if the caller got no answer. */
  status: number;
  reply: unknown;
  total: number | undefined;
  /** The caller cannot tell whether the call had an effect: no answer, or a fault of the server. */
  isUnsure: boolean;
};

export type Message = {
  position: number;
  worker: string;
  at: number;
  campaign: string;
  run: string;
  device: string;
  address: string;
  platform: string;
  collapse: string;
  message: string;
  /** What the provider answered: ACCEPTED, REJECTED and GONE are final, OTHER is not. */
  answer: string;
  /** Where its worker said that the answer is stored; undefined if it never did, or if the rig cannot see it. */
  stored: number | undefined;
};

export type Run = {
  id: string;
  workspace: string;
  campaign: string;
  status: string;
  reason: string | null;
  occurrence: number | null;
  createdAt: number;
  startedAt: number | null;
};
export type Delivery = {
  run: string;
  workspace: string;
  device: string;
  address: string | null;
  platform: string;
  outcome: string;
  code: string | null;
};
export type Count = { run: string; platform: string; outcome: string; devices: number };
export type StoredRequest = {
  workspace: string;
  request: string;
  response: string;
  campaign: string;
  run: string | null;
};
export type Device = {
  workspace: string;
  user: string;
  address: string;
  platform: string;
  since: number;
  isSure: boolean;
};
export type Campaign = {
  position: number;
  id: string;
  name: string;
  workspace: string;
  users: string[] | undefined;
  occurrences: number[];
  ttlMinutes: number;
  isSpread: boolean;
};
export type Line = { kind: string; position: number } & Record<string, unknown>;

export type History = {
  name: string;
  rig: string;
  seed: number;
  lines: Line[];
  calls: Call[];
  messages: Message[];
  runs: Run[];
  requests: StoredRequest[];
  deliveries: Delivery[];
  counts: Count[];
  devices: Device[];
  campaigns: Campaign[];
  /** The position after which nothing moves any more; infinite if the rig never got there. */
  quiet: number;
};

export type Anomaly = { rule: string; what: string };
export const anomaly = (rule: string, what: string): Anomaly => ({ rule, what });

/** Parses a history. A last line that was cut off, because the rig was killed, is left out. */
export function readHistory(name: string, text: string): History {
  const texts = text.split('\n');
  const lines = texts.flatMap((line, position): Line[] => {
    if (line === '') return [];
    try {
      return [{ ...(JSON.parse(line) as Line), position }];
    } catch (error) {
      if (position === texts.length - 1) return [];
      throw new Error(`${name}: line ${position + 1} is not JSON: ${String(error)}`, { cause: error });
    }
  });
  const of = <Kind>(kind: string): Kind[] => lines.filter((line) => line.kind === kind) as unknown as Kind[];
  const [begin] = lines;
  if (begin?.kind !== 'begin') throw new Error(`${name}: a history begins with a line of kind "begin"`);
  const calls = readCalls(lines);
  const stored = new Map(of<Line>('stored').map((line) => [line['wave'], line.position]));
  const messages = of<Message & { wave: number }>('message').map((one) => ({ ...one, stored: stored.get(one.wave) }));
  return {
    ...{ name, rig: String(begin['rig']), seed: Number(begin['seed']), lines, calls, messages },
    ...{ runs: of<Run>('run'), requests: of<StoredRequest>('request'), deliveries: of<Delivery>('delivery') },
    ...{ counts: of<Count>('count'), campaigns: of<Campaign>('campaign'), devices: readDevices(lines, calls) },
    quiet: of<Line>('quiet').find((line) => line['isStuck'] !== true)?.position ?? Infinity,
  };
}

function readCalls(lines: readonly Line[]): Call[] {
  const calls = new Map<unknown, Call>();
  for (const line of lines) {
    if (line.kind === 'call') {
      const [path, query] = String(line['path']).split('?');
      calls.set(line['number'], {
        ...(line as unknown as Call),
        ...{ path: path!, query: new URLSearchParams(query), begin: line.position, end: Infinity, repliedAt: Infinity },
        ...{ status: 0, reply: undefined, total: undefined, isUnsure: true },
      });
    }
    const call = calls.get(line['number']);
    if (line.kind !== 'reply' || !call) continue;
    const status = Number(line['status']);
    const { position: end, at: repliedAt, body: reply, total } = line;
    Object.assign(call, { end, repliedAt, status, reply, total, isUnsure: status >= 500 });
  }
  return [...calls.values()];
}

/** Devices that the rig added itself, and those that callers registered. A later device of an address replaces the earlier one. */
function readDevices(lines: readonly Line[], calls: readonly Call[]): Device[] {
  const added = lines
    .filter(({ kind }) => kind === 'device')
    .map((line) => ({ ...(line as unknown as Device), since: line.position, isSure: line['isWell'] !== false }));
  const registered = calls.flatMap((call): Device[] => {
    if (!/^\/v1\/device\/[^/]+$/.test(call.path) || (call.status !== 200 && !call.isUnsure)) return [];
    const { customer_id: user } = call.body as { customer_id: string };
    const { push_id: address, platform } = get(call.body, 'attributes') as { push_id: string; platform: string };
    const since = call.isUnsure ? call.begin : call.end;
    return [{ workspace: call.workspace, user, address, platform, since, isSure: !call.isUnsure }];
  });
  return [...added, ...registered];
}

/** True for an accepted push: HTTP 200 also answers those that failed. */
export function isSuccess({ status, reply }: Call): boolean {
  return status === 200 && textAt(reply, 'status') === 'Success';
}

export function isPush({ method, path }: Call): boolean {
  return method === 'POST' && /^\/v2(\.1)?\/transaction\/sendpush(\/priority)?$/.test(path);
}

/**
 * A push that is repeated under one idempotency key has one effect, which the first request may have had although its caller got no
 * answer. The repeats are left out, and the span is that of all of them.
 */
export function withoutRepeats(pushes: readonly Call[]): Call[] {
  const keyOf = ({ workspace, idempotencyKey, body }: Call): string | undefined =>
    idempotencyKey && JSON.stringify([workspace, idempotencyKey, body]);
  const answered = new Map(pushes.filter(isSuccess).map((call) => [keyOf(call), textAt(call.reply, 'responseId')]));
  const groups = groupBy(pushes, (call) => {
    if (isSuccess(call)) return textAt(call.reply, 'responseId');
    return (call.isUnsure && keyOf(call) && answered.get(keyOf(call))) || `#${call.number}`;
  });
  return [...groups.values()].map((group) => ({
    ...(group.find(isSuccess) ?? group[0]!),
    begin: Math.min(...group.map(({ begin }) => begin)),
    end: Math.min(...group.map(({ end }) => end)),
    at: Math.min(...group.map(({ at }) => at)),
  }));
}

/**
 * How the messages of each run and device ended. An answer that was not stored may be known or not: its worker was killed, and
 * then the run was stopped or the device left.
 */
export function findEnds(messages: readonly Message[]): { message: Message; isSure: boolean }[] {
  return [...groupBy(messages, ({ run, device }) => `${run}/${device}`).values()].map((own) => {
    const message = own.at(-1)!;
    return { message, isSure: message.stored !== undefined };
  });
}

/** Addresses that a provider called gone, with the first position at which it did. */
export function findGone(messages: readonly Message[]): Map<string, number> {
  const gone = [...messages].reverse().filter(({ answer }) => answer === 'GONE');
  return new Map(gone.map(({ address, position }) => [address, position]));
}

/** The status that each campaign had after the work was quiet, by the answers about it alone. */
export function readStatuses(calls: readonly Call[], quiet: number): Map<string, string> {
  const read = calls.filter(({ method, path, begin, status }) => {
    return method === 'GET' && /^\/v5\/campaigns\/\w+$/.test(path) && begin > quiet && status === 200;
  });
  return new Map(read.map(({ reply }) => [textAt(reply, 'data', 'id'), textAt(reply, 'data', 'status')]));
}

/** How a call is shown in an anomaly. */
export function showCall(call: Call): string {
  const answer = call.status === 0 ? 'no answer' : `${call.status} ${JSON.stringify(call.reply).slice(0, 160)}`;
  return `#${call.number} ${call.method} ${call.path} → ${answer}`;
}

import { checkHistory } from '../../../checker/check.ts';

export type Line = { kind: string } & Record<string, unknown>;

/** A call with its answer, by a caller of the workspace `A` unless it says otherwise. */
export type Given = {
  method?: string;
  path: string;
  body?: unknown;
  status?: number;
  reply?: unknown;
  /** True if the caller never got an answer. */
  isLost?: boolean;
} & Record<string, unknown>;

let numbers = 0;

/** The lines of calls that follow each other. */
export function inTurn(...calls: Given[]): Line[] {
  return calls.flatMap((call) => atOnce(call));
}

/** The lines of calls that are all made before the first of them is answered. */
export function atOnce(...calls: Given[]): Line[] {
  const numbered = calls.map((call) => ({ number: (numbers += 1), call }));
  return [
    ...numbered.map(({ number, call }): Line => {
      const { status: _status, reply: _reply, isLost: _isLost, ...sent } = call;
      return { kind: 'call', number, workspace: 'A', method: 'POST', at: 0, ...sent };
    }),
    ...numbered.map(({ number, call: { status = 200, reply = {}, isLost, at = 0, total } }): Line => {
      return isLost ? { kind: 'lost', number, at } : { kind: 'reply', number, status, body: reply, at, total };
    }),
  ];
}

export function push(body: object, reply: object, more: object = {}): Given {
  return { path: '/v2.1/transaction/sendpush', body: { targetAudience: 'All Users', ...body }, reply, ...more };
}

export const success = (cid: string, responseId: string) => ({ status: 'Success', cid, responseId });
export const fail = (reason: string) => ({ status: 'Fail', Error_Message: reason });

/** A message of the run `r` to the device `d`, whose answer its worker stored unless it says otherwise. */
export function message(given: { isStored?: boolean } & Record<string, unknown> = {}): Line[] {
  const { isStored = true, ...more } = given;
  const wave = (numbers += 1);
  const to = { campaign: 'c', run: 'r', device: 'd', address: 'd', platform: 'IOS' };
  const line = { kind: 'message', wave, worker: 'w', at: 0, ...to, collapse: 'k', message: 'm', answer: 'ACCEPTED' };
  return [{ ...line, ...more }, ...(isStored ? [{ kind: 'stored', wave }] : [])];
}

export const run = (more: object = {}): Line => ({
  ...{ kind: 'run', id: 'r', workspace: 'A', campaign: 'c', status: 'SENT', reason: null },
  ...{ occurrence: null, createdAt: 0, startedAt: 0, ...more },
});
export const delivery = (more: object = {}): Line => ({
  ...{ kind: 'delivery', run: 'r', workspace: 'A', device: 'd', address: 'd' },
  ...{ platform: 'IOS', outcome: 'ACCEPTED', code: null, ...more },
});
export const count = (more: object = {}): Line => ({
  ...{ kind: 'count', run: 'r', platform: 'IOS', outcome: 'ACCEPTED', devices: 1, ...more },
});
export const quiet: Line = { kind: 'quiet', isStuck: false };

/** The rules that a history of these lines breaks, each once. Without a line of kind `quiet`, one is added in the end. */
export function brokenBy(lines: readonly Line[], rig = 'calls'): string[] {
  const begin = { kind: 'begin', rig, seed: 1, at: 0 };
  const workspaces = [
    { kind: 'workspace', id: 'A', word: 'alpha' },
    { kind: 'workspace', id: 'B', word: 'beta' },
  ];
  const end = lines.some(({ kind }) => kind === 'quiet') ? [] : [quiet];
  const text = [begin, ...workspaces, ...lines, ...end].map((line) => JSON.stringify(line)).join('\n');
  return [...new Set(checkHistory('hand-made', text).anomalies.map(({ rule }) => rule))].sort();
}

import type { ChildProcess, ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

export type FollowedStart = {
  process: ChildProcess;
  /** The first line that is JSON; undefined when it ended without one. */
  line: Promise<string | undefined>;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; text: string }>;
};

/** Reads what a command says, npm and bootstrap.js included, until everything that holds its output has ended. */
export function followStart(child: ChildProcessByStdio<null, Readable, Readable>): FollowedStart {
  let text = '';
  const { promise: line, resolve: found } = Promise.withResolvers<string | undefined>();
  const take = (piece: Buffer): void => {
    text += piece.toString();
    const json = /^\{.*\}$/m.exec(text)?.[0];
    if (json !== undefined) found(json);
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const ended = once(child, 'close').then(([code, signal]) => {
    found(undefined);
    return { code: code as number | null, signal: signal as NodeJS.Signals | null, text };
  });
  return { process: child, line, ended };
}

import { fork } from 'node:child_process';
import { damagedPicture } from '../../domain/pictures.ts';
import type { Decoder, DecoderAnswer } from './start-thread.ts';

/** For JavaScript, in MB, and for the decoder, in pages of 64 KiB. The largest accepted picture takes 570 MB in all. */
const memoryFlags = ['--max-old-space-size=256', '--wasm-max-mem-pages=16384'];

/**
 * Decodes a file in a separate process, which can be ended at any moment. A thread cannot: with Node 26, `terminate()` waited a
 * minute for the decoder of an interlaced PNG.
 *
 * @param script what the process runs; a test gives another
 */
export function startProcess(file: Uint8Array, script = new URL('./picture-process.ts', import.meta.url)): Decoder {
  const child = fork(script, [], {
    // The environment of the node can contain secrets, and its flags are for a server.
    env: {},
    execArgv: ['--disable-warning=ExperimentalWarning', ...memoryFlags],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const answer = Promise.withResolvers<DecoderAnswer>();
  const gone = Promise.withResolvers<void>();
  child.once('message', (message) => answer.resolve(message as DecoderAnswer));
  child.once('exit', () => {
    // A fault of the decoder itself, such as memory that cannot be allocated.
    answer.resolve({ fault: damagedPicture });
    gone.resolve();
  });
  child.on('error', (error) => {
    answer.reject(error);
    if (child.pid === undefined) gone.resolve();
  });
  // If it cannot be sent, the process has ended.
  child.send(file, () => undefined);
  return {
    answer: answer.promise,
    end: () => {
      child.kill('SIGKILL');
      return gone.promise;
    },
  };
}

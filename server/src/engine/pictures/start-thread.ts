import { Worker } from 'node:worker_threads';
import { damagedPicture } from '../../domain/pictures.ts';
import type { PreparedPicture } from '../../domain/pictures.ts';

/** What a decoder returns: a picture, or why there is none. */
export type DecoderAnswer = { picture: Omit<PreparedPicture, 'bytes'> & { bytes: Uint8Array } } | { fault: string };

/** A decoder that has begun with a file. */
export type Decoder = {
  /** Rejects if the decoder could not be started. */
  answer: Promise<DecoderAnswer>;
  /** Ends it, whatever it does; resolves when it is gone. */
  end: () => Promise<void>;
};

/** Decodes a file in a thread. A thread ends only when the WebAssembly code that it runs returns. */
export function startThread(file: Uint8Array): Decoder {
  const worker = new Worker(new URL('./picture-thread.ts', import.meta.url), {
    workerData: file,
    // The library copies a file of 10 MB with 150 MB of them; the pixels are elsewhere, in the WebAssembly memory.
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  const answer = Promise.withResolvers<DecoderAnswer>();
  worker.once('message', answer.resolve);
  // A fault of the decoder itself, such as memory that cannot be allocated.
  worker.once('error', () => answer.resolve({ fault: damagedPicture }));
  worker.once('exit', () => answer.resolve({ fault: damagedPicture }));
  return {
    answer: answer.promise,
    end: async () => {
      await worker.terminate();
    },
  };
}

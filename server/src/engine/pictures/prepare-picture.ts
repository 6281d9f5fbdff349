import { Worker } from 'node:worker_threads';
import { damagedPicture, findFormatFault } from '../../domain/pictures.ts';
import type { PreparedPicture } from '../../domain/pictures.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxPictureSeconds, maxWaitingPictures } from '../../domain/limits/pictures.ts';

/** What the thread returns: a picture, or why there is none. */
export type ThreadAnswer = { picture: Omit<PreparedPicture, 'bytes'> & { bytes: Uint8Array } } | { fault: string };

export type PreparePicture = (file: Buffer) => Promise<PreparedPicture>;

/**
 * Makes the function that turns an uploaded file into a picture for notifications: upright, in sRGB, small enough, without
 * metadata. Each file has its own thread, which ends with it: a file that breaks the decoder or takes too long ends nothing
 * else, and its memory is returned. One file at a time, because a large one takes hundreds of megabytes.
 *
 * @param seconds the time limit; a test sets another
 * @returns a function that throws ServiceError PICTURE_UNREADABLE, OVERLOADED
 */
export function makePreparePicture({ seconds = maxPictureSeconds }: { seconds?: number } = {}): PreparePicture {
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  return async (file) => {
    const fault = findFormatFault(file);
    if (fault !== undefined) throw unreadable(fault);
    if (waiting > maxWaitingPictures) throw new ServiceError('OVERLOADED', { retryAfterSeconds: 5 });
    waiting += 1;
    const prepared = last.then(() => prepareInThread(file, seconds));
    last = prepared.catch(() => undefined);
    try {
      return await prepared;
    } finally {
      waiting -= 1;
    }
  };
}

async function prepareInThread(file: Buffer, seconds: number): Promise<PreparedPicture> {
  const worker = new Worker(new URL('./picture-thread.ts', import.meta.url), {
    workerData: file,
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  });
  const answer = Promise.withResolvers<ThreadAnswer>();
  const limit = setTimeout(
    () => answer.resolve({ fault: `Decoding it takes longer than ${seconds} s` }),
    seconds * 1000,
  );
  worker.once('message', answer.resolve);
  // A fault of the decoder itself, such as memory that cannot be allocated.
  worker.once('error', () => answer.resolve({ fault: damagedPicture }));
  worker.once('exit', () => answer.resolve({ fault: damagedPicture }));
  try {
    const answered = await answer.promise;
    if ('fault' in answered) throw unreadable(answered.fault);
    const { picture } = answered;
    return { ...picture, bytes: Buffer.from(picture.bytes) };
  } finally {
    clearTimeout(limit);
    await worker.terminate();
  }
}

function unreadable(reason: string): ServiceError {
  return new ServiceError('PICTURE_UNREADABLE', { reason });
}

import { isSea } from 'node:sea';
import { findFormatFault } from '../../domain/pictures.ts';
import type { PreparedPicture } from '../../domain/pictures.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxPictureSeconds, maxWaitingPictures } from '../../domain/limits/pictures.ts';
import { startProcess } from './start-process.ts';
import { type Decoder, startThread } from './start-thread.ts';

export type PreparePicture = (file: Buffer) => Promise<PreparedPicture>;

/** A single executable runs no script, only its own program. */
const startDecoder = isSea() ? startThread : startProcess;

/**
 * Makes the function that turns an uploaded file into a picture for notifications: upright, in sRGB, small enough, without
 * metadata. Each file has its own process, which ends with it: a file that breaks the decoder or takes too long ends nothing
 * else, and its memory is returned. One file at a time, because a large one takes hundreds of megabytes.
 *
 * @param seconds the time limit; a test sets another
 * @param start begins to decode a file; a test gives another
 * @returns a function that throws ServiceError PICTURE_UNREADABLE, OVERLOADED
 */
export function makePreparePicture({
  seconds = maxPictureSeconds,
  start = startDecoder,
}: { seconds?: number; start?: (file: Buffer) => Decoder } = {}): PreparePicture {
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  return async (file) => {
    const fault = findFormatFault(file);
    if (fault !== undefined) throw unreadable(fault);
    if (waiting > maxWaitingPictures) throw new ServiceError('OVERLOADED', { retryAfterSeconds: 5 });
    waiting += 1;
    const decoder = last.then(() => start(file));
    const prepared = decoder.then(({ answer }) => readAnswer(answer, seconds));
    last = endAfter(decoder, prepared).finally(() => {
      waiting -= 1;
    });
    return prepared;
  };
}

/** @throws ServiceError PICTURE_UNREADABLE */
async function readAnswer(answer: Decoder['answer'], seconds: number): Promise<PreparedPicture> {
  const late = Promise.withResolvers<{ fault: string }>();
  const limit = setTimeout(() => late.resolve({ fault: `Decoding it takes longer than ${seconds} s` }), seconds * 1000);
  try {
    const answered = await Promise.race([answer, late.promise]);
    if ('fault' in answered) throw unreadable(answered.fault);
    const { picture } = answered;
    return { ...picture, bytes: Buffer.from(picture.bytes) };
  } finally {
    clearTimeout(limit);
  }
}

/** Resolves when the decoder is gone: the next file needs the memory. The upload does not wait for that. */
async function endAfter(decoder: Promise<Decoder>, prepared: Promise<unknown>): Promise<void> {
  await prepared.catch(() => undefined);
  const { end } = await decoder.catch(() => ({ end: () => undefined }));
  await end();
}

function unreadable(reason: string): ServiceError {
  return new ServiceError('PICTURE_UNREADABLE', { reason });
}

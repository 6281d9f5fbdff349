import type { Readable } from 'node:stream';
import { ServiceError } from '../../domain/errors.ts';

const silenceMilliseconds = 30_000;

/**
 * The bytes of an upload as they come. Given up when nothing comes for 30 s, as a download is (decision D25). Leaving
 * the loop keeps the connection, so that a refusal can still be answered.
 *
 * @throws ServiceError BODY_MALFORMED when the upload breaks off
 */
export async function* readUpload(body: Readable): AsyncGenerator<Uint8Array> {
  const silence = setTimeout(() => body.destroy(new Error('nothing came for 30 s')), silenceMilliseconds);
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      silence.refresh();
      yield chunk;
      silence.refresh();
    }
  } catch (error) {
    throw new ServiceError('BODY_MALFORMED', {
      detail: `the upload broke off: ${(error as Error).message}`,
      cause: error,
    });
  } finally {
    clearTimeout(silence);
  }
}

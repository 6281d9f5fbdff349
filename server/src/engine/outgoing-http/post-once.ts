import type { Readable } from 'node:stream';
import { OutgoingRefusedError, silenceCodes } from './outgoing-client.ts';
import type { OutgoingClient } from './outgoing-client.ts';
import { AddressBlockedError } from './resolve-allowed-address.ts';

export type PostOutcome =
  { kind: 'answered'; status: number } | { kind: 'failed'; error: 'timeout' | 'unreachable' | 'refused' };

export type Post = {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string | Buffer;
  totalMilliseconds?: number;
};

// Enough for an honest response body; a longer one is cut off (fault F24).
const maxAnswerBytes = 64 * 1024;

/**
 * Posts once to a URL chosen by somebody else: a redirect is a response like any other. Never throws; once the status
 * has arrived, the call counts as answered whatever happens to the body.
 */
export async function postOnce(
  client: OutgoingClient,
  { url, headers, body, totalMilliseconds = 15_000 }: Post,
): Promise<PostOutcome> {
  try {
    const answer = await client.open({ url, method: 'POST', headers, body, totalMilliseconds });
    await discard(answer.body);
    return { kind: 'answered', status: answer.status };
  } catch (error) {
    return { kind: 'failed', error: classify(error) };
  }
}

async function discard(body: Readable): Promise<void> {
  let bytes = 0;
  try {
    // Leaving the loop destroys the body.
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes >= maxAnswerBytes) return;
    }
  } catch {
    // The status is known, and nothing else was wanted.
  }
}

function classify(error: unknown): 'timeout' | 'unreachable' | 'refused' {
  if (error instanceof OutgoingRefusedError || error instanceof AddressBlockedError) return 'refused';
  if ((error as NodeJS.ErrnoException).code === silenceCodes.headers) return 'timeout';
  // What the limit on the whole call throws.
  return error instanceof DOMException && error.name === 'TimeoutError' ? 'timeout' : 'unreachable';
}

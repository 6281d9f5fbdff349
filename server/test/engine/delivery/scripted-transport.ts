import type { Http2Target } from '../../../src/providers/http2/open-socket.ts';
import type { Http2Transport } from '../../../src/providers/http2/transport.ts';
import type { Answer } from '../../../src/providers/provider.ts';

export type SentRequest = { target: Http2Target; path: string; headers: Record<string, string>; body: string };

/** A transport whose peer says what `reply` says, with all that it was sent. */
export function makeScriptedTransport(reply: (request: SentRequest, number: number) => Answer) {
  const sent: SentRequest[] = [];
  const transport = {
    async request(target: Http2Target, { path, headers, body }: Omit<SentRequest, 'target'>) {
      sent.push({ target, path, headers, body: String(body) });
      return reply(sent.at(-1)!, sent.length);
    },
    close: async () => {},
  } as unknown as Http2Transport;
  return { transport, sent };
}

export function answerWith(status: number, body: unknown = '', headers: Record<string, string> = {}): Answer {
  return { kind: 'answer', status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

export const failedAnswer: Answer = { kind: 'failure', certainty: 'unknown', reason: 'timeout', detail: 'late' };

import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import { postSigned } from '../../../src/engine/outbox/receivers.ts';
import type { CallbackAnswer } from '../../../src/engine/outbox/receivers.ts';
import { makeLog } from '../../../src/log.ts';

const start = new Date('2026-03-01T12:00:00.700Z');
const key = Buffer.alloc(32, 5);
const signedPost = {
  id: 'msg_1',
  url: 'https://x.example/hook',
  body: '{"a":1}',
  secret: `whsec_${key.toString('base64')}`,
};

async function post(answer: CallbackAnswer | Error) {
  const clock = makeManualClock(start);
  clock.setOffset(3_600_000);
  const lines: Record<string, unknown>[] = [];
  const log = makeLog(
    { level: 'info', pretty: false },
    { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const requests: unknown[] = [];
  const posted = await postSigned(
    {
      ...{ clock, log },
      async post(request) {
        requests.push(request);
        clock.advance(250);
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
    signedPost,
  );
  return { requests, posted, lines };
}

test('a callback is signed as Standard Webhooks say, by real time, and its times are told by the service’s', async () => {
  const { requests, posted, lines } = await post({ kind: 'answered', status: 204 });
  const timestamp = String(Math.floor(start.getTime() / 1_000));
  const signature = createHmac('sha256', key).update(`msg_1.${timestamp}.{"a":1}`).digest('base64');
  expect(requests).toEqual([
    {
      ...{ url: 'https://x.example/hook', body: '{"a":1}' },
      headers: {
        ...{ 'content-type': 'application/json', 'user-agent': 'Carillon', 'webhook-id': 'msg_1' },
        ...{ 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` },
      },
    },
  ]);
  expect(posted).toEqual({
    answer: { kind: 'answered', status: 204 },
    startedAt: new Date(start.getTime() + 3_600_000),
    endedAt: new Date(start.getTime() + 3_600_250),
    durationMilliseconds: 250,
  });
  expect(lines).toEqual([]);
});

test('a request that fails for no reason of the receiver counts as unreachable, and is told', async () => {
  const { posted, lines } = await post(new Error('broken'));
  expect(posted.answer).toEqual({ kind: 'failed', error: 'unreachable' });
  expect(lines).toMatchObject([{ callbackId: 'msg_1' }]);
});

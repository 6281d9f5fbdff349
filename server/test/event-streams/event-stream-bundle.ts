import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { createEventStream, removeEventStream } from '../../src/app/event-streams.ts';
import type { EventStreamSettings } from '../../src/app/event-streams.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { streamedKinds } from '../../src/domain/events/event-streams.ts';
import type { PostCallback } from '../../src/engine/outbox/receivers.ts';
import { makeNoteEventBatches, makePostEventBatches } from '../../src/engine/outbox/event-streams.ts';
import { makeOutcomeBuffer } from '../../src/engine/jobs/outcome-buffer.ts';
import { makeOutgoingClient, postOnce } from '../../src/outgoing/client.ts';
import { makeExperimentBundle } from '../experiments/experiment-bundle.ts';

const actor = { kind: 'program', name: 'a test' } as const;

export type EventStreamBundle = Awaited<ReturnType<typeof makeEventStreamBundle>>;

/** A request as the receiver had it. */
export type Received = { id: string; body: any };

/** The engine with streams of events, and a receiver that listens. */
export async function makeEventStreamBundle() {
  const bundle = await makeExperimentBundle();
  const { database, clock, log, workspaceId } = bundle;
  const encryption = makeEncryption(Buffer.alloc(32, 9));
  const deps = { database, clock, encryption };
  const received: Received[] = [];
  let status = 204;
  let secret = '';
  let forged = 0;
  const receiver = createServer((request, reply) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = request.headers as Record<string, string>;
      const [id, text] = [headers['webhook-id']!, Buffer.concat(chunks).toString('utf8')];
      // By the clock that stands: `verify` has a clock of its own.
      const postedAt = new Date(Number(headers['webhook-timestamp']) * 1000);
      if (new Webhook(secret).sign(id, postedAt, text) !== headers['webhook-signature']) forged += 1;
      received.push({ id, body: JSON.parse(text) });
      reply.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`;
  const outgoing = makeOutgoingClient({ allowedNetworks: ['127.0.0.0/8'] });
  const outcomes = makeOutcomeBuffer({ log, pause: () => setImmediate() });
  const makePoster = (post: PostCallback) =>
    makePostEventBatches({ ...deps, log, outcomes, post, abbreviation: 'SVC' });
  const note = makeNoteEventBatches({ database, onNoted() {} });
  const post = makePoster((request) => postOnce(outgoing, request));
  const streams: string[] = [];

  return {
    ...bundle,
    deps,
    url,
    received,
    events: () => received.flatMap(({ body }) => body.events as any[]),
    reply(next: number) {
      status = next;
    },
    /** Requests whose signature is not that of the newest stream. */
    forged: () => forged,
    async addStream(settings: Partial<EventStreamSettings> = {}): Promise<string> {
      const rest = { url, events: [...streamedKinds], userAttributes: [], deviceAttributes: [] };
      const made = await createEventStream(deps, { ...rest, ...settings, workspaceId, actor });
      secret = made.secret!;
      streams.push(made.stream.id);
      return made.stream.id;
    },
    async removeStreams(): Promise<void> {
      for (const id of streams.splice(0)) await removeEventStream(deps, { workspaceId, id, actor });
      received.length = 0;
      status = 204;
    },
    note: () => note.runOnce(clock.now()),
    /** A worker that posts otherwise. */
    makePoster,
    /** A round of posting, and all that it sent has ended. */
    async postDue(): Promise<number> {
      const count = await post.runOnce(clock.now());
      await post.settled();
      return count;
    },
    async postAll(): Promise<void> {
      while ((await note.runOnce(clock.now())) + (await this.postDue()) > 0);
    },
    async count(table: 'event_stream_marks' | 'event_stream_batches'): Promise<number> {
      const [row] = await database<{ rows: number }[]>`select count(*) as rows from ${database(table)}`;
      return row!.rows;
    },
    async end() {
      receiver.closeAllConnections();
      receiver.close();
      await outgoing.close();
      await bundle.close();
    },
  };
}

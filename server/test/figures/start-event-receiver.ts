import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type EventReceiver = {
  url: string;
  /** How many events of a campaign were told, each uuid once, by code and content or control group. */
  told(campaignId: string): Map<string, number>;
  /** Requests and events that came, repeats with them. */
  received(): { requests: number; events: number };
  close(): Promise<void>;
};

/** Takes batches of events, of which it refuses one in fifty: those come again. */
export async function startEventReceiver(): Promise<EventReceiver> {
  const events = new Map<string, { campaignId: string; what: string }>();
  let [requests, count] = [0, 0];
  const server = createServer((request, reply) => {
    void (async () => {
      let text = '';
      for await (const piece of request) text += String(piece);
      requests += 1;
      if (requests % 50 === 0) return void reply.writeHead(503).end();
      for (const { event_uuid: uuid, event_code: code, event_attributes: about } of JSON.parse(text).events) {
        count += 1;
        const what = `${code} ${about.control_group ?? `${about.locale} ${about.variation}`}`;
        events.set(uuid, { campaignId: about.campaign_id, what });
      }
      reply.writeHead(204).end();
    })().catch(() => reply.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    told(campaignId) {
      const told = new Map<string, number>();
      for (const event of events.values())
        if (event.campaignId === campaignId) told.set(event.what, (told.get(event.what) ?? 0) + 1);
      return told;
    },
    received: () => ({ requests, events: count }),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

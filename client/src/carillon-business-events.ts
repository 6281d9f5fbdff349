import type { CallOptions, CallService } from './call-service.ts';
import type {
  BusinessEventRequest,
  BusinessEventSearchV5,
  BusinessEventTriggerV5,
  BusinessEventTriggeredV5,
  BusinessEventsV5,
} from './generated/shapes.ts';

type BusinessEvent = BusinessEventsV5['data']['business_events'][number];

/** Business events and the campaigns that they trigger: with a campaigns key or an access token. */
export type CarillonBusinessEvents = {
  create(event: BusinessEventRequest, options?: CallOptions): Promise<void>;
  trigger(trigger: BusinessEventTriggerV5, options?: CallOptions): Promise<BusinessEventTriggeredV5['data']>;
  list(options?: CallOptions): AsyncIterable<BusinessEvent>;
  search(search: Omit<BusinessEventSearchV5, 'limit' | 'cursor'>, options?: CallOptions): AsyncIterable<BusinessEvent>;
};

export function makeCarillonBusinessEvents(call: CallService): CarillonBusinessEvents {
  return {
    async create(body, options) {
      await call('createBusinessEvent', { body }, options);
    },
    async trigger(body, options) {
      return (await call('triggerBusinessEvent', { body }, options)).data;
    },
    list: (options) => eachAfter((cursor) => call('listBusinessEvents', { parameters: cursor }, options)),
    search: (search, options) =>
      eachAfter((cursor) => call('searchBusinessEvents', { body: { ...search, ...cursor } }, options)),
  };
}

async function* eachAfter(
  read: (cursor: { cursor?: string }) => Promise<BusinessEventsV5>,
): AsyncGenerator<BusinessEvent, void, undefined> {
  for (let cursor: { cursor?: string } = {}; ;) {
    const { data } = await read(cursor);
    yield* data.business_events;
    if (data.next_cursor === undefined) return;
    cursor = { cursor: data.next_cursor };
  }
}

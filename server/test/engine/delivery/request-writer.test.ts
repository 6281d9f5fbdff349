import { describe, expect, test } from 'vitest';
import type { OutgoingRequest } from '../../../src/providers/http2/requests.ts';
import { RequestHead } from '../../../src/providers/http2/requests.ts';
import type { DeliveryBatch, MessageParts } from '../../../src/providers/batch.ts';
import type { Outcome, PlanInput, RoutedProvider } from '../../../src/providers/provider.ts';
import { RequestWriter } from '../../../src/providers/lane-batch.ts';
import { makeMessage } from './make-message.ts';

type Planned = ReturnType<RoutedProvider<object>['plan']>;
type Given = {
  plan?: (input: PlanInput<object>, number: number) => Planned;
  reads?: 'failures' | 'bodies';
  texts?: 'copied' | 'read';
  smallBodyBytes?: number;
  pushIds?: string[];
  partsOf?: (place: number) => MessageParts | undefined;
  messageWith?: DeliveryBatch['messageWith'];
  messageOf?: DeliveryBatch['messageOf'];
};

const messageOf = (place: number) => makeMessage('ANDROID', String(place));
const shape = {} as never;
const withText = (text: string, place = 0): MessageParts => ({
  ...messageOf(place),
  own: { texts: [text], shape } as never,
});

/** A provider whose requests have the address in the path, the id as a header, and all else in the body. */
function planPlainly({ message, device }: PlanInput<object>): Planned {
  const { identity, report, content } = message;
  const body = Buffer.from(
    JSON.stringify({ to: device.pushId, tag: identity.collapseId, report, title: content.title }),
  );
  const headers = { 'content-type': 'application/json', 'x-id': identity.id };
  return { plan: { origin: 'https://push.example', path: `/${device.pushId}`, headers, body } };
}

function makeBundle(given: Given = {}) {
  const planned: string[] = [];
  const told: [number, Outcome][] = [];
  const faults: [number, unknown][] = [];
  const { pushIds = ['a', 'b', 'c'] } = given;
  const provider = {
    reads: given.reads ?? 'failures',
    texts: given.texts ?? 'copied',
    smallBodyBytes: given.smallBodyBytes ?? 4096,
    addressOf: (pushId: string) => (pushId.includes('"') ? undefined : pushId),
    plan(input: PlanInput<object>) {
      planned.push(input.device.pushId);
      return (given.plan ?? planPlainly)(input, planned.length);
    },
  } as unknown as RoutedProvider<object>;
  const batch: DeliveryBatch = {
    ...{ credentials: {}, pace: 'in turn' },
    devices: pushIds.map((pushId, number) => ({ id: String(number), platform: 'ANDROID', provider: null, pushId })),
    messageOf: given.messageOf ?? messageOf,
    partsOf: given.partsOf ?? messageOf,
    messageWith:
      given.messageWith ??
      ((place, [title]) => {
        const message = messageOf(place);
        return { ...message, content: { ...message.content, title: title! } };
      }),
    onOutcome: (place, outcome) => told.push([place, outcome]),
    onFault: (place, error) => faults.push([place, error]),
  };
  const writer = new RequestWriter({ provider, credential: {}, batch, authorization: 'bearer x' });
  const request = {
    ...{ head: new RequestHead([]), path: '', values: [], body: Buffer.alloc(0), ticket: 99 },
  } as unknown as OutgoingRequest;
  /** What is written for the place, and how. */
  const write = (place: number) => {
    const written = writer.write(place, request);
    const { head, path, values, body, ticket } = request;
    const headers = [...head.headers, ...head.names.map((name, number) => [name, values[number]])];
    return {
      written,
      ticket,
      path,
      headers: Object.fromEntries(headers) as object,
      body: Buffer.from(body).toString(),
    };
  };
  return { writer, request, write, planned, told, faults };
}

/** What the plain provider sends of the message, and by which way. */
function expected(place: number, { pushId, title = 'Title' }: { pushId: string; title?: string }) {
  const message = messageOf(place);
  const planned = planPlainly({
    ...{ device: { deviceId: '', platform: 'ANDROID', pushId }, credential: {} },
    message: { ...message, content: { ...message.content, title } },
  }) as { plan: { path: string; body: Buffer } };
  return {
    written: 'written',
    ticket: place,
    path: planned.plan.path,
    headers: { 'content-type': 'application/json', authorization: 'bearer x', 'x-id': message.identity.id },
    body: planned.plan.body.toString(),
  };
}

describe('messages that differ in their devices’ own alone', () => {
  test('are planned once, and each is written with what is its own', () => {
    const { write, writer, planned } = makeBundle();
    for (const [place, pushId] of ['a', 'b', 'c'].entries()) expect(write(place)).toEqual(expected(place, { pushId }));
    expect(planned).toHaveLength(1);
    expect([0, 1, 2].map((place) => writer.messageIdOf(place))).toEqual(
      [0, 1, 2].map((place) => messageOf(place).identity.id),
    );
  });

  test('are written into one piece of memory, which grows for a longer one', () => {
    const long = 'y'.repeat(9_000);
    const { write, request } = makeBundle({ pushIds: ['aa', 'bb', long, 'c'], smallBodyBytes: 20_000 });
    write(0);
    const first = request.body;
    expect(write(1)).toEqual(expected(1, { pushId: 'bb' }));
    expect(request.body).toBe(first);
    expect(write(2)).toEqual(expected(2, { pushId: long }));
    expect(request.body.length).toBeGreaterThan(long.length);
    expect(write(3)).toEqual(expected(3, { pushId: 'c' }));
    expect(write(0)).toEqual(expected(0, { pushId: 'aa' }));
  });

  test('keep no id where the provider gives its own', () => {
    const { write, writer } = makeBundle({ reads: 'bodies' });
    write(0);
    writer.plan(1);
    expect([writer.messageIdOf(0), writer.messageIdOf(1)]).toEqual([undefined, undefined]);
  });

  test('one without a report among them is planned by itself', () => {
    const withoutReport = (place: number) => {
      const { report: _report, ...message } = messageOf(place);
      return message;
    };
    const made = (place: number) => (place === 1 ? withoutReport(1) : messageOf(place));
    const { write, planned } = makeBundle({ messageOf: made, partsOf: made });
    expect(write(0)).toEqual(expected(0, { pushId: 'a' }));
    expect(JSON.parse(write(1).body)).not.toHaveProperty('report');
    expect(write(2)).toEqual(expected(2, { pushId: 'c' }));
    expect(planned).toHaveLength(2);
  });

  test('are refused together where none of them could be sent', () => {
    const outcome: Outcome = { kind: 'rejected', code: 'MESSAGE_TOO_LARGE', detail: 'x' };
    const { write, planned, told } = makeBundle({ plan: () => ({ outcome }) });
    expect([write(0).written, write(1).written]).toEqual(['told', 'told']);
    expect(told).toEqual([
      [0, outcome],
      [1, outcome],
    ]);
    expect(planned).toHaveLength(1);
  });

  test('are stopped where the credential cannot be used', () => {
    const { write, told } = makeBundle({
      plan() {
        throw new Error('no key');
      },
    });
    expect(write(0).written).toBe('told');
    expect(told).toEqual([[0, { kind: 'stopped', code: 'CREDENTIAL_UNUSABLE', detail: 'no key' }]]);
  });
});

describe('messages with texts of their users', () => {
  const texts = ['Ada', 'Zoë 😀 "quoted"\n', 'Grace'];
  const ownParts = (place: number) => withText(texts[place]!, place);
  const made = (place: number) => {
    const message = messageOf(place);
    return { ...message, content: { ...message.content, title: texts[place]! } };
  };

  test('are written from one form as well', () => {
    const { write, planned } = makeBundle({ partsOf: ownParts, messageOf: made });
    for (const [place, pushId] of ['a', 'b', 'c'].entries())
      expect(write(place)).toEqual(expected(place, { pushId, title: texts[place]! }));
    expect(planned).toHaveLength(1);
  });

  test('are planned by themselves where the provider reads what a text says', () => {
    const { write, planned } = makeBundle({ partsOf: ownParts, messageOf: made, texts: 'read' });
    for (const place of [0, 1]) expect(write(place)).toMatchObject({ written: 'written' });
    expect(planned).toEqual(['a', 'b']);
  });

  test('are planned by themselves when they might be too large, and no sooner', () => {
    const bytes = expected(0, { pushId: 'a', title: texts[0]! }).body.length;
    for (const [smallBodyBytes, count] of [
      [bytes, 1],
      [bytes - 1, 2],
    ] as const) {
      const { write, planned } = makeBundle({ partsOf: ownParts, messageOf: made, smallBodyBytes });
      expect(write(0)).toEqual(expected(0, { pushId: 'a', title: texts[0]! }));
      expect(planned).toHaveLength(count);
    }
  });

  test('are planned by themselves where no message can be made of the form, or none of another shape', () => {
    const broken = makeBundle({
      ...{ partsOf: ownParts, messageOf: made },
      messageWith() {
        throw new Error('cannot be made');
      },
    });
    expect(broken.write(0)).toEqual(expected(0, { pushId: 'a', title: 'Ada' }));
    const shapes = makeBundle({
      messageOf: made,
      partsOf: (place) =>
        place === 1
          ? { ...messageOf(1), own: { texts: ['x'], shape: { other: 1 } as never } as never }
          : ownParts(place),
    });
    shapes.write(0);
    expect(shapes.write(1)).toEqual(expected(1, { pushId: 'b', title: texts[1]! }));
    expect(shapes.planned).toHaveLength(2);
  });

  test('are not refused together: what the form is refused for may be right for another', () => {
    const { write, planned, told } = makeBundle({
      partsOf: ownParts,
      messageOf: made,
      plan: (input, number) =>
        number === 1 ? { outcome: { kind: 'rejected', code: 'X', detail: '' } } : planPlainly(input),
    });
    for (const place of [0, 1])
      expect(write(place)).toEqual(expected(place, { pushId: 'ab'[place]!, title: texts[place]! }));
    expect([planned.length, told]).toEqual([3, []]);
  });
});

describe('a message by itself', () => {
  test('is written where its batch knows of no parts', () => {
    const { write, writer, planned } = makeBundle({ partsOf: () => undefined });
    for (const place of [0, 1]) expect(write(place)).toEqual(expected(place, { pushId: 'ab'[place]! }));
    expect(planned).toEqual(['a', 'b']);
    expect(writer.messageIdOf(1)).toBe(messageOf(1).identity.id);
  });

  test('is not written for an address that is not plain', () => {
    const { write, planned } = makeBundle({ pushIds: ['"'] });
    expect(write(0)).toMatchObject({ written: 'alone', ticket: 99 });
    expect(planned).toEqual([]);
  });

  test('is not written with what is no value of a header: it is sent by itself', () => {
    const { write } = makeBundle({
      partsOf: () => undefined,
      plan: () => ({
        plan: { origin: '', path: '/', headers: { 'content-type': 'a\nb' }, body: Buffer.alloc(0) },
      }),
    });
    expect(write(0).written).toBe('alone');
  });

  test('that cannot be made is a fault, as are its parts', () => {
    const broken = new Error('cannot be made');
    const fail = (): never => {
      throw broken;
    };
    for (const given of [{ partsOf: fail }, { partsOf: () => undefined, messageOf: fail }]) {
      const { write, faults, told, planned } = makeBundle(given);
      expect(write(1).written).toBe('told');
      expect([faults, told, planned]).toEqual([[[1, broken]], [], []]);
    }
  });

  test('that is refused is told so', () => {
    const outcome: Outcome = { kind: 'gone', code: 'BadDeviceToken' };
    const { write, told, writer } = makeBundle({ partsOf: () => undefined, plan: () => ({ outcome }) });
    expect(write(0).written).toBe('told');
    expect(told).toEqual([[0, outcome]]);
    expect(writer.plan(1)).toBeUndefined();
  });
});

import type { Message } from '../../domain/campaigns/message.ts';
import type { OutgoingRequest } from './http2/answer-listener.ts';
import { RequestHeads } from './http2/request-heads.ts';
import type { BatchDevice, DeliveryBatch, MessageParts } from './delivery-batch.ts';
import type { Outcome, Plan, RoutedProvider } from './provider.ts';
import { markMessage, RequestForm } from './request-form.ts';

export type Written =
  /** The request is that of the device. */
  | 'written'
  /** It cannot be sent through a lane. */
  | 'alone'
  /** There is no request: the batch was told why. */
  | 'told';

type Options<C> = { provider: RoutedProvider<C>; credential: C; batch: DeliveryBatch; authorization: string };

/** Writes the requests of a batch, from one form if its messages have one. */
export class RequestWriter<C> {
  readonly #options: Options<C>;
  readonly #heads = new RequestHeads();
  /** `outcome`: what no message of the form gets past. */
  #form: RequestForm | { outcome: Outcome } | 'none' | undefined;
  /** Under which messages were sent whose provider is not asked for it. */
  readonly #messageIds: string[] = [];

  constructor(options: Options<C>) {
    this.#options = options;
  }

  write(place: number, request: OutgoingRequest): Written {
    const { provider, batch } = this.#options;
    const address = provider.addressOf(batch.devices[place]!.pushId);
    if (address === undefined) return 'alone';
    request.ticket = place;
    let parts: MessageParts | undefined;
    try {
      parts = batch.partsOf?.(place);
    } catch (error) {
      batch.onFault(place, error);
      return 'told';
    }
    if (!parts || (parts.own && provider.texts === 'read')) return this.#writeWhole(place, request);
    this.#form ??= this.#makeForm(place, parts);
    if (this.#form === 'none') return this.#writeWhole(place, request);
    if ('outcome' in this.#form) {
      batch.onOutcome(place, this.#form.outcome);
      return 'told';
    }
    const isOfForm = this.#form.write(request, address, parts);
    // A text of the user's may make it too large for its provider.
    const isSmall = !parts.own || request.body.length <= provider.smallBodyBytes;
    if (!isOfForm || !isSmall) return this.#writeWhole(place, request);
    this.#noteId(place, parts.identity.id);
    return 'written';
  }

  messageIdOf(place: number): string {
    return this.#messageIds[place]!;
  }

  /** A message by itself, for what is not written here. @returns undefined when the batch was told why there is none */
  plan(place: number): Plan | undefined {
    const { batch } = this.#options;
    let message: Message;
    try {
      message = batch.messageOf(place);
    } catch (error) {
      batch.onFault(place, error);
      return undefined;
    }
    const planned = this.#planFor(message, batch.devices[place]!);
    if ('outcome' in planned) {
      batch.onOutcome(place, planned.outcome);
      return undefined;
    }
    this.#noteId(place, message.identity.id);
    return planned.plan;
  }

  #writeWhole(place: number, request: OutgoingRequest): Written {
    const plan = this.plan(place);
    if (!plan) return 'told';
    const { authorization } = this.#options;
    const values: string[] = [];
    try {
      request.head = this.#heads.headOf({ ...plan.headers, authorization }, values);
    } catch {
      // No value of a header: by itself it gets the outcome that is for it.
      return 'alone';
    }
    request.path = plan.path;
    request.values = values;
    request.body = plan.body;
    return 'written';
  }

  /** Whatever keeps a form without users' texts from being made keeps each message from being sent, which is told of each. */
  #makeForm(place: number, parts: MessageParts): RequestForm | { outcome: Outcome } | 'none' {
    const { batch, authorization } = this.#options;
    try {
      const marked = markMessage(parts, (texts) =>
        parts.own ? batch.messageWith!(place, texts) : batch.messageOf(place),
      );
      const planned = this.#planFor(marked.message, { ...batch.devices[place]!, pushId: marked.marks[0]! });
      if ('plan' in planned) return new RequestForm(planned.plan, { marked, shape: parts.own?.shape, authorization });
      return parts.own ? 'none' : planned;
    } catch {
      return 'none';
    }
  }

  #planFor(message: Message, { id: deviceId, ...device }: BatchDevice): { plan: Plan } | { outcome: Outcome } {
    const { provider, credential } = this.#options;
    try {
      return provider.plan({ message, device: { deviceId, ...device }, credential });
    } catch (error) {
      return { outcome: unusableCredential(error) };
    }
  }

  #noteId(place: number, id: string): void {
    if (this.#options.provider.reads === 'failures') this.#messageIds[place] = id;
  }
}

/** A broken key, for example: it must not fail the whole window. */
export function unusableCredential(error: unknown): Outcome {
  return { kind: 'stopped', code: 'CREDENTIAL_UNUSABLE', detail: (error as Error).message };
}

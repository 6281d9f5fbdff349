import type { Clock } from '../clock.ts';
import type { Message } from '../domain/content/message.ts';
import { sendByRoute, sendWithNextToken } from './access-tokens.ts';
import { markMessage, RequestForm } from './batch.ts';
import type { DeliveryBatch, SendTo, BatchDevice, MessageParts } from './batch.ts';
import { RequestHead, RequestHeads } from './http2/requests.ts';
import type { OutgoingRequest } from './http2/requests.ts';
import type { Http2Transport, LaneOwner, RequestLane } from './http2/transport.ts';
import type { Answer, Outcome, Plan, Route, RoutedProvider } from './provider.ts';

export type LaneBatchOptions<C> = {
  clock: Clock;
  transport: Http2Transport;
  provider: RoutedProvider<C>;
  credential: C;
  batch: DeliveryBatch;
};

/**
 * Sends a batch through a lane: no promise and no closure per message, and the shared part is serialized once. The few messages
 * that need more (another token, a retry, an address that is not plain) are sent separately.
 */
export function makeLaneBatch<C>(options: LaneBatchOptions<C>): SendTo {
  const batch = new LaneBatch(options);
  return (place) => batch.send(place);
}

/** The state after the provider granted access. */
type Opened<C> = { route: Route; lane: RequestLane; writer: RequestWriter<C> };

class LaneBatch<C> implements LaneOwner {
  readonly reads: RoutedProvider<C>['reads'];
  readonly #options: LaneBatchOptions<C>;
  /** In sending order; those before `#next` have been sent. */
  readonly #places: number[] = [];
  #next = 0;
  #state: 'new' | 'opening' | { verdict: Outcome } | Opened<C> = 'new';
  /** True if the request of `#places[#next]` is already written but the lane had no space for it. */
  #isWritten = false;
  /** True while a loop passes over the places. `onOutcome` may send the next message, which the running loop then handles. */
  #isPassing = false;
  readonly #request: OutgoingRequest;

  constructor(options: LaneBatchOptions<C>) {
    this.#options = options;
    this.reads = options.provider.reads;
    const empty = { head: new RequestHead([]), path: '', values: [], body: Buffer.alloc(0), ticket: 0 };
    this.#request = { ...empty, listener: this };
  }

  send(place: number): void {
    this.#places.push(place);
    if (this.#state === 'new') void this.#open();
    else this.onSpace();
  }

  onSpace(): void {
    const state = this.#state;
    if (typeof state === 'string' || this.#isPassing) return;
    this.#isPassing = true;
    if ('verdict' in state) this.#judgeRest(state.verdict);
    else this.#sendRest(state);
    this.#isPassing = false;
  }

  #sendRest(state: Opened<C>): void {
    for (; this.#next < this.#places.length; this.#next += 1) {
      const place = this.#places[this.#next]!;
      if (!this.#isWritten) {
        const written = state.writer.write(place, this.#request);
        if (written === 'alone') this.#sendAlone(place, state);
        if (written !== 'written') continue;
      }
      // Set before sending: meanwhile the lane may report that there is no connection.
      this.#isWritten = true;
      if (!state.lane.send(this.#request)) return;
      this.#isWritten = false;
    }
  }

  /** No connection was established, so the waiting messages were not sent. */
  onUnreachable(failure: Answer): void {
    this.#isWritten = false;
    this.#isPassing = true;
    this.#judgeRest(this.#classify(failure));
    this.#isPassing = false;
  }

  onAccepted(place: number, status: number): void {
    // 200 is the only success status that providers document.
    if (status !== 200) return this.onAnswer(place, { kind: 'answer', status, headers: {}, body: '' });
    const { writer } = this.#state as Opened<C>;
    this.#tell(place, { kind: 'accepted', providerMessageId: writer.messageIdOf(place) });
  }

  onAnswer(place: number, answer: Answer): void {
    const isUnsent = answer.kind === 'failure' && answer.certainty === 'unsent';
    const isRefused = this.#options.provider.access.isRefused(answer);
    if (isUnsent || isRefused) this.#sendAlone(place, this.#state as Opened<C>, isRefused ? answer : undefined);
    else this.#tell(place, this.#classify(answer));
  }

  async #open(): Promise<void> {
    this.#state = 'opening';
    const { provider, credential, transport, batch } = this.#options;
    try {
      const route = await provider.access.find(credential);
      if ('refusal' in route) this.#state = { verdict: this.#classify(route.refusal) };
      else {
        const { target, authorization } = route;
        const writer = new RequestWriter({ provider, credential, batch, authorization });
        this.#state = { route, lane: transport.openLane(target, this), writer };
      }
    } catch (error) {
      this.#state = { verdict: unusableCredential(error) };
    }
    this.onSpace();
  }

  /** Sends a message separately, on any connection. `refused`: the response to the first attempt, if its token was rejected. */
  #sendAlone(place: number, { route, writer }: Opened<C>, refused?: Answer): void {
    const plan = writer.plan(place);
    if (!plan) return;
    this.#sendAgain(plan, { route, refused }).then(
      (answer) => this.#tell(place, this.#classify(answer)),
      (error: unknown) => this.#tell(place, unusableCredential(error)),
    );
  }

  #sendAgain(plan: Plan, { route, refused }: { route: Route; refused: Answer | undefined }): Promise<Answer> {
    const { transport, provider, credential } = this.#options;
    const sending = { transport, access: provider.access, credential };
    return refused ? sendWithNextToken(sending, { plan, route, answer: refused }) : sendByRoute(sending, plan);
  }

  /** Reports this outcome for each message that was not sent. */
  #judgeRest(outcome: Outcome): void {
    for (; this.#next < this.#places.length; this.#next += 1) this.#tell(this.#places[this.#next]!, outcome);
  }

  #classify(answer: Answer): Outcome {
    return this.#options.provider.classify(answer, this.#options.clock.realNow());
  }

  #tell(place: number, outcome: Outcome): void {
    this.#options.batch.onOutcome(place, outcome);
  }
}

export type Written =
  /** The request is the device's. */
  | 'written'
  /** The message cannot be sent through a lane. */
  | 'alone'
  /** There is no request; the batch received the reason. */
  | 'reported';

type Options<C> = { provider: RoutedProvider<C>; credential: C; batch: DeliveryBatch; authorization: string };

/** Writes the requests of a batch, from one form if its messages share one. */
export class RequestWriter<C> {
  readonly #options: Options<C>;
  readonly #heads = new RequestHeads();
  /** `outcome`: the outcome of every message of the form. */
  #form: RequestForm | { outcome: Outcome } | 'none' | undefined;
  /** Ids that messages were sent with, for providers whose success responses are not read. */
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
      return 'reported';
    }
    if (!parts || (parts.own && provider.texts === 'read')) return this.#writeWhole(place, request);
    this.#form ??= this.#makeForm(place, parts);
    if (this.#form === 'none') return this.#writeWhole(place, request);
    if ('outcome' in this.#form) {
      batch.onOutcome(place, this.#form.outcome);
      return 'reported';
    }
    const isOfForm = this.#form.write(request, address, parts);
    // A user text may make the message too large for its provider.
    const isSmall = !parts.own || request.body.length <= provider.smallBodyBytes;
    if (!isOfForm || !isSmall) return this.#writeWhole(place, request);
    this.#noteId(place, parts.identity.id);
    return 'written';
  }

  messageIdOf(place: number): string {
    return this.#messageIds[place]!;
  }

  /** Plans a message that is not written here. @returns undefined if the batch received the reason why there is no plan */
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
    if (!plan) return 'reported';
    const { authorization } = this.#options;
    const values: string[] = [];
    try {
      request.head = this.#heads.headOf({ ...plan.headers, authorization }, values);
    } catch {
      // An invalid header value. Sent separately, the message gets the proper outcome.
      return 'alone';
    }
    request.path = plan.path;
    request.values = values;
    request.body = plan.body;
    return 'written';
  }

  /**
   * Returns the form, or the outcome of each message: an outcome that prevents a form without user texts prevents every
   * message.
   */
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

/** Returns the outcome for an unusable credential, for example a broken key. It must not fail the whole window. */
export function unusableCredential(error: unknown): Outcome {
  return { kind: 'stopped', code: 'CREDENTIAL_UNUSABLE', detail: (error as Error).message };
}

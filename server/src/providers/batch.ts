import { randomBytes } from 'node:crypto';
import type { Message } from '../domain/content/message.ts';
import type { ProviderCredentials } from '../domain/credentials/credentials.ts';
import type { OwnTexts, ContentShape } from '../domain/template/personalise.ts';
import { RequestHeads } from './http2/requests.ts';
import type { OutgoingRequest, RequestHead } from './http2/requests.ts';
import type { DeliveryRequest, DeviceAddress, Outcome, Plan } from './provider.ts';

/** Messages of one run to devices of one platform, provider and kind of address. They are known by their places in `devices`. */
export type DeliveryBatch = {
  credentials: ProviderCredentials;
  /** At least one. */
  devices: readonly BatchDevice[];
  /** The whole message of a device. */
  messageOf(place: number): Message;
  /** What of a device's message is its own, when the rest is everybody's; undefined of a device whose message is to be made by itself. */
  partsOf?: ((place: number) => MessageParts | undefined) | undefined;
  /** The message of a device with other texts in the place of its own ones. Given with parts that have some. */
  messageWith?: ((place: number, texts: readonly string[]) => Message) | undefined;
  /** `promptly`: before what is sent through lanes, however much of that waits. */
  pace: 'promptly' | 'in turn';
  /** Once for each message that was sent. */
  onOutcome(place: number, outcome: Outcome): void;
  /** Instead, when the message could not be made. */
  onFault(place: number, error: unknown): void;
};

export type BatchDevice = Omit<DeviceAddress, 'deviceId'> & { id: string };

/**
 * In a message of the same run to another device of the same platform everything else is the same. `own`: the texts of its
 * user; of another shape are other messages.
 */
export type MessageParts = Pick<Message, 'identity' | 'report'> & { own?: OwnTexts };

/** Sends a device its message. Its outcome may be told before this returns. */
export type SendTo = (place: number) => void;

export type OpenBatch = (batch: DeliveryBatch) => SendTo;

/** Batches whose messages are sent by themselves, each with a promise of its outcome. */
export function makeSingleBatch(deliver: (request: DeliveryRequest) => Promise<Outcome>): OpenBatch {
  return ({ credentials, devices, messageOf, onOutcome, onFault }) =>
    (place) => {
      let message: Message;
      try {
        message = messageOf(place);
      } catch (error) {
        onFault(place, error);
        return;
      }
      const { id: deviceId, platform, provider, pushId, pushIdType } = devices[place]!;
      deliver({ message, device: { deviceId, platform, provider, pushId, pushIdType }, credentials }).then(
        (outcome) => onOutcome(place, outcome),
        (error: unknown) => onFault(place, error),
      );
    };
}

/** What stands where a device's own texts will: its address, then what `textsOf` finds. */
type Marks = readonly string[];

/** A message with marks in the place of what is one device's own, to be planned for the address `marks[0]`. */
export type MarkedMessage = {
  message: Message;
  marks: Marks;
  /** Where the texts of its user will stand. */
  own: readonly TextMark[];
};

/** A text cut at its marks: a piece, the text of the number behind it, the next piece, and so on. */
type Cut<Piece> = { pieces: readonly Piece[]; numbers: readonly number[] };

// A shorter one might stand in a message by chance.
const minMarkCharacters = 16;
const addressCharacters = 64;

/**
 * @param messageWith the message with texts in the place of its user's own
 *
 * Marks are as long as what they stand for, so a message is too large for its provider with them if it is without; and
 * hexadecimal, so nothing that serializes them writes them otherwise.
 */
export function markMessage(parts: MessageParts, messageWith: (texts: readonly string[]) => Message): MarkedMessage {
  const { identity, report } = parts;
  const own = ownMarks(parts.own?.texts.length ?? 0);
  const [id, collapseId] = [makeMark(identity.id.length), makeMark(identity.collapseId.length)];
  const { report: _report, ...message } = messageWith(own.map(({ text }) => text));
  const marked: Message = { ...message, identity: { id, collapseId } };
  if (report) {
    marked.report = { token: makeMark(report.token.length) };
    if (report.clickProof !== undefined) marked.report.clickProof = makeMark(report.clickProof.length);
  }
  const marks = [makeMark(addressCharacters)];
  textsOf(marked, marks);
  return { message: marked, marks, own };
}

function makeMark(characters: number): string {
  const length = Math.max(minMarkCharacters, characters);
  return randomBytes(length).toString('hex').slice(0, length);
}

/** Behind the address. A message without a report has none of its texts, as all of its run. */
function textsOf({ identity, report }: MessageParts, texts: string[]): void {
  texts.length = 1;
  texts.push(identity.id, identity.collapseId);
  if (report === undefined) return;
  texts.push(report.token);
  if (report.clickProof !== undefined) texts.push(report.clickProof);
}

type FormOptions = { marked: MarkedMessage; shape: ContentShape | undefined; authorization: string };

/**
 * The requests of messages that differ in devices' own texts only. What they share is serialized once and cut where the
 * texts belong; a request is the pieces with a device's texts between them, written into one buffer again and again.
 */
export class RequestForm {
  readonly #shape: ContentShape | undefined;
  readonly #head: RequestHead;
  readonly #path: Cut<string>;
  readonly #values: readonly Cut<string>[];
  readonly #body: Cut<Buffer>;
  readonly #texts: string[] = [''];
  /** The number of marks before those of users' texts. */
  readonly #fixed: number;
  /** By the number of its mark: which of a user's texts, and how it is written. */
  readonly #ownAt: readonly { place: number; depth: number }[];
  readonly #ownValues: string[] = [];
  #bytes: Buffer;

  /** @throws when a text of the user's stands in it otherwise than as JSON writes it: then there is no form */
  constructor(plan: Plan, { marked: { marks, own }, shape, authorization }: FormOptions) {
    const values: string[] = [];
    this.#shape = shape;
    this.#fixed = marks.length;
    this.#ownAt = own.flatMap(({ written }, place) => written.map((_, depth) => ({ place, depth })));
    this.#head = new RequestHeads().headOf({ ...plan.headers, authorization }, values);
    this.#path = cutAtMarks(plan.path, marks);
    this.#values = values.map((value) => cutAtMarks(value, marks));
    const inBody = [...marks, ...own.flatMap(({ written }) => written)];
    const { pieces, numbers } = cutAtMarks(plan.body.toString('utf8'), inBody);
    const around = [plan.path, ...Object.values(plan.headers)];
    if ([...pieces, ...around].some((piece) => isLeft(piece, own))) throw new Error('a text is not written as it is');
    this.#body = { pieces: pieces.map((piece) => Buffer.from(piece)), numbers };
    this.#bytes = Buffer.allocUnsafe(2 * plan.body.length);
  }

  /** Makes `request` that of one device, until the next is written. @returns whether its message has this form */
  write(request: OutgoingRequest, address: string, parts: MessageParts): boolean {
    if (parts.own?.shape !== this.#shape) return false;
    const texts = this.#texts;
    texts[0] = address;
    textsOf(parts, texts);
    if (texts.length !== this.#fixed) return false;
    const { own } = parts;
    if (own !== undefined) for (const { place, depth } of this.#ownAt) texts.push(escapeText(own.texts[place]!, depth));
    const values = this.#ownValues;
    for (let number = 0; number < this.#values.length; number += 1) values[number] = join(this.#values[number]!, texts);
    request.head = this.#head;
    request.path = join(this.#path, texts);
    request.values = values;
    request.body = this.#writeBody(request.body, texts);
    return true;
  }

  #writeBody(before: Uint8Array, texts: readonly string[]): Uint8Array {
    const { pieces, numbers } = this.#body;
    let length = pieces[0]!.length;
    for (let index = 0; index < numbers.length; index += 1)
      length += this.#bytesOf(numbers[index]!, texts) + pieces[index + 1]!.length;
    if (length > this.#bytes.length) this.#bytes = Buffer.allocUnsafe(2 * length);
    const bytes = this.#bytes;
    bytes.set(pieces[0]!);
    let place = pieces[0]!.length;
    for (let index = 0; index < numbers.length; index += 1) {
      const number = numbers[index]!;
      place += bytes.write(texts[number]!, place, number < this.#fixed ? 'latin1' : 'utf8');
      const piece = pieces[index + 1]!;
      bytes.set(piece, place);
      place += piece.length;
    }
    // Nearly all bodies of a run are equally long.
    const isSame = before.length === length && before.buffer === bytes.buffer && before.byteOffset === bytes.byteOffset;
    return isSame ? before : bytes.subarray(0, length);
  }

  /** All but users' texts are ASCII. */
  #bytesOf(number: number, texts: readonly string[]): number {
    const text = texts[number]!;
    return number < this.#fixed ? text.length : Buffer.byteLength(text);
  }
}

/** There is a form for each window, so this is done without an expression that would have to be compiled. */
function cutAtMarks(text: string, marks: Marks): Cut<string> {
  let pieces = [text];
  let numbers: number[] = [];
  for (const [mark, word] of marks.entries()) {
    const [cutPieces, cutNumbers]: [string[], number[]] = [[], []];
    for (const [index, piece] of pieces.entries()) {
      const parts = piece.split(word);
      cutPieces.push(...parts);
      for (let place = 1; place < parts.length; place += 1) cutNumbers.push(mark);
      if (index < numbers.length) cutNumbers.push(numbers[index]!);
    }
    pieces = cutPieces;
    numbers = cutNumbers;
  }
  return { pieces, numbers };
}

function join({ pieces, numbers }: Cut<string>, texts: readonly string[]): string {
  let text = pieces[0]!;
  for (let index = 0; index < numbers.length; index += 1) text += texts[numbers[index]!]! + pieces[index + 1]!;
  return text;
}

/** What stands where a user's text will, and how it is written inside of JSON, inside of JSON within a text of JSON, and so on. */
type TextMark = { text: string; ends: readonly [string, string]; written: readonly string[] };

// FCM's data is texts, some of which are JSON themselves, whose texts may be JSON of the caller's.
const maxDepth = 3;
// Short, as a marked message must not be too large for its provider; by chance such a text stands in none.
const endBytes = 5;

/**
 * A mark has whatever some writing changes: spaces at its ends, quotes, line breaks, tags, entities, percent signs, and letters
 * outside of ASCII. So where it is found as JSON writes it, any text will stand as JSON writes it, and where it was
 * changed otherwise, one of its ends is left.
 */
export function ownMarks(count: number): TextMark[] {
  return Array.from({ length: count }, () => {
    const [start, end] = [makeEnd(), makeEnd()] as const;
    const text = ` ${start}"\\/\n<b>&lt;%41 é😀${end} `;
    return {
      text,
      ends: [start, end],
      written: Array.from({ length: maxDepth }, (_, depth) => escapeText(text, depth)),
    };
  });
}

function makeEnd(): string {
  return randomBytes(endBytes).toString('hex');
}

/** A text as it stands between quotes in JSON; with `depth`, of JSON that is itself a text so many times. */
export function escapeText(text: string, depth: number): string {
  let written = text;
  for (let times = 0; times <= depth; times += 1) written = JSON.stringify(written).slice(1, -1);
  return written;
}

/** Whether something of a mark stands in what was cut at all of them. */
export function isLeft(piece: string | Buffer, marks: readonly TextMark[]): boolean {
  return marks.some(({ ends }) => ends.some((end) => piece.includes(end)));
}

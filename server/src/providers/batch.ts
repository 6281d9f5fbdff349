import { randomBytes } from 'node:crypto';
import type { Message } from '../domain/content/message.ts';
import type { ProviderCredentials } from '../domain/delivery/providers.ts';
import type { OwnTexts, ContentShape } from '../domain/template/personalise.ts';
import { RequestHeads } from './http2/requests.ts';
import type { OutgoingRequest, RequestHead } from './http2/requests.ts';
import type { DeliveryRequest, DeviceAddress, Outcome, Plan } from './provider.ts';

/** Messages of one run to devices of one platform, provider and kind of address, identified by their index in `devices`. */
export type DeliveryBatch = {
  credentials: ProviderCredentials;
  /** At least one. */
  devices: readonly BatchDevice[];
  /** Returns the whole message of a device. */
  messageOf(place: number): Message;
  /** Returns the device's own parts of a message if the rest is shared; undefined if its message must be built separately. */
  partsOf?: ((place: number) => MessageParts | undefined) | undefined;
  /** Returns a device's message with these texts in place of its own. Present if parts can have own texts. */
  messageWith?: ((place: number, texts: readonly string[]) => Message) | undefined;
  /** `promptly`: before messages that are sent through lanes, however many of those wait. */
  pace: 'promptly' | 'in turn';
  /** Called once for each message that was sent. */
  onOutcome(place: number, outcome: Outcome): void;
  /** Called instead if the message could not be built. */
  onFault(place: number, error: unknown): void;
};

export type BatchDevice = Omit<DeviceAddress, 'deviceId'> & { id: string };

/**
 * A device's own parts of a message. The rest is the same for every device of the run on the same platform. `own`: the texts of
 * its user; texts of another shape belong to a different message.
 */
export type MessageParts = Pick<Message, 'identity' | 'report'> & { own?: OwnTexts };

/** Sends a device its message. May report the outcome before it returns. */
export type SendTo = (place: number) => void;

export type OpenBatch = (batch: DeliveryBatch) => SendTo;

/** Makes batches that send each message separately, each with a promise of its outcome. */
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

/** Placeholders for a device's own texts: its address, then the texts from `textsOf`. */
type Marks = readonly string[];

/** A message with marks in place of one device's own texts, planned for the address `marks[0]`. */
export type MarkedMessage = {
  message: Message;
  marks: Marks;
  /** Marks for the texts of its user. */
  own: readonly TextMark[];
};

/** A text cut at its marks: `pieces[0]`, the text with the number `numbers[0]`, `pieces[1]`, and so on. */
type Cut<Piece> = { pieces: readonly Piece[]; numbers: readonly number[] };

// A shorter mark could occur in a message by chance.
const minMarkCharacters = 16;
const addressCharacters = 64;

/**
 * Returns the message with marks. They are as long as the texts they replace, so a message that is too large for its provider
 * without marks is too large with them. They are hexadecimal, so serializers write them unchanged.
 *
 * @param messageWith returns the message with these texts in place of its user's own
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

/** Writes a device's texts after the address. A message without a report has no report texts, like every message of its run. */
function textsOf({ identity, report }: MessageParts, texts: string[]): void {
  texts.length = 1;
  texts.push(identity.id, identity.collapseId);
  if (report === undefined) return;
  texts.push(report.token);
  if (report.clickProof !== undefined) texts.push(report.clickProof);
}

type FormOptions = { marked: MarkedMessage; shape: ContentShape | undefined; authorization: string };

/**
 * Writes the requests of messages that differ only in devices' own texts. The shared part is serialized once and cut at the
 * marks. A request is the pieces with a device's texts between them, written into a reused buffer.
 */
export class RequestForm {
  readonly #shape: ContentShape | undefined;
  readonly #head: RequestHead;
  readonly #path: Cut<string>;
  readonly #values: readonly Cut<string>[];
  readonly #body: Cut<Buffer>;
  readonly #texts: string[] = [''];
  /** The number of marks before those of user texts. */
  readonly #fixed: number;
  /** For each mark of a user text: the index of the text, and its depth of nesting in JSON. */
  readonly #ownAt: readonly { place: number; depth: number }[];
  readonly #ownValues: string[] = [];
  #bytes: Buffer;

  /** @throws if a user text appears other than as JSON escapes it; such messages have no form */
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

  /** Fills `request` with the request of one device, valid until the next write. @returns true if the message has this form */
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
    // Nearly all bodies of a run have the same length.
    const isSame = before.length === length && before.buffer === bytes.buffer && before.byteOffset === bytes.byteOffset;
    return isSame ? before : bytes.subarray(0, length);
  }

  /** All texts except user texts are ASCII. */
  #bytesOf(number: number, texts: readonly string[]): number {
    const text = texts[number]!;
    return number < this.#fixed ? text.length : Buffer.byteLength(text);
  }
}

/** Cuts a text at its marks. Each window has a form, so this avoids compiling a regular expression. */
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

/** A placeholder for a user text. `written`: as JSON escapes it, as JSON in a JSON string escapes it, and so on. */
type TextMark = { text: string; ends: readonly [string, string]; written: readonly string[] };

// FCM's data values are strings. Some of them are JSON, which may have strings that are the caller's JSON.
const maxDepth = 3;
// Short, because a marked message must not be too large for its provider, but too long to occur by chance.
const endBytes = 5;

/**
 * Returns marks that contain everything that an encoding might change: spaces at the ends, quotes, line breaks, tags, entities,
 * percent signs and non-ASCII letters. If a mark is found as JSON escapes it, any text will be escaped in the same way. If it
 * was changed in another way, one of its ends remains.
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

/** Returns a text as JSON escapes it between quotes. `depth`: how many times that JSON is nested in JSON strings. */
export function escapeText(text: string, depth: number): string {
  let written = text;
  for (let times = 0; times <= depth; times += 1) written = JSON.stringify(written).slice(1, -1);
  return written;
}

/** True if an end of any mark remains in a text that was cut at all marks. */
export function isLeft(piece: string | Buffer, marks: readonly TextMark[]): boolean {
  return marks.some(({ ends }) => ends.some((end) => piece.includes(end)));
}

import { hash } from 'node:crypto';
import { retryDeadlock } from '../domain/database-faults.ts';
import { correctEventTime } from '../domain/events/events.ts';
import { inTransaction } from '../storage/database.ts';
import { insertSourceMessages } from '../storage/source-messages.ts';
import { storeElements } from './data.ts';
import type { DataElement, DataDependencies, ElementFault } from './data.ts';

type WithoutIndex<Element> = Element extends unknown ? Omit<Element, 'index'> : never;

/** A message of a library, as the elements of a bulk request that it amounts to. */
export type SourceMessage = {
  index: number;
  /** Made by the library. Undefined: a repeat cannot be recognised. */
  messageId: string | undefined;
  elements: readonly WithoutIndex<DataElement>[];
};

export type SourceBatch = {
  workspaceId: string;
  messages: readonly SourceMessage[];
  /** The sender's clock when it sent the request. Times of events are corrected by its difference. */
  sentAt: Date | undefined;
};

/**
 * Stores the messages of a batch in one transaction, each id once, however often a library repeats it. A rejected message does not stop
 * the others.
 *
 * @returns the rejected ones
 */
export async function acceptSourceBatch(
  { database, clock, ensureToday }: Pick<DataDependencies, 'database' | 'clock' | 'ensureToday'>,
  { workspaceId, messages, sentAt }: SourceBatch,
): Promise<ElementFault[]> {
  await ensureToday();
  const first = withoutRepeats(messages);
  return retryDeadlock(() =>
    inTransaction(database, async (tx) => {
      const at = clock.now();
      const hashes = first.flatMap(({ hashed }) => (hashed === undefined ? [] : [hashed]));
      const fresh = await insertSourceMessages(tx, { workspaceId, hashes, at });
      const elements = first
        .filter(({ hashed }) => hashed === undefined || fresh.has(hashed.toString('hex')))
        .flatMap(({ message }) =>
          message.elements.map((element) => withReceivedTime({ ...element, index: message.index }, { sentAt, at })),
        );
      return storeElements(tx, { workspaceId, elements, at });
    }),
  );
}

type NamedMessage = { message: SourceMessage; hashed: Buffer | undefined };

/** The first message of a request counts, like the first of several requests. */
function withoutRepeats(messages: readonly SourceMessage[]): NamedMessage[] {
  const seen = new Set<string>();
  return messages.flatMap((message): NamedMessage[] => {
    const { messageId } = message;
    if (messageId === undefined) return [{ message, hashed: undefined }];
    if (seen.has(messageId)) return [];
    seen.add(messageId);
    return [{ message, hashed: hash('sha256', messageId, 'buffer') }];
  });
}

function withReceivedTime(element: DataElement, clocks: { sentAt: Date | undefined; at: Date }): DataElement {
  if (element.kind !== 'event') return element;
  const actions = element.command.actions.map((action) =>
    action.time === undefined
      ? action
      : { ...action, time: { ...action.time, sent: correctEventTime(action.time.sent, clocks) } },
  );
  return { ...element, command: { ...element.command, actions } };
}

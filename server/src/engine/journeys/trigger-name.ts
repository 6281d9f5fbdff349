/**
 * Returns the event name of the trigger by which a step sends. It is the same for every step of an entry, and different for every
 * entry: with the step's campaign it is the identity of the message. People read it where a message is explained.
 */
export function triggerNameOf({ entryId }: { entryId: string }): string {
  return `Journey entry ${entryId}`;
}

export type EndingKey = { name: string; endsAt: Date; lastUsedAt: Date | null };

const dayMilliseconds = 86_400_000;
/** As long before its end somebody has time to hand out the next key. */
const endingDays = 7;

/** Keys that end soon and are still used: a key that nobody uses any more may end. Pure. */
export function judgeEndingKeys({ at, endingKeys }: { at: Date; endingKeys: readonly EndingKey[] }) {
  return endingKeys
    .filter(({ endsAt, lastUsedAt }) => {
      const isSoon = endsAt.getTime() - at.getTime() <= endingDays * dayMilliseconds;
      return isSoon && lastUsedAt !== null && at.getTime() - lastUsedAt.getTime() <= dayMilliseconds;
    })
    .map(({ name, endsAt }) => ({
      subject: `key ${name}`,
      what: `The API key ${name} is still used and ends on ${endsAt.toISOString().slice(0, 10)}.`,
      todo: 'Give its callers the key that replaces it.',
    }));
}

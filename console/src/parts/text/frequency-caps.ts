/** At most `messages` per user in this many hours or days. */
export type FrequencyCap = { messages: number; length: number; unit: 'h' | 'd' };

/** Parses `2/1d,5/7d`. Invalid rules are skipped. */
export function parseCaps(text: string): FrequencyCap[] {
  return text.split(',').flatMap((rule) => {
    const [, messages, length, unit] = /^\s*(\d+)\/(\d+)([hd])\s*$/.exec(rule) ?? [];
    return messages === undefined
      ? []
      : [{ messages: Number(messages), length: Number(length), unit: unit as 'h' | 'd' }];
  });
}

export function formatCaps(caps: readonly FrequencyCap[]): string {
  return caps.length === 0
    ? 'none'
    : caps.map(({ messages, length, unit }) => `${messages}/${length}${unit}`).join(',');
}

/** "2 messages a day and 5 in 7 days". */
export function describeCaps(caps: readonly FrequencyCap[]): string {
  return caps
    .map(({ messages, length, unit }, index) => {
      const word = unit === 'd' ? 'day' : 'hour';
      const count = index > 0 ? String(messages) : `${messages} ${messages === 1 ? 'message' : 'messages'}`;
      return length === 1 ? `${count} ${unit === 'd' ? 'a' : 'an'} ${word}` : `${count} in ${length} ${word}s`;
    })
    .join(' and ');
}

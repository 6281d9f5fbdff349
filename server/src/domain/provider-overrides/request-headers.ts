/** Headers that an override may set, what each takes, and how that is told. */
type Rule = { pattern: RegExp; reason: string };

/** Kinds of message that Apple delivers under a topic of their own, which is the app's with this behind it. */
export const topicSuffixes = [
  '.push-type.liveactivity',
  '.voip',
  '.location-query',
  '.complication',
  '.pushkit.fileprovider',
  '.voip-ptt',
  '.push-type.widgets',
  '.push-type.controls',
] as const;

const word = (...words: string[]): Rule => ({
  pattern: new RegExp(`^(${words.map((text) => text.replaceAll('.', String.raw`\.`)).join('|')})$`),
  reason: `must be one of ${words.join(', ')}`,
});
const seconds: Rule = { pattern: /^\d{1,10}$/, reason: 'must be a number of seconds' };

export const overrideHeaders: Record<'apns' | 'webpush', Record<string, Rule>> = {
  apns: {
    'apns-push-type': { pattern: /^[a-z]{1,32}$/, reason: 'must be a word in lower case' },
    'apns-priority': word('1', '5', '10'),
    'apns-expiration': seconds,
    'apns-collapse-id': { pattern: /^[ -~]{1,64}$/, reason: 'must have 1 to 64 ASCII characters' },
    'apns-topic': word(...topicSuffixes),
  },
  webpush: {
    // RFC 8030 §5.2 to 5.4.
    urgency: word('very-low', 'low', 'normal', 'high'),
    ttl: seconds,
    topic: { pattern: /^[A-Za-z0-9_-]{1,32}$/, reason: 'must have 1 to 32 characters of base64url' },
  },
};

/** What is wrong with the value of a header that is among them. */
export function headerFault(provider: 'apns' | 'webpush', header: { name: string; value: string }): string | undefined {
  const rule = overrideHeaders[provider][header.name]!;
  return rule.pattern.test(header.value) ? undefined : rule.reason;
}

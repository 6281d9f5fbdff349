import { providerNames, providers } from '../delivery/providers.ts';
import type { MagicNames, ProviderName } from '../delivery/providers.ts';

export type MagicOutcome<Provider extends ProviderName = ProviderName> = MagicNames[Provider];

/** The outcomes in the order of the documentation; `answer` is the response of all providers, `ending` follows theirs. */
const outcomes: Record<MagicOutcome, { answer?: string; ending?: string }> = {
  gone: {},
  invalid: {},
  rejected: {},
  busy: { ending: ', each with Retry-After: 1' },
  limited: {},
  sporadic: {},
  malformed: {},
  throttled: {},
  outdated: {},
  silent: { answer: 'no answer: the request times out' },
};

type MagicToken = { outcome: MagicOutcome; answer: string } & Readonly<Record<ProviderName, string | undefined>>;

/**
 * Device addresses that make a simulated provider respond in a chosen way, without any set-up. FCM and HMS tokens and
 * web subscription ids begin with the word; APNs tokens are hexadecimal and begin with the digits. Undefined if a
 * provider has no such response.
 */
export const magicTokens: readonly MagicToken[] = (Object.keys(outcomes) as MagicOutcome[]).map((outcome) => {
  const { ending = '', ...described } = outcomes[outcome];
  const given = providerNames.map((name) => [name, providers[name].sandbox.magic[outcome]] as const);
  const starts = Object.fromEntries(given.map(([name, magic]) => [name, magic?.start])) as Record<ProviderName, string>;
  const answers = given.flatMap(([, magic]) => magic?.answer ?? []);
  return { outcome, ...starts, answer: described.answer ?? `${answers.join(', ')}${ending}` };
});

export function magicOutcome<Provider extends ProviderName>(
  provider: Provider,
  token: string,
): MagicOutcome<Provider> | undefined {
  const found = magicTokens.find((magic) => {
    const start = magic[provider];
    return start !== undefined && token.startsWith(start);
  });
  return found?.outcome as MagicOutcome<Provider> | undefined;
}

import { providers } from '../delivery/providers.ts';
import type { ProviderName } from '../delivery/providers.ts';

export type CheckVerdict = 'ACCEPTED' | 'REFUSED' | 'UNKNOWN';

/** A provider's verdict on a credential. `UNKNOWN`: the provider could not be reached, or its response does not say. */
export type CredentialCheck = {
  verdict: CheckVerdict;
  /** In the provider's words, or why there is no response. */
  words: string;
};

/** A stored credential, as far as it may be shown, with its last check. */
type CheckedCredential = {
  provider: ProviderName;
  simulated: boolean;
  summary: Readonly<Record<string, string>>;
  updatedAt: Date;
  checkedAt: Date | null;
  checkVerdict: CheckVerdict | null;
  checkWords: string | null;
};

/**
 * Returns what is known about a stored credential: its last check, unless it has a fault that is certain without asking the
 * provider. A contact that Apple rejects was stored before such contacts were rejected here. Pure.
 */
export function knownCheckOf(credential: CheckedCredential): (CredentialCheck & { at: Date }) | null {
  const { provider, simulated, summary, updatedAt, checkedAt, checkVerdict, checkWords } = credential;
  const words = simulated ? undefined : providers[provider].key.findStoredFault?.(summary);
  if (words !== undefined) return { verdict: 'REFUSED', words, at: checkedAt ?? updatedAt };
  return checkedAt && { verdict: checkVerdict!, words: checkWords!, at: checkedAt };
}

type Checked = CredentialCheck & { provider: ProviderName };

/** Returns what an operator can do about a check. Pure. */
export function adviseOnCheck({ provider, verdict, words }: Checked): string {
  const { advice } = providers[provider];
  if (verdict === 'ACCEPTED') return advice.onAcceptedKey ?? 'Nothing to do.';
  if (verdict === 'UNKNOWN' && words.startsWith('PROXY_'))
    return 'The provider was not asked. Look at the outgoing proxy and at CARILLON_OUTGOING_PROXY, then check again.';
  if (verdict === 'UNKNOWN')
    return 'Look whether this machine reaches the provider (firewall, proxy, DNS), then check again.';
  const known = advice.onRefusedKey.find(([pattern]) => pattern.test(words));
  return known?.[1] ?? 'Make a new key with the provider and replace this one.';
}

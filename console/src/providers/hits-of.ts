import type { ProviderCredentialState } from '../api/generated/credentials.ts';

/** What a change of the credential hits, in words with numbers. */
export function hitsOf({ devices, runs }: ProviderCredentialState['hits']): string {
  const reached = devices === 1 ? '1 device is' : `${devices.toLocaleString('en')} devices are`;
  const sends = runs === 0 ? 'no send is' : runs === 1 ? '1 send is' : `${runs.toLocaleString('en')} sends are`;
  return `${reached} reached through it; ${sends} under way.`;
}

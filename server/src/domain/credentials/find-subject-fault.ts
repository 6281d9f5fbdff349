import { isPublicName } from '../hosts/reserved-names.ts';

/**
 * What is wrong with the contact of a VAPID key (RFC 8292 §2.1); undefined if nothing is. Most push services accept
 * any text; Apple answers 403 `BadJwtToken` to every message unless the contact is one plain address, or an https URL, at
 * a host that exists on the internet (web-push issue 947). Pure.
 */
export function findSubjectFault(subject: string): string | undefined {
  const [, scheme, rest = ''] = /^(mailto:|https:\/\/)(.*)$/s.exec(subject) ?? [];
  if (scheme === undefined || rest === '' || /\s/.test(rest) || subject.length > maxSubjectCharacters)
    return 'The subject must be a mailto: or https: contact (RFC 8292 §2.1).';
  const host = scheme === 'mailto:' ? hostOfAddress(rest) : hostOfUrl(subject);
  if (host === undefined)
    return scheme === 'mailto:'
      ? 'The subject must have one plain address after mailto:, without a second mailto:, a name or angle brackets.'
      : 'The subject must be a valid https URL without a user or password.';
  if (!isPublicName(host))
    return `The subject names ${host}, which is not a host on the internet: Apple refuses every message that is signed with it (403 BadJwtToken).`;
  return undefined;
}

// It is in the token of each message, and headers have a limit.
const maxSubjectCharacters = 320;

function hostOfAddress(address: string): string | undefined {
  const [, host] = /^[^@:<>()[\],;"\\?]+@([^@<>()[\],;"\\?/]+)$/.exec(address) ?? [];
  return host === undefined ? undefined : asciiOf(host);
}

function hostOfUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { hostname, username, password } = new URL(text);
  return username === '' && password === '' ? hostname : undefined;
}

/** A name in other letters as it stands in the name service (`xn--…`); what is not a name stays as it is. */
function asciiOf(host: string): string {
  return URL.canParse(`https://${host}`) ? new URL(`https://${host}`).hostname : host;
}

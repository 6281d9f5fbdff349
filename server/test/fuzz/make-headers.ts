import type { Choices } from './choices.ts';
import { hostileTexts } from './hostile-values.ts';
import type { Caller } from './prepare-caller.ts';
import type { Operation } from './read-operations.ts';

/** A list is sent as one header line for each value. */
export type Headers = Record<string, string | string[]>;

export type AboutBody = {
  choices: Choices;
  hasBody: boolean;
  type: string | undefined;
  coding: string | undefined;
  /** What belongs to the body but stands in headers: the signature of a push. */
  companions: Record<string, string>;
};

export function makeHeaders(operation: Operation, caller: Caller, about: AboutBody): Headers {
  const { choices, hasBody, type, coding, companions } = about;
  const headers: Headers = {
    ...credentialsFor(operation, caller, choices),
    'svc-appkey': caller.workspaceId,
    'x-svc-appkey': caller.workspaceId,
    'svc-dbname': caller.dbName,
    ...companions,
  };
  if (type !== undefined && (hasBody || choices.chance(0.1))) headers['content-type'] = type;
  if (coding !== undefined) headers['content-encoding'] = coding;
  if (choices.isSpoiled('headers')) spoil(headers, choices);
  return headers;
}

const otherHeaders = [
  ...['accept', 'accept-encoding', 'accept-version', 'origin', 'cookie', 'user-agent', 'x-forwarded-for', 'forwarded'],
  ...['range', 'if-none-match', 'if-modified-since', 'x-http-method-override', 'x-request-id', 'referer', 'te'],
  ...['sec-fetch-site', 'access-control-request-method', 'x-svc-query-type', 'host', '__proto__', 'constructor'],
];

function spoil(headers: Headers, choices: Choices): void {
  const times = choices.pick([1, 1, 2, 3]);
  for (let time = 0; time < times; time += 1) {
    const known = Object.keys(headers).filter((name) => name !== 'authorization');
    const name = choices.pick([...known, ...known, ...otherHeaders, 'idempotency-key', 'idempotency-key']);
    const kind = choices.pick(['replace', 'replace', 'replace', 'repeat', 'drop']);
    const value = choices.chance(0.1) ? choices.pick(['a', 'b']) : headerText(choices);
    if (kind === 'drop') delete headers[name];
    // A host that is no host ends at the first look.
    else if (name === 'host')
      headers.host = choices.pick(['localhost', 'oauth2-99.example.com', 'a b', '[::1]:80', value]);
    else
      Object.defineProperty(headers, name, {
        value: kind === 'repeat' ? [value, headerText(choices)] : value,
        ...plain,
      });
  }
}

/** As an assignment makes a member, but of any name: `__proto__` would set the prototype. */
export const plain = { configurable: true, enumerable: true, writable: true };

/** What a header may hold at all (RFC 9110 §5.5), one byte a character. */
function headerText(choices: Choices): string {
  return choices
    .pick(hostileTexts)
    .replace(/[^\t\x20-\x7e\x80-\xff]/g, '')
    .slice(0, 4_000);
}

function credentialsFor({ schemes }: Operation, caller: Caller, choices: Choices): Headers {
  const { workspaceId, keys, accessToken, refreshToken } = caller;
  const basic = (name: string, secret: string) => ({
    authorization: `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`,
  });
  if (!choices.isSpoiled('credentials')) {
    if (schemes.length === 0) return {};
    if (schemes.includes('bearer') && choices.chance(0.4)) return { authorization: `Bearer ${accessToken}` };
    return basic(workspaceId, schemes.includes('campaignsKey') ? keys.campaigns : keys.data);
  }
  const text = headerText(choices);
  return choices.pick<Headers>([
    {},
    basic(workspaceId, keys.oauth),
    basic(workspaceId, keys.push),
    basic(workspaceId, schemes.includes('campaignsKey') ? keys.data : keys.campaigns),
    basic(choices.pick(hostileTexts), keys.data),
    basic(workspaceId, choices.pick(hostileTexts)),
    { authorization: `Bearer ${refreshToken}` },
    { authorization: `bearer ${accessToken.slice(0, -1)}` },
    { authorization: `Bearer ${text}` },
    { authorization: `Basic ${text}` },
    { authorization: text },
    { authorization: [`Bearer ${accessToken}`, `Bearer ${accessToken}`] },
  ]);
}

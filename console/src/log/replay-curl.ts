import type { CallDetail } from '../api/generated/calls.ts';
import { shellQuote } from '../parts/shell-quote.ts';

type Replayed = Pick<CallDetail, 'method' | 'path' | 'route' | 'requestHeaders' | 'requestBody'>;

/** What a call that is sent again must not take along: it would be answered as a repeat, or is of the first one alone. */
const ofTheFirst = ['user-agent', 'idempotency-key', 'webhook-id', 'webhook-timestamp'];

/**
 * The same call to be pasted into a terminal. What proves the caller is not kept: the command asks for a key and makes of
 * it what was sent, the signature of a push too.
 */
export function replayCurl(call: Replayed, { origin, workspaceId }: { origin: string; workspaceId: string }): string {
  const { method, path, route, requestHeaders, requestBody } = call;
  const headers = Object.entries(requestHeaders ?? {}).filter(([name]) => !ofTheFirst.includes(name));
  const isPush = route.endsWith('/sendpush');
  const before: string[] = [];
  const words = [`curl -i -X ${method} ${shellQuote(origin + path)}`];
  for (const [name, value] of headers) {
    if (name === 'authorization') {
      const [kind, word] = authorizationOf(value, workspaceId);
      before.push(kind);
      words.push(`  ${word}`);
    } else if (/pushapi-signature$/.test(name)) {
      words.push(`  -H "${name}: $SIGNATURE"`);
    } else if (!/pushapi-signature-v2$/.test(name)) words.push(`  -H ${shellQuote(`${name}: ${value}`)}`);
  }
  const campaignName = isPush ? memberOf(requestBody, 'campaignName') : undefined;
  if (campaignName !== undefined) {
    before.push(`PUSH_KEY='the push key of the workspace'`);
    const signed = `${workspaceId}|${campaignName}|`;
    before.push(`SIGNATURE=$(printf '%s' ${shellQuote(signed)}"$PUSH_KEY" | sha256sum | cut -d ' ' -f 1)`);
  }
  if (requestBody !== null) words.push(`  --data-raw ${bodyWord(requestBody)}`);
  return [...before, words.join(' \\\n')].join('\n');
}

function authorizationOf(value: string, workspaceId: string): [assignment: string, word: string] {
  if (/^basic /i.test(value)) return [`KEY='a key of the workspace'`, `-u "${workspaceId}:$KEY"`];
  if (/^bearer /i.test(value)) return [`TOKEN='an access token'`, `-H "Authorization: Bearer $TOKEN"`];
  return [`AUTHORIZATION='as it was'`, `-H "Authorization: $AUTHORIZATION"`];
}

/** Of v2 the signature stands in the body, where the log has none. */
function bodyWord(body: string): string {
  const word = shellQuote(body);
  return word.replace('"signature":"[redacted]"', `"signature":"'"$SIGNATURE"'"`);
}

function memberOf(body: string | null, name: string): string | undefined {
  try {
    const value = (JSON.parse(body ?? '') as Record<string, unknown>)[name];
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

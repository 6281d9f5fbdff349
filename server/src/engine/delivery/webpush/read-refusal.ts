import type { Answer } from '../provider.ts';
import { readWord } from '../classify-fault.ts';

/** Headers in which Windows explains an answer (Push notification service request and response headers, Microsoft). */
const reasonHeaders: readonly (readonly [header: string, name: string])[] = [
  ['x-wns-status', 'status'],
  ['x-wns-notificationstatus', 'notification'],
  ['x-wns-deviceconnectionstatus', 'device'],
  ['x-wns-msg-id', 'message'],
  ['x-wns-debug-trace', 'trace'],
  ['ms-cv', 'MS-CV'],
];

/**
 * Why a push service refused a message, in its own words and for the ledger: its body, or what Windows says in headers
 * while its body is empty, followed by what Microsoft's support asks for.
 */
export function readRefusal({ status, headers, body }: Extract<Answer, { kind: 'answer' }>): string {
  const words = readWord(body) ?? readWord(headers['x-wns-error-description']) ?? `HTTP ${status}`;
  const more = reasonHeaders.flatMap(([header, name]) => {
    const value = readWord(headers[header]);
    return value === undefined ? [] : [`${name} ${value}`];
  });
  return more.length === 0 ? words : readWord(`${words} (${more.join(', ')})`)!;
}

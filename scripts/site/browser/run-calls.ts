import type { FilledCall, Values } from './make-curl.ts';

type ShownMessage = { platform: string; title: string; body: string };
export type Reply = {
  /** Undefined if there was no response. */
  status: number | undefined;
  milliseconds: number;
  text: string;
  /** The message that a simulated phone of the sandbox showed. */
  shown?: ShownMessage;
};
type InboxMessage = { id: string; platform: string; title?: string; body?: string };
const maxWaitMilliseconds = 5_000;

/** True if a node with sandbox routes serves these pages. Nodes in production have none. */
export async function isSandbox(): Promise<boolean> {
  const answer = await fetch('/sandbox/clock').catch(() => undefined);
  return answer?.ok === true && answer.headers.get('content-type')?.includes('json') === true;
}

/** Returns a push signed for its campaign name (docs/concepts.md, signing a push). The page computes the signature. */
export async function sign(call: FilledCall, { workspaceId, pushKey }: Values): Promise<FilledCall> {
  const header = Object.keys(call.headers).find((name) => /PushAPI-Signature$/i.test(name));
  const body = parse(call.body);
  const name = (body?.campaignName ?? '') as string;
  // Browsers provide this only on https and on the local machine.
  if (pushKey === '' || workspaceId === '' || name === '' || !globalThis.crypto?.subtle) return call;
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`${workspaceId}|${name}|${pushKey}`));
  const signature = [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  if (header !== undefined) return { ...call, headers: { ...call.headers, [header]: signature } };
  if (typeof body?.signature !== 'string') return call;
  return { ...call, body: call.body!.replace(JSON.stringify(body.signature), JSON.stringify(signature)) };
}

/** Sends the call to this node. */
export async function run({ method, url, headers, user, body }: FilledCall): Promise<Reply> {
  const { type } = (parse(body)?.campaignDelivery ?? {}) as { type?: string };
  const isPush = url.includes('/transaction/sendpush') && type === 'soon';
  const before = isPush ? await newestMessage() : undefined;
  const startedAt = performance.now();
  const took = (): number => Math.round(performance.now() - startedAt);
  // Each run is a separate request.
  const sent = { ...headers, ...('Idempotency-Key' in headers ? { 'Idempotency-Key': crypto.randomUUID() } : {}) };
  try {
    const answer = await fetch(url, {
      method,
      headers: { ...sent, ...(user === undefined ? {} : { authorization: `Basic ${btoa(user)}` }) },
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      credentials: 'omit',
    });
    const text = await answer.text();
    const reply: Reply = { status: answer.status, milliseconds: took(), text: beautify(text) };
    const isSent = isPush && parse(text)?.status === 'Success';
    const shown = isSent ? await waitForMessage(before) : undefined;
    return shown === undefined ? reply : { ...reply, shown };
  } catch (error) {
    return { status: undefined, milliseconds: took(), text: String(error) };
  }
}

async function newestMessage(): Promise<string | undefined> {
  const { messages } = (await (await fetch('/sandbox/inbox?limit=1')).json()) as { messages: InboxMessage[] };
  return messages[0]?.id;
}

async function waitForMessage(after: string | undefined): Promise<ShownMessage | undefined> {
  const query = new URLSearchParams({ wait: String(maxWaitMilliseconds), ...(after ? { after } : {}) });
  const { messages } = (await (await fetch(`/sandbox/inbox?${query}`)).json()) as { messages: InboxMessage[] };
  const message = messages[0];
  if (message === undefined) return undefined;
  const { platform, title = '', body = '' } = message;
  return { platform, title, body };
}

function beautify(text: string): string {
  const value = parse(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}

function parse(text: string | undefined): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text ?? '') as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

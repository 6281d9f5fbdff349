import type { ProviderName } from '../delivery/providers.ts';

/** The rules by which a simulated provider rejected a request. */
export const refusalRules = [
  /** A switch of `POST /sandbox/faults`. */
  'fault',
  /** A device address whose name selects a failure. */
  'magic address',
  /** The sender's credentials: a token, its signature, its account. */
  'credentials',
  /** The requested path and method. */
  'route',
  'headers',
  'payload',
  'device address',
] as const;
export type RefusalRule = (typeof refusalRules)[number];

export type SandboxRefusal = {
  /** Counted from 1 since the start of the node. */
  number: number;
  at: string;
  provider: ProviderName;
  path: string;
  /** The address of the device, if the request names one. */
  device: string | null;
  /** Null: no response, or a stream that was reset. */
  status: number | null;
  /** The reason as the provider words it. */
  reason: string;
  rule: RefusalRule;
  headers: Record<string, string>;
};

/** Returns the headers as they were sent; of `authorization`, only the scheme. */
export function shownHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      if (name.startsWith(':') || value === undefined) return [];
      const text = Array.isArray(value) ? value.join(', ') : value;
      return [[name, name === 'authorization' ? `${text.split(' ', 1)[0]} …` : text]];
    }),
  );
}

type Answer = { status: number; body?: unknown };

/** Returns the reason in the body of a response, in the form of each provider. */
export function reasonOf({ status, body }: Answer): string {
  if (typeof body === 'string' && body !== '') return body;
  const { reason, code, msg, error, error_description: description } = (body ?? {}) as Record<string, unknown>;
  if (typeof code === 'string' && typeof msg === 'string') return `${code}: ${msg}`;
  if (typeof reason === 'string') return reason;
  if (typeof error === 'string' || typeof error === 'number')
    return description === undefined ? String(error) : `${error}: ${String(description)}`;
  if (error !== null && typeof error === 'object') return reasonOfGoogle(error as GoogleError);
  return plainReasons[status] ?? `status ${status}`;
}

/** A push service reports these by the status alone (RFC 8030). */
const plainReasons: Record<number, string> = {
  404: 'no such subscription',
  410: 'the subscription is gone',
  413: 'the message is too large',
  429: 'too many requests',
};

type GoogleError = { status?: unknown; message?: unknown; details?: { fieldViolations?: { field: string }[] }[] };

function reasonOfGoogle({ status, message, details = [] }: GoogleError): string {
  const fields = details.flatMap(({ fieldViolations = [] }) => fieldViolations.map(({ field }) => field));
  return [status, ...fields, message].filter((part) => part !== undefined).join(': ');
}

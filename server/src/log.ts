import pino from 'pino';
import type { Logger } from 'pino';

export type { Logger };

/**
 * Paths of values that never appear in the log: credentials, tokens, message bodies, device addresses. The test "no credential
 * reaches the log" checks this list.
 */
export const redactedPaths = [
  'authorization',
  'client_secret',
  'refresh_token',
  'access_token',
  'signature',
  'password',
  'push_id',
  'p256dh',
  'auth',
  'databaseUrl',
].flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `*["${name.toUpperCase()}"]`]);

export type LogOptions = { level: string; pretty: boolean };

/** Logs one JSON object per line, or human-readable lines if a terminal is attached. */
export function makeLog(options: LogOptions, destination?: pino.DestinationStream): Logger {
  const settings: pino.LoggerOptions = {
    level: options.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: redactedPaths, censor: '[redacted]' },
    serializers: { err: pino.stdSerializers.err },
  };
  if (destination) return pino(settings, destination);
  if (options.pretty) {
    return pino({
      ...settings,
      transport: { target: 'pino-pretty', options: { destination: 2, ignore: 'pid,hostname' } },
    });
  }
  // Standard output is reserved for the start block; the log goes to standard error.
  return pino(settings, pino.destination({ dest: 2, sync: false }));
}

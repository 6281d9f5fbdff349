import type { SandboxMessage } from '../../app/sandbox/control-sandbox.ts';

/** A message of the inbox, as a list and a stream show it. */
export function presentMessage(message: SandboxMessage) {
  return { ...message, receivedAt: message.receivedAt.toISOString() };
}

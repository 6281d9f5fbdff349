import type { RefusalRule } from '../../../domain/sandbox/refusal.ts';
import type { Screen } from '../../../domain/sandbox/screen.ts';

/** What a provider knows of one customer: no secret. */
export type SimulatorAccount = {
  workspaceId: string;
  fcm?: { projectId: string; clientEmail: string; publicKeyPem: string };
  apns?: { teamId: string; keyId: string; topics: string[]; publicKeyPem: string };
  webpush?: { publicKey: string };
  /** The digest of its secret, hexadecimal (SHA-256). */
  hms?: { clientId: string; secretDigest: string; owner: { kind: 'project' | 'app'; id: string } };
};

/** A message as the device received it. */
export type DeliveredMessage = {
  workspaceId: string;
  platform: 'ANDROID' | 'IOS' | 'WEB';
  deviceToken: string;
  title: string;
  body: string;
  collapseId: string;
  campaignId?: string;
  messageId: string;
  receivedAt: Date;
  /** How the provider was asked to carry it: what it takes beside the message. */
  transport: Record<string, string>;
  /** All that it was sent beside the message; of what authorizes only the scheme. */
  headers: Record<string, string>;
  payload: Record<string, unknown>;
  screen: Screen;
};

/** An answer of a simulated provider; `silence` never answers. */
export type SimulatedAnswer =
  | {
      status: number;
      headers?: Record<string, string>;
      body?: unknown;
      delivered?: DeliveredMessage;
      /** Of a refusal: what it is refused by. */
      rule?: RefusalRule;
    }
  | 'silence';

/** A refusal, if it is one, with what it is refused by. */
export function refusedBy<Answer extends SimulatedAnswer | undefined>(rule: RefusalRule, answer: Answer): Answer {
  return typeof answer === 'object' ? { ...answer, rule } : answer;
}

export type SimulatedRequest = {
  method: string;
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
  /** The provider's time, which is everybody's: tokens are judged by it. */
  now: Date;
  /** The time that phones show: the service's own, which the sandbox moves. */
  shownAt: Date;
};

/** What a request says of how it is to be carried, under the provider's own names; what is not said is left out. */
export function transportOf(said: Record<string, unknown>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = said[name.toLowerCase()];
      return value === undefined ? [] : [[name, String(value)]];
    }),
  );
}

/** One provider's behaviour: request in, answer out. */
export type Simulate = (request: SimulatedRequest) => SimulatedAnswer | Promise<SimulatedAnswer>;

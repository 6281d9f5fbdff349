import { randomBytes } from 'node:crypto';
import { makeSimulatedCredentials } from '../../../src/app/sandbox/simulated-credentials.ts';
import { makeManualClock } from '../../../src/clock.ts';
import type { Message } from '../../../src/domain/content/message.ts';
import type { Platform } from '../../../src/domain/content/content.ts';
import type { ProviderName } from '../../../src/domain/delivery/providers.ts';
import { makeDelivery } from '../../../src/providers/deliver.ts';
import type { Delivery } from '../../../src/providers/deliver.ts';
import { mapProviders, realProviderEndpoints } from '../../../src/providers/registry.ts';
import type { SimulatorAccount } from '../../../src/providers/registry.ts';
import type { Http2Client } from '../../../src/providers/http2/transport.ts';
import type { Outcome } from '../../../src/providers/provider.ts';
import { makeSimulatedSubscription } from '../../../src/providers/webpush/simulated-browser.ts';
import { startSimulators } from '../../../src/providers/simulator/start-simulators.ts';
import type { DeliveredMessage } from '../../../src/providers/simulator/start-simulators.ts';
import { makeLog } from '../../../src/log.ts';
import { makeMessage, workspaceId } from './make-message.ts';

/** What calls the providers must not change what comes of it. */
export const http2Clients: Http2Client[] = ['carillon', 'node'];

/** Real providers before real HTTP/2 simulators, in this process. */
export async function startDeliveryBundle(http2Client: Http2Client = 'carillon') {
  const clock = makeManualClock(new Date('2026-11-21T12:00:00Z'));
  const log = makeLog({ level: 'silent', pretty: false });
  const credentials = await makeSimulatedCredentials('abcdef123456');
  const account = mapProviders(({ simulatedAccount }, name) => simulatedAccount(credentials[name], []));
  const secret = randomBytes(32);
  const delivered: DeliveredMessage[] = [];
  const simulators = await startSimulators({
    clock,
    log,
    secret,
    accounts: [{ workspaceId, ...account } as SimulatorAccount],
    async onDelivered(messages) {
      delivered.push(...messages);
    },
  });
  const makeSender = (allowedNetworks: string[] = []) =>
    makeDelivery({
      clock,
      log,
      allowedNetworks,
      http2Client,
      endpoints: { ...realProviderEndpoints, simulators: simulators.endpoints },
    });
  const delivery = makeSender();
  const addresses: Record<Platform, string> = {
    ANDROID: `token-${'a'.repeat(140)}`,
    IOS: 'ab'.repeat(32),
    WEB: makeSimulatedSubscription({ secret, id: 'browser' }),
  };

  return {
    clock,
    simulators,
    delivered,
    delivery,
    credentials,
    addresses,
    subscription: (id: string) => makeSimulatedSubscription({ secret, id }),
    /**
     * Sends one message; `pushId` is the platform's usual device unless given. By Node's HTTP/2 it goes by itself, by ours in
     * a batch, as one of a campaign does: both must say the same.
     */
    send(
      platform: Platform,
      options: {
        number?: number;
        provider?: ProviderName | null;
        pushId?: string;
        credentials?: typeof credentials | object;
        message?: object;
      } = {},
    ): Promise<Outcome> {
      const deviceId = String(options.number ?? 0);
      const message = { ...makeMessage(platform, deviceId), ...options.message } as Message;
      const pushId = options.pushId ?? addresses[platform];
      const { credentials: given = credentials, provider = null } = options;
      if (http2Client === 'node')
        return delivery.deliver({ message, device: { deviceId, platform, provider, pushId }, credentials: given });
      return sendTogether(delivery, { messages: [message], pushIds: [pushId], credentials: given, provider }).then(
        ([outcome]) => outcome!,
      );
    },
    async stop() {
      await delivery.close();
      await simulators.stop();
    },
  };
}

export type TestBatch = {
  messages: Message[];
  pushIds: string[];
  /** The usual one of the platform unless given. */
  provider?: ProviderName | null;
  credentials: object;
  /** The messages differ in what is their devices' own; otherwise each is made whole. */
  form?: 'shared' | 'none';
  /** A message that cannot be made. */
  broken?: number;
};

/** Sends messages together, as a window of a campaign, and waits for all outcomes. Rejects when one is told twice. */
export function sendTogether(
  { openBatch }: Pick<Delivery, 'openBatch'>,
  { messages, pushIds, provider = null, credentials, form = 'shared', broken }: TestBatch,
): Promise<Outcome[]> {
  return new Promise((resolve, reject) => {
    const outcomes: Outcome[] = [];
    let told = 0;
    const tell = (place: number, outcome: Outcome): void => {
      if (outcomes[place] !== undefined) reject(new Error(`two outcomes of message ${place}`));
      outcomes[place] = outcome;
      told += 1;
      if (told === messages.length) resolve(outcomes);
    };
    const messageOf = (place: number): Message => {
      if (place === broken) throw new Error('a message that cannot be made');
      return messages[place]!;
    };
    const send = openBatch({
      credentials,
      devices: messages.map(({ platform }, place) => ({
        id: String(place),
        platform,
        provider,
        pushId: pushIds[place]!,
      })),
      messageOf,
      partsOf: form === 'shared' ? messageOf : undefined,
      pace: 'in turn',
      onOutcome: tell,
      onFault: (place, error) => tell(place, { kind: 'rejected', code: 'FAULT', detail: (error as Error).message }),
    });
    for (const place of messages.keys()) send(place);
  });
}

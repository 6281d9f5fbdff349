import { randomBytes, randomUUID, createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { defaultAppId } from '../../domain/apps.ts';
import type { Platform } from '../../domain/content/content.ts';
import { retryDeadlock } from '../../domain/database-faults.ts';
import { hasSubscription, providerOf, providers } from '../../domain/delivery/providers.ts';
import type { ProviderName } from '../../domain/delivery/providers.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { InteractionKind } from '../../domain/events/interactions.ts';
import { magicOutcome, magicTokens } from '../../domain/sandbox/magic-tokens.ts';
import type { MagicOutcome } from '../../domain/sandbox/magic-tokens.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { findSandboxMessage, listMessagesOfDevices, listTestDevices } from '../../storage/installation/sandbox.ts';
import type { TestDevice } from '../../storage/installation/sandbox.ts';
import { listProviderCredentials } from '../../storage/keys/provider-credentials.ts';
import { setUserIsTest } from '../../storage/users/users.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor, Audited } from '../accounts/audit.ts';
import type { InteractionReports } from '../interactions.ts';
import { registerDevice } from '../users/devices.ts';
import { lockUserOrRetained, upsertUser } from '../users/users.ts';
import { requireWorkspace } from '../workspaces.ts';

/** `works`, or the provider's response for its address. */
export const deviceBehaviours = ['works', ...magicTokens.map(({ outcome }) => outcome)] as const;
export type DeviceBehaviour = 'works' | MagicOutcome;

export type VirtualDevicesDependencies = {
  database: Database;
  clock: Clock;
  makeSubscription: (id: string) => string;
  interactions: Pick<InteractionReports, 'report'>;
};

type Registration = {
  workspaceId: string;
  customerId: string;
  deviceId: string;
  platform: Platform;
  provider: ProviderName | null;
  behaviour: DeviceBehaviour;
};

type By = { actor: Actor };
type DeviceChange = { workspaceId: string; id: string; behaviour: DeviceBehaviour };

const maxListed = 50;
const messagesShown = 3;

/**
 * Makes the virtual devices of the sandbox, which users operate from the console. They belong to users marked for tests. A
 * device's behaviour is encoded in its address, so registering a new address changes the behaviour.
 */
export function makeVirtualDevices({ database, clock, makeSubscription, interactions }: VirtualDevicesDependencies) {
  type Entry = Pick<Audited, 'actor' | 'action' | 'detail'>;
  const register = (registration: Registration, entry: Entry): Promise<void> =>
    retryDeadlock(
      async () =>
        await inTransaction(database, async (tx) => {
          const at = clock.now();
          const { behaviour: _behaviour, ...device } = registration;
          const { workspaceId, customerId } = device;
          await requireWorkspace(tx, workspaceId);
          await upsertUser(tx, { workspaceId, customerId, attributes: {}, at });
          const user = (await lockUserOrRetained(tx, { workspaceId, customerId }))!;
          await setUserIsTest(tx, { workspaceId, bucket: user.bucket, userId: user.userId, isTest: true, at });
          await registerDevice(tx, { ...device, pushId: makeAddress(registration, makeSubscription), at });
          await audit(tx, { ...entry, at: clock.realNow() });
        }),
    );

  const list = async (workspaceId: string) => {
    const devices = (await listTestDevices(database, { workspaceId, limit: maxListed })).map(describeDevice);
    const tokens = devices.map(({ token }) => token);
    const messages = await listMessagesOfDevices(database, { workspaceId, tokens, each: messagesShown });
    return devices.map((device) => ({
      ...device,
      messages: messages.filter(({ deviceToken }) => deviceToken === device.token),
    }));
  };

  return {
    list,

    /** Adds a device and marks its user for tests. Creates the user if it is unknown. @throws ServiceError NOT_FOUND, PARAMETER_INVALID */
    add({ actor, ...device }: By & Omit<Registration, 'deviceId' | 'provider'>): Promise<void> {
      const { platform, behaviour } = device;
      return register(
        { ...device, provider: null, deviceId: `virtual-${randomBytes(4).toString('hex')}` },
        { actor, action: 'sandbox.device-add', detail: { platform, behaviour } },
      );
    },

    /** @throws ServiceError NOT_FOUND, PARAMETER_INVALID */
    async change({ actor, workspaceId, id, behaviour }: By & DeviceChange): Promise<void> {
      const device = (await list(workspaceId)).find((listed) => listed.id === id);
      if (!device) throw new ServiceError('NOT_FOUND', { detail: 'no virtual device of that id' });
      const { customerId, deviceId, platform, provider } = device;
      await register(
        { workspaceId, customerId, deviceId, platform, provider, behaviour },
        { actor, action: 'sandbox.device-change', detail: { behaviour } },
      );
    },

    /**
     * Reports an interaction with a message, as the app of the device would.
     *
     * @throws ServiceError NOT_FOUND for a message that requests no reports, or that was shown without its app
     */
    async report({ workspaceId, id, kind }: { workspaceId: string; id: string; kind: InteractionKind }): Promise<void> {
      const message = await findSandboxMessage(database, { workspaceId, id });
      // A message of an older version does not describe its screen.
      const canReport = message?.screen.reports?.includes(kind) ?? true;
      const token = message && canReport ? findReportToken(message.payload) : undefined;
      if (token === undefined) throw new ServiceError('NOT_FOUND', { detail: 'no message that accepts this report' });
      await interactions.report({ token, kind, reportId: randomUUID(), address: '127.0.0.1' });
    },
  };
}

export type VirtualDevices = ReturnType<typeof makeVirtualDevices>;

/** Returns an unused address with the prefix that makes it misbehave. @throws ServiceError PARAMETER_INVALID */
function makeAddress(
  { behaviour, ...device }: Registration,
  makeSubscription: VirtualDevicesDependencies['makeSubscription'],
): string {
  const provider = providerOf(device);
  const magic = magicTokens.find(({ outcome }) => outcome === behaviour);
  if (magic && magic[provider] === undefined)
    throw new ServiceError('PARAMETER_INVALID', {
      field: 'behaviour',
      reason: `must not be ${behaviour} for a device that ${provider} reaches`,
    });
  const { address } = providers[provider];
  const start = magic?.[provider];
  // Providers with a pattern for tokens accept hexadecimal ones.
  if (address !== 'subscription' && address.pattern)
    return `${start ?? ''}${randomBytes(32).toString('hex')}`.slice(0, 64);
  const token = `${start ?? 'virtual'}-${randomBytes(16).toString('hex')}`;
  return address === 'subscription' ? makeSubscription(token) : token;
}

function describeDevice({ pushId, ...device }: TestDevice) {
  // A message identifies a browser by the end of its subscription's address.
  const token = hasSubscription(device)
    ? decodeURIComponent(String(endpointOf(pushId)).split('/').at(-1) ?? '')
    : pushId;
  const behaviour: DeviceBehaviour = magicOutcome(providerOf(device), token) ?? 'works';
  return { ...device, token, behaviour };
}

function endpointOf(subscription: string): unknown {
  return (JSON.parse(subscription) as { endpoint?: unknown }).endpoint;
}

/** Searches the whole payload, because the token is in a different member for each provider. */
function findReportToken(payload: unknown): string | undefined {
  if (payload === null || typeof payload !== 'object') return undefined;
  for (const [name, value] of Object.entries(payload)) {
    if (name.endsWith('report_token') && typeof value === 'string') return value;
    const inner = findReportToken(value);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

export type BrowserDependencies = {
  database: Database;
  clock: Clock;
  /** The demo workspace, to which the browser is added. */
  demoWorkspaceId: () => string | undefined;
};

export type RegisterBrowserCommand = {
  customerId: string;
  /** JSON text of the browser's PushSubscription. */
  subscription: string;
};

/** Returns the settings with which a page subscribes. @throws ServiceError NOT_FOUND without a Web Push credential */
export async function readBrowserSettings(
  deps: BrowserDependencies,
): Promise<{ workspaceId: string; publicKey: string }> {
  const workspaceId = requireDemo(deps);
  const credentials = await listProviderCredentials(deps.database, workspaceId);
  const publicKey = credentials.find(({ provider, appId }) => provider === 'webpush' && appId === defaultAppId)?.summary
    .publicKey;
  if (publicKey === undefined) throw new ServiceError('NOT_FOUND', { detail: 'no Web Push credential' });
  return { workspaceId, publicKey };
}

/**
 * Registers the current browser as a device of the demo workspace, in addition to its simulated ones. An unknown user is
 * created.
 *
 * @throws ServiceError NOT_FOUND without a demo workspace
 */
export async function registerBrowser(
  deps: BrowserDependencies,
  { customerId, subscription }: RegisterBrowserCommand,
): Promise<{ deviceId: string }> {
  const { database, clock } = deps;
  const customer = { workspaceId: requireDemo(deps), customerId, at: clock.now() };
  const digest = createHash('sha256').update(subscription).digest('hex');
  const device = { deviceId: `browser-${digest.slice(0, 16)}`, platform: 'WEB', pushId: subscription } as const;
  await retryDeadlock(() =>
    inTransaction(database, async (tx) => {
      await upsertUser(tx, { ...customer, attributes: {} });
      await registerDevice(tx, { ...customer, ...device });
    }),
  );
  return { deviceId: device.deviceId };
}

function requireDemo({ demoWorkspaceId }: BrowserDependencies): string {
  const workspaceId = demoWorkspaceId();
  if (workspaceId === undefined) throw new ServiceError('NOT_FOUND', { detail: 'no demo workspace' });
  return workspaceId;
}

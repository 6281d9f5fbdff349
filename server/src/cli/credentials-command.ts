import { readFile } from 'node:fs/promises';
import { makeManageCredentials } from '../app/credentials/manage-credentials.ts';
import type { ManageCredentials } from '../app/credentials/manage-credentials.ts';
import type { CommandContext } from '../cli.ts';
import type { GivenKey } from '../domain/credentials/parse-provider-key.ts';
import { makeAskProvider } from '../engine/credentials/ask-provider.ts';
import { makeShareProviderToken } from '../engine/credentials/share-provider-token.ts';
import { realProviderEndpoints } from '../engine/delivery/deliver.ts';
import { simulatedPushOrigin } from '../engine/delivery/simulator/make-simulated-subscription.ts';
import { StartError } from '../start-errors.ts';
import { listNodes } from '../storage/installation/nodes.ts';
import type { ProviderName } from '../storage/keys/provider-credentials.ts';
import { findWorkspaceToUse } from './find-workspace-to-use.ts';

type Workspace = { workspace?: string };
/** Store it although the provider could not be asked. */
type Unchecked = { unchecked?: boolean };

export type SetFcmOptions = Workspace & Unchecked & { file: string };
export type SetApnsOptions = Workspace &
  Unchecked & { file: string; team: string; key: string; topic: string; environment: 'production' | 'sandbox' };
export type SetWebPushOptions = Workspace & { subject: string; publicKey?: string; privateKeyFile?: string };

const by = { id: null, name: 'the command line' };

/**
 * `carillon credentials …`: a workspace's own credentials of the three providers. A new one is tried with the provider
 * before it replaces the old one; workers use it within seconds.
 */
export const credentialsCommand = {
  async setFcm(context: CommandContext, options: SetFcmOptions): Promise<void> {
    await save(context, { ...options, given: { provider: 'fcm', keyFile: await readFile(options.file, 'utf8') } });
  },

  async setApns(context: CommandContext, options: SetApnsOptions): Promise<void> {
    const { team: teamId, key: keyId, topic, environment } = options;
    const privateKey = await readFile(options.file, 'utf8');
    await save(context, { ...options, given: { provider: 'apns', privateKey, teamId, keyId, topic, environment } });
  },

  async setWebPush(context: CommandContext, options: SetWebPushOptions): Promise<void> {
    const { subject, publicKey, privateKeyFile } = options;
    if ((publicKey === undefined) !== (privateKeyFile === undefined))
      throw new StartError('SETTING_INVALID', 'Give --public-key and --private-key-file, or neither to make a pair.');
    const keys =
      publicKey === undefined ? undefined : { publicKey, privateKey: (await readFile(privateKeyFile!, 'utf8')).trim() };
    const { summary } = await save(context, { ...options, given: { provider: 'webpush', subject, keys } });
    process.stdout.write(`Public key for subscribing browsers: ${summary.publicKey}\n`);
  },

  async list(context: CommandContext, options: Workspace): Promise<void> {
    const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
    for (const { provider, connected } of await (await manage(context)).list(workspaceId)) {
      if (!connected) continue;
      const { isSimulated, summary, updatedAt, check } = connected;
      const shown = Object.entries(summary).map(([name, value]) => `${name} ${value}`);
      const checked = check ? `${check.verdict.toLowerCase()} ${check.at.toISOString()}` : 'never checked';
      process.stdout.write(
        `${provider.padEnd(8)} ${isSimulated ? 'simulated' : 'real     '} ${updatedAt.toISOString()}  ${shown.join(', ')}  (${checked})\n`,
      );
    }
  },

  /** Asks about each that is connected; ends with code 2 when one is refused, so that a script notices. */
  async check(context: CommandContext, options: Workspace): Promise<void> {
    const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
    const credentials = await manage(context);
    const refused: string[] = [];
    for (const { provider, connected } of await credentials.list(workspaceId)) {
      if (!connected) continue;
      const { check } = await credentials.check({ by, workspaceId, provider });
      process.stdout.write(`${provider.padEnd(8)} ${describe(check!)}\n`);
      if (check!.verdict === 'REFUSED') refused.push(provider);
    }
    if (refused.length > 0) throw new StartError('SETTING_INVALID', `Refused: ${refused.join(', ')}.`);
  },

  async remove(
    context: CommandContext,
    options: Workspace & { provider: ProviderName; whileSending?: boolean },
  ): Promise<void> {
    const { provider } = options;
    const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
    const whileSending = options.whileSending === true ? 'pause' : 'refuse';
    await (await manage(context)).remove({ by, workspaceId, provider, whileSending });
    process.stdout.write(`${provider} removed; runs that need it will pause.\n`);
  },
};

type Saving = Workspace & Unchecked & { given: GivenKey };

async function save(context: CommandContext, { given, workspace, unchecked }: Saving) {
  const workspaceId = await findWorkspaceToUse(context.database, workspace);
  const credentials = await manage(context);
  const connected = await credentials.connect({
    by,
    workspaceId,
    given,
    unasked: unchecked === true ? 'store' : 'refuse',
  });
  process.stdout.write(`${given.provider} stored for ${workspaceId}: ${describe(connected.check!)}\n`);
  return connected;
}

/** The same use cases as the console's. A running sandbox says where its simulators are. */
async function manage({ database, clock, log, encryption }: CommandContext): Promise<ManageCredentials> {
  const simulators = (await listNodes(database)).at(-1)?.simulators;
  const ask = makeAskProvider({
    clock,
    log,
    allowedNetworks: [],
    endpoints: {
      ...realProviderEndpoints,
      ...(simulators && {
        simulators: {
          fcm: { messagesOrigin: simulators.fcm, tokenOrigin: simulators.fcm },
          apns: simulators.apns,
          webPush: { origin: simulatedPushOrigin, connectTo: simulatedPushOrigin },
        },
      }),
    },
    shareToken: makeShareProviderToken({ database, encryption, log }),
  });
  // A running node's simulators learn of the change when it starts again; real providers need not be told.
  return makeManageCredentials({ database, clock, encryption, ask, isSandbox: false, onChanged: async () => {} });
}

function describe({ verdict, words, advice }: { verdict: string; words: string; advice: string }): string {
  return verdict === 'ACCEPTED'
    ? `taken. ${words}`
    : `${verdict.toLowerCase()}: ${words.replace(/\.$/, '')}. ${advice}`;
}

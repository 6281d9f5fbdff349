import { readFile } from 'node:fs/promises';
import { saveProviderCredential } from '../app/credentials/save-provider-credential.ts';
import type { CommandContext } from '../cli.ts';
import { parseApnsKey, parseFcmKeyFile, parseWebPushKey } from '../domain/credentials/parse-provider-key.ts';
import type { ProviderCredential } from '../domain/provider-credential.ts';
import { openCredentials } from '../engine/credentials/load-credentials.ts';
import { checkCredential } from '../engine/delivery/check-credential.ts';
import { makeDelivery, realProviderEndpoints } from '../engine/delivery/deliver.ts';
import { StartError } from '../start-errors.ts';
import { deleteProviderCredential, listProviderCredentials } from '../storage/sql/provider-credentials.ts';
import type { ProviderName } from '../storage/sql/provider-credentials.ts';
import { findWorkspaceToUse } from './find-workspace-to-use.ts';

type Workspace = { workspace?: string };
/** Store it although the provider could not be asked. */
type Unchecked = { unchecked?: boolean };

export type SetFcmOptions = Workspace & Unchecked & { file: string };
export type SetApnsOptions = Workspace &
  Unchecked & { file: string; team: string; key: string; topic: string; environment: 'production' | 'sandbox' };
export type SetWebPushOptions = Workspace & { subject: string; publicKey?: string; privateKeyFile?: string };

/**
 * `carillon credentials …`: a workspace's own credentials of the three providers. A new one is tried with the provider
 * before it replaces the old one; workers use it within seconds.
 */
export const credentialsCommand = {
  async setFcm(context: CommandContext, options: SetFcmOptions): Promise<void> {
    await save(context, { ...options, credential: parseFcmKeyFile(await readFile(options.file, 'utf8')) });
  },

  async setApns(context: CommandContext, options: SetApnsOptions): Promise<void> {
    const { team: teamId, key: keyId, topic, environment } = options;
    const privateKey = await readFile(options.file, 'utf8');
    await save(context, { ...options, credential: parseApnsKey({ privateKey, teamId, keyId, topic, environment }) });
  },

  async setWebPush(context: CommandContext, options: SetWebPushOptions): Promise<void> {
    const { publicKey, privateKeyFile } = options;
    if ((publicKey === undefined) !== (privateKeyFile === undefined))
      throw new StartError('SETTING_INVALID', 'Give --public-key and --private-key-file, or neither to make a pair.');
    const keys =
      publicKey === undefined ? undefined : { publicKey, privateKey: (await readFile(privateKeyFile!, 'utf8')).trim() };
    const credential = parseWebPushKey({ subject: options.subject, keys });
    await save(context, { ...options, credential });
    process.stdout.write(`Public key for subscribing browsers: ${credential.publicKey}\n`);
  },

  async list(context: CommandContext, options: Workspace): Promise<void> {
    const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
    for (const row of await listProviderCredentials(context.database, workspaceId)) {
      const shown = Object.entries(row.summary).map(([name, value]) => `${name} ${value}`);
      process.stdout.write(
        `${row.provider.padEnd(8)} ${row.simulated ? 'simulated' : 'real     '} ${row.updatedAt.toISOString()}  ${shown.join(', ')}\n`,
      );
    }
  },

  async check(context: CommandContext, options: Workspace): Promise<void> {
    const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
    const rows = await listProviderCredentials(context.database, workspaceId);
    const credentials = openCredentials(context.seal, rows);
    for (const credential of Object.values(credentials)) {
      const verdict = credential.simulated
        ? 'simulated: nobody to ask'
        : describe(await ask(context, credential as ProviderCredential));
      process.stdout.write(`${credential.provider.padEnd(8)} ${verdict}\n`);
    }
  },

  async remove(context: CommandContext, options: Workspace & { provider: ProviderName }): Promise<void> {
    const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
    const isRemoved = await deleteProviderCredential(context.database, { workspaceId, provider: options.provider });
    if (!isRemoved) throw new StartError('SETTING_INVALID', `There is no ${options.provider} credential.`);
    process.stdout.write(`${options.provider} removed; runs that need it will pause.\n`);
  },
};

type Saving = Workspace & Unchecked & { credential: ProviderCredential };

async function save(context: CommandContext, { credential, workspace, unchecked }: Saving): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, workspace);
  const verdict = await ask(context, credential);
  if (verdict.kind === 'refused')
    throw new StartError('SETTING_INVALID', `${credential.provider} refuses this credential: ${verdict.reason}`);
  if (verdict.kind === 'unknown' && unchecked !== true) {
    const sentence = `${credential.provider} could not be asked (${verdict.reason}); --unchecked stores it all the same.`;
    throw new StartError('SETTING_INVALID', sentence);
  }
  const input = { workspaceId, credential, at: context.clock.now() };
  await saveProviderCredential(context, context.database, input);
  process.stdout.write(`${credential.provider} stored for ${workspaceId}: ${describe(verdict)}\n`);
}

async function ask(context: CommandContext, credential: ProviderCredential) {
  const { clock, log } = context;
  const delivery = makeDelivery({ clock, log, endpoints: realProviderEndpoints, allowedNetworks: [] });
  try {
    return await checkCredential({ delivery }, credential);
  } finally {
    await delivery.close();
  }
}

function describe(verdict: Awaited<ReturnType<typeof checkCredential>>): string {
  return verdict.kind === 'accepted' ? 'taken by the provider' : `${verdict.kind}: ${verdict.reason}`;
}

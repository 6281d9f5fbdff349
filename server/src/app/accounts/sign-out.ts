import { hashSecret } from '../../domain/tokens/secret.ts';
import { deleteConsoleSession } from '../../storage/accounts/console-sessions.ts';
import type { AccountDependencies } from './account-dependencies.ts';

export async function signOut({ database }: Pick<AccountDependencies, 'database'>, token: string): Promise<void> {
  await deleteConsoleSession(database, hashSecret(token));
}

import { hasOwner } from '../../storage/accounts/accounts.ts';
import type { ConsoleAccountDependencies } from './account-dependencies.ts';
import { makeLink } from './make-link.ts';

/**
 * The link a person asks for, or a sandbox prints at the start: there it opens the console, elsewhere it creates the first
 * owner; none once there is an owner.
 */
export async function createStartLink({
  database,
  clock,
  isSandbox,
}: Pick<ConsoleAccountDependencies, 'database' | 'clock' | 'isSandbox'>): Promise<
  { kind: 'sign-in' | 'first-owner'; code: string; expiresAt: Date } | undefined
> {
  const link = { createdBy: 'the start', at: clock.realNow() };
  if (isSandbox) {
    const { code, expiresAt } = await makeLink(database, { ...link, purpose: 'SIGN_IN' });
    return { kind: 'sign-in', code, expiresAt };
  }
  if (await hasOwner(database)) return undefined;
  const { code, expiresAt } = await makeLink(database, { ...link, purpose: 'FIRST_OWNER' });
  return { kind: 'first-owner', code, expiresAt };
}

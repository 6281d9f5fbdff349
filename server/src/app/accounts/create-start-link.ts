import { hasOwner } from '../../storage/accounts/accounts.ts';
import type { ConsoleAccountDependencies } from './account-dependencies.ts';
import { makeLink } from './make-link.ts';

/**
 * The link printed at the start: in a sandbox it opens the console, elsewhere it creates the first owner; none once
 * there is an owner.
 */
export async function createStartLink({
  database,
  clock,
  isSandbox,
}: ConsoleAccountDependencies): Promise<{ kind: 'sign-in' | 'first-owner'; code: string } | undefined> {
  const link = { createdBy: 'the start', at: clock.now() };
  if (isSandbox) {
    const { code } = await makeLink(database, { ...link, purpose: 'SIGN_IN' });
    return { kind: 'sign-in', code };
  }
  if (await hasOwner(database)) return undefined;
  const { code } = await makeLink(database, { ...link, purpose: 'FIRST_OWNER' });
  return { kind: 'first-owner', code };
}

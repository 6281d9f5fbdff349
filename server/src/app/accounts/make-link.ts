import { randomBytes } from 'node:crypto';
import type { Role } from '../../domain/accounts/roles.ts';
import { makeId } from '../../domain/ids.ts';
import { hashSecret } from '../../domain/tokens/secret.ts';
import type { Queryable } from '../../storage/database.ts';
import { deleteOldLinks, insertAccountLink } from '../../storage/accounts/accounts.ts';
import type { LinkPurpose } from '../../storage/accounts/accounts.ts';
import { endedLinkDays, linkHours } from '../../domain/accounts/limits.ts';

export type NewLink = {
  purpose: LinkPurpose;
  email?: string;
  role?: Role;
  accountId?: string;
  createdBy: string;
  /** In real time. */
  at: Date;
};

/** A link that works once. Its code is 256 random bits, returned only here. */
export async function makeLink(tx: Queryable, link: NewLink): Promise<{ id: string; code: string; expiresAt: Date }> {
  const code = randomBytes(32).toString('base64url');
  const id = makeId(link.at);
  const expiresAt = new Date(link.at.getTime() + linkHours[link.purpose] * 3_600_000);
  await deleteOldLinks(tx, new Date(link.at.getTime() - endedLinkDays * 86_400_000));
  await insertAccountLink(tx, {
    id,
    secretHash: hashSecret(code),
    purpose: link.purpose,
    email: link.email ?? null,
    role: link.role ?? null,
    accountId: link.accountId ?? null,
    createdBy: link.createdBy,
    createdAt: link.at,
    expiresAt,
  });
  return { id, code, expiresAt };
}

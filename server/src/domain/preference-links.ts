import { timingSafeEqual } from 'node:crypto';
import { hmacSha256 } from './crypto/hmac-sha256.ts';
import { isId } from './ids.ts';
import type { UserKey } from './users/users.ts';

/** The person whom a link to the preference page is for, and until when. */
export type PreferenceSubject = UserKey & { workspaceId: string; expiresAt: Date };

export type PreferenceLinks = {
  /** Returns the token of a link. The same subject gives the same token on every node. */
  issue(subject: PreferenceSubject): string;
  /** Undefined for a token that this installation did not issue; `isExpired`: it was valid before. */
  open(token: string, now: Date): (PreferenceSubject & { isExpired: boolean }) | undefined;
};

const version = 1;
// Version, seconds since 1970, bucket and user; the workspace's id follows to the end.
const headBytes = 1 + 4 + 1 + 12;
// 128 bits: a forger has one attempt per request, and requests are rate-limited.
const proofBytes = 16;
const maxTokenCharacters = 200;

/**
 * Makes the tokens of links to the preference page, signed with HMAC-SHA-256. A token is valid for one user of one workspace until
 * it expires. It contains no customer id, because links are forwarded and logged.
 *
 * @param installationKey 32 bytes, also used for other tokens: the key of these is derived from it, so that neither can be used as the
 *   other
 */
export function makePreferenceLinks(installationKey: Uint8Array): PreferenceLinks {
  const key = hmacSha256(installationKey, Buffer.from('preference link'));
  const prove = (named: Uint8Array): Buffer => hmacSha256(key, named).subarray(0, proofBytes);
  return {
    issue({ workspaceId, bucket, userId, expiresAt }) {
      const head = Buffer.alloc(headBytes);
      head.writeUInt8(version, 0);
      head.writeUInt32BE(Math.floor(expiresAt.getTime() / 1000), 1);
      head.writeUInt8(bucket, 5);
      head.write(userId, 6, 'hex');
      const named = Buffer.concat([head, Buffer.from(workspaceId)]);
      return Buffer.concat([named, prove(named)]).toString('base64url');
    },
    open(token, now) {
      if (token.length > maxTokenCharacters || !/^[A-Za-z0-9_-]+$/.test(token)) return undefined;
      const bytes = Buffer.from(token, 'base64url');
      // Another text of the same bytes is not the token that was issued.
      if (bytes.length <= headBytes + proofBytes || bytes.toString('base64url') !== token) return undefined;
      const named = bytes.subarray(0, -proofBytes);
      if (!timingSafeEqual(prove(named), bytes.subarray(-proofBytes)) || named[0] !== version) return undefined;
      const expiresAt = new Date(named.readUInt32BE(1) * 1000);
      const userId = named.toString('hex', 6, headBytes);
      const subject = { workspaceId: named.toString('utf8', headBytes), bucket: named[5]!, userId, expiresAt };
      return isId(userId) ? { ...subject, isExpired: expiresAt <= now } : undefined;
    },
  };
}

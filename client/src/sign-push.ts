/**
 * Returns the push signature: lower-case hexadecimal SHA-256 of `<workspace id>|<campaign name>|<push key>`. Web Crypto, so
 * that it runs in every JavaScript runtime.
 */
export async function signPush(signed: {
  workspaceId: string;
  campaignName: string;
  pushKey: string;
}): Promise<string> {
  const text = `${signed.workspaceId}|${signed.campaignName}|${signed.pushKey}`;
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

import { createHash, timingSafeEqual } from 'node:crypto';

/** What opens a report file (fact 7). */
export function signReport({
  workspaceId,
  name,
  secret,
}: {
  workspaceId: string;
  name: string;
  secret: string;
}): string {
  return createHash('sha256').update(`${workspaceId}|${name}|${secret}`).digest('hex');
}

/** What is stored of a signature: whoever reads the database can open nothing with it. */
export function hashReportSignature(signature: string): Buffer {
  return createHash('sha256').update(signature).digest();
}

export function opensReport(signature: string, signatureHash: Buffer): boolean {
  return timingSafeEqual(hashReportSignature(signature), signatureHash);
}

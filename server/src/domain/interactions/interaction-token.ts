import { timingSafeEqual } from 'node:crypto';
import { platforms } from '../campaigns/content.ts';
import type { Platform } from '../campaigns/content.ts';
import type { Variant } from '../experiments/variants.ts';
import { hmacSha256, KeyedHmacSha256, messageStart } from '../hmac-sha256.ts';
import { isId } from '../ids.ts';

/** Which message a device has got: everything that a report of it needs. */
export type InteractionSubject = {
  workspaceId: string;
  runId: string;
  bucket: number;
  deviceId: string;
  platform: Platform;
  /** Which of the campaign's contents it got; absent where there is one for all. */
  variant?: Variant;
};

/** What travels with a message, so that its device can report. */
export type ReportPass = {
  /** Presented with a report. */
  token: string;
  /** `<token>.<proof>` is what `GET /v1/click/…` takes; only for a message that leads to a web address. */
  clickProof?: string;
};

export type InteractionTokens = {
  /** The same subject gives the same pass on every attempt of every worker. */
  issue(subject: InteractionSubject, address?: string): ReportPass;
  /** Undefined for whatever this installation did not issue. */
  open(token: string): InteractionSubject | undefined;
  /** Undefined if the address is not the one sent with the message. */
  openClick(clickToken: string, address: string): InteractionSubject | undefined;
};

const version = 1;
/** With the numbers of variation and locale behind the device. */
const variantVersion = 2;
const variantBytes = 2;
// Version, platform, bucket, run and device; the workspace's id follows to the end.
const headBytes = 1 + 1 + 1 + 12 + 12;
const maxWorkspaceBytes = 64;
// 128 bits: a forger has one try a request, and requests are limited.
const proofBytes = 16;
const purposes = { report: Buffer.from('report\0'), click: Buffer.from('click\0') };

/**
 * Opaque tokens that identify a message on a device, signed with HMAC-SHA-256: nobody else can create one, and a token
 * is not valid for another device, run or workspace. Compact, because the providers take 4 KB: 90 characters for a
 * workspace id of 24.
 *
 * @param key 32 bytes, of this purpose alone
 */
export function makeInteractionTokens(key: Uint8Array): InteractionTokens {
  // The purpose precedes the subject, so that a token cannot be used as a click proof, or vice versa.
  const prove = (purpose: 'report' | 'click', parts: (Uint8Array | string)[]): Buffer => {
    const bytes = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
    return hmacSha256(key, purposes[purpose], ...bytes).subarray(0, proofBytes);
  };
  const openParts = (token: string): { subject: InteractionSubject; named: Buffer } | undefined => {
    const bytes = decodeBase64url(token);
    if (!bytes || bytes.length <= headBytes + proofBytes) return undefined;
    const named = bytes.subarray(0, -proofBytes);
    if (!timingSafeEqual(prove('report', [named]), bytes.subarray(-proofBytes))) return undefined;
    return { subject: decodeSubject(named), named };
  };
  const isWeb = makeLastAsked(isWebAddress);
  const mac = new KeyedHmacSha256(key);
  const issueToken = (subject: InteractionSubject): string => {
    const bytes = mac.reserve(purposes.report.length + headBytes + variantBytes + maxWorkspaceBytes + proofBytes);
    const start = messageStart + bytes.write('report\0', messageStart, 'latin1');
    const end = writeSubject(subject, bytes, start);
    // The proof stands behind what it proves, in the token as here.
    bytes.write(mac.digest(end), end, proofBytes, 'latin1');
    return bytes.toString('base64url', start, end + proofBytes);
  };
  const proveClick = (subject: InteractionSubject, address: string): string => {
    const bytes = mac.reserve(
      purposes.click.length + headBytes + variantBytes + maxWorkspaceBytes + 1 + 3 * address.length,
    );
    const start = messageStart + bytes.write('click\0', messageStart, 'latin1');
    let end = writeSubject(subject, bytes, start);
    end += bytes.write(`\0${address}`, end);
    return Buffer.from(mac.digest(end).slice(0, proofBytes), 'latin1').toString('base64url');
  };
  return {
    issue(subject, address) {
      const token = issueToken(subject);
      return address !== undefined && isWeb(address) ? { token, clickProof: proveClick(subject, address) } : { token };
    },
    open: (token) => openParts(token)?.subject,
    openClick(clickToken, address) {
      const [token, proof, ...more] = clickToken.split('.');
      const opened = openParts(token ?? '');
      const presented = decodeBase64url(proof ?? '');
      if (!opened || more.length > 0 || presented?.length !== proofBytes || !isWebAddress(address)) return undefined;
      return timingSafeEqual(prove('click', [opened.named, '\0', address]), presented) ? opened.subject : undefined;
    },
  };
}

/** A redirect to anything else would run in the service's own name (`javascript:`) or leave the browser. */
export function isWebAddress(address: string): boolean {
  return /^https?:\/\//i.test(address) && URL.canParse(address);
}

/** A campaign asks for the same address again and again. */
function makeLastAsked(ask: (text: string) => boolean): (text: string) => boolean {
  let asked: { text: string; result: boolean } | undefined;
  return (text) => {
    if (asked?.text !== text) asked = { text, result: ask(text) };
    return asked.result;
  };
}

/** @returns where it ends */
function writeSubject(
  { workspaceId, runId, bucket, deviceId, platform, variant }: InteractionSubject,
  bytes: Buffer,
  start: number,
): number {
  const workspaceBytes = Buffer.byteLength(workspaceId);
  if (!isId(runId) || !isId(deviceId) || workspaceBytes === 0 || workspaceBytes > maxWorkspaceBytes)
    throw new RangeError(`not a message at a device: run ${runId}, device ${deviceId}`);
  bytes[start] = variant ? variantVersion : version;
  bytes[start + 1] = platforms.indexOf(platform);
  bytes[start + 2] = bucket;
  bytes.write(runId, start + 3, 'hex');
  bytes.write(deviceId, start + 15, 'hex');
  let end = start + headBytes;
  if (variant) {
    bytes[end] = variant.variation;
    bytes[end + 1] = variant.locale;
    end += variantBytes;
  }
  return end + bytes.write(workspaceId, end);
}

/** Of proved bytes, so they are as writeSubject made them. */
function decodeSubject(named: Buffer): InteractionSubject {
  const isVaried = named.readUInt8(0) === variantVersion;
  const variant = isVaried && { variation: named.readUInt8(headBytes), locale: named.readUInt8(headBytes + 1) };
  return {
    ...(variant && { variant }),
    platform: platforms[named.readUInt8(1)]!,
    bucket: named.readUInt8(2),
    runId: named.toString('hex', 3, 15),
    deviceId: named.toString('hex', 15, headBytes),
    workspaceId: named.toString('utf8', isVaried ? headBytes + variantBytes : headBytes),
  };
}

/** One text a value: Node's decoder would skip foreign characters and leftover bits, and limits count by the text. */
function decodeBase64url(text: string): Buffer | undefined {
  if (text.length > 200) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

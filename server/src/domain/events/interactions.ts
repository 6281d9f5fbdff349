import { createHash, timingSafeEqual } from 'node:crypto';
import { platforms } from '../content/content.ts';
import type { Platform } from '../content/content.ts';
import { hmacSha256, KeyedHmacSha256, messageStart } from '../crypto/hmac-sha256.ts';
import type { Variant } from '../experiments/variants.ts';
import { isId } from '../ids.ts';

export const interactionKinds = ['impression', 'click', 'close'] as const;

/** What happened to a message on its device: it was shown, clicked, or closed without a click. */
export type InteractionKind = (typeof interactionKinds)[number];

/** The same, as stored. */
export type StoredInteractionKind = 'IMPRESSION' | 'CLICK' | 'CLOSE';

/**
 * Returns a digest of the name that the device gave a report. It distinguishes a report from a repetition of it. Reports
 * without a name count as one, so a device that cannot generate names may repeat safely.
 */
export function reportDigest(reportId: string | undefined): Buffer {
  return createHash('sha256')
    .update(reportId ?? '')
    .digest()
    .subarray(0, 12);
}

/** The message that a device got: everything that a report about it needs. */
export type InteractionSubject = {
  workspaceId: string;
  runId: string;
  bucket: number;
  deviceId: string;
  platform: Platform;
  /** Which of the campaign's contents it got; absent if all users get the same content. */
  variant?: Variant;
};

/** The data sent with a message so that its device can report. */
export type ReportPass = {
  /** The device sends it with a report. */
  token: string;
  /** `GET /v1/click/…` accepts `<token>.<proof>`; only for a message that leads to a web address. */
  clickProof?: string;
};

export type InteractionTokens = {
  /** The same subject gives the same pass on every attempt of every worker. */
  issue(subject: InteractionSubject, address?: string): ReportPass;
  /** Undefined for a token that this installation did not issue. */
  open(token: string): InteractionSubject | undefined;
  /** Undefined if the address is not the one sent with the message. */
  openClick(clickToken: string, address: string): InteractionSubject | undefined;
};

const version = 1;
/** With the numbers of variation and locale after the device. */
const variantVersion = 2;
const variantBytes = 2;
// Version, platform, bucket, run and device; the workspace's id follows to the end.
const headBytes = 1 + 1 + 1 + 12 + 12;
const maxWorkspaceBytes = 64;
// 128 bits: a forger has one attempt per request, and requests are rate-limited.
const proofBytes = 16;
const purposes = { report: Buffer.from('report\0'), click: Buffer.from('click\0') };

/**
 * Makes opaque tokens that identify a message on a device, signed with HMAC-SHA-256. Only this installation can create one,
 * and a token is not valid for another device, run or workspace. Tokens are compact, because the providers accept 4 KB: 90
 * characters for a workspace id of 24.
 *
 * @param key 32 bytes, used only for this purpose
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
    // The proof follows the bytes that it proves, in the token as here.
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

/** Only http and https: other redirects would run under the service's own name (`javascript:`) or leave the browser. */
export function isWebAddress(address: string): boolean {
  return /^https?:\/\//i.test(address) && URL.canParse(address);
}

/** Remembers the last result, because a campaign asks for the same address again and again. */
function makeLastAsked(ask: (text: string) => boolean): (text: string) => boolean {
  let asked: { text: string; result: boolean } | undefined;
  return (text) => {
    if (asked?.text !== text) asked = { text, result: ask(text) };
    return asked.result;
  };
}

/** @returns the offset of its end */
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

/** Decodes proved bytes, which therefore have the form that writeSubject gave them. */
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

/** Accepts one text per value. Node's decoder would skip foreign characters and leftover bits, and limits count by text. */
function decodeBase64url(text: string): Buffer | undefined {
  if (text.length > 200) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/** The message that reports of one kind are about. */
type ReportedMessage = {
  workspaceId: string;
  bucket: number;
  campaignId: string;
  deviceId: string;
  kind: StoredInteractionKind;
  runId: string;
  platform: Platform;
};

/** The reports of a device that were counted before, in one run of the campaign. */
export type CountedReports = ReportedMessage & { digests: readonly Buffer[] };

/** The content that a report is about: 0 and an empty text if all users get the same content. */
export type ReportedVariant = { variation: number; locale: string };

/** What reports add to the figures of a campaign. */
export type FigureGain = Pick<ReportedMessage, 'workspaceId' | 'bucket' | 'campaignId' | 'platform' | 'kind'> &
  ReportedVariant & {
    reports: number;
    devices: number;
    /** Each message once, even if its device reported on another message before. */
    messages: number;
  };

/** The same for one of its runs. */
export type RunGain = Pick<ReportedMessage, 'workspaceId' | 'runId' | 'bucket' | 'platform' | 'kind'> &
  ReportedVariant & { reports: number; messages: number };

/**
 * Selects the reports that count, in their order: each digest once per run, device and kind, and at most `most` of them. A
 * device counts once in the figures of its campaign, platform and kind, however many runs it reports on.
 *
 * @returns the reports that count, those of them that are the first of their message and kind, and what they add
 * @param counted every row of these devices, campaigns and kinds, of any run
 */
export function selectNewReports<Report extends ReportedMessage & ReportedVariant & { digest: Buffer }>({
  reports,
  counted,
  most,
}: {
  reports: readonly Report[];
  counted: readonly CountedReports[];
  most: number;
}): { fresh: Report[]; firsts: Report[]; gains: FigureGain[]; runGains: RunGain[] } {
  const digestsOf = new Map<string, Set<string>>();
  const devices = new Set<string>();
  for (const row of counted) {
    digestsOf.set(runKey(row), new Set(row.digests.map((digest) => digest.toString('hex'))));
    devices.add(deviceKey(row));
  }
  const gains = new Map<string, FigureGain>();
  const runGains = new Map<string, RunGain>();
  const firsts = new Set<Report>();
  const fresh = reports.filter((report) => {
    const digests = digestsOf.get(runKey(report)) ?? new Set();
    digestsOf.set(runKey(report), digests);
    const digest = report.digest.toString('hex');
    if (digests.has(digest) || digests.size >= most) return false;
    if (digests.size === 0) firsts.add(report);
    digests.add(digest);
    const { workspaceId, runId, bucket, campaignId, platform, kind, variation, locale } = report;
    const figure = { workspaceId, bucket, campaignId, platform, kind, variation, locale };
    const key = Object.values(figure).join(' ');
    const gain = gains.get(key) ?? { ...figure, reports: 0, devices: 0, messages: 0 };
    gains.set(key, gain);
    gain.reports += 1;
    if (firsts.has(report)) gain.messages += 1;
    if (!devices.has(deviceKey(report))) gain.devices += 1;
    devices.add(deviceKey(report));
    const ofRun = { workspaceId, runId, bucket, platform, kind, variation, locale };
    const runGainKey = Object.values(ofRun).join(' ');
    const runGain = runGains.get(runGainKey) ?? { ...ofRun, reports: 0, messages: 0 };
    runGains.set(runGainKey, runGain);
    runGain.reports += 1;
    if (firsts.has(report)) runGain.messages += 1;
    return true;
  });
  return { fresh, firsts: [...firsts], gains: [...gains.values()], runGains: [...runGains.values()] };
}

const runKey = ({ workspaceId, bucket, campaignId, deviceId, kind, runId }: ReportedMessage): string =>
  [workspaceId, bucket, campaignId, deviceId, kind, runId].join(' ');

const deviceKey = ({ workspaceId, bucket, campaignId, deviceId, kind, platform }: ReportedMessage): string =>
  [workspaceId, bucket, campaignId, deviceId, kind, platform].join(' ');

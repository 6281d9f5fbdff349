/** A picture as it is stored: small enough for every platform, without metadata. */
export type PreparedPicture = { mediaType: PictureType; width: number; height: number; bytes: Buffer };

export type PictureType = 'image/jpeg' | 'image/png';

const extensions = { 'image/jpeg': 'jpg', 'image/png': 'png' } as const satisfies Record<PictureType, string>;

/** Returns the path of a picture's public address. */
export function picturePath({ name, mediaType }: { name: string; mediaType: PictureType }): string {
  return `/pictures/${name}.${extensions[mediaType]}`;
}

/** Matches the addresses of pictures in a text, whatever host they have; the group is the name. For PostgreSQL too. */
export const picturePattern = '/pictures/([0-9a-f]{32})[.](?:jpg|png)';

/** Returns the name and the type that a file name asks for; undefined for any other text. */
export function parsePictureFile(file: string): { name: string; mediaType: PictureType } | undefined {
  const [, name, extension] = /^([0-9a-f]{32})\.(jpg|png)$/.exec(file) ?? [];
  if (name === undefined) return undefined;
  return { name, mediaType: extension === 'png' ? 'image/png' : 'image/jpeg' };
}

type Signature = { at: number; bytes: string };
const formats: { name: string; signatures: Signature[] }[] = [
  { name: 'JPEG', signatures: [{ at: 0, bytes: '\xff\xd8\xff' }] },
  { name: 'PNG', signatures: [{ at: 0, bytes: '\x89PNG\r\n\x1a\n' }] },
  {
    name: 'WebP',
    signatures: [
      { at: 0, bytes: 'RIFF' },
      { at: 8, bytes: 'WEBP' },
    ],
  },
  { name: 'GIF', signatures: [{ at: 0, bytes: 'GIF8' }] },
  {
    name: 'HEIC',
    signatures: [
      { at: 4, bytes: 'ftyp' },
      { at: 8, bytes: 'hei' },
    ],
  },
  {
    name: 'AVIF',
    signatures: [
      { at: 4, bytes: 'ftyp' },
      { at: 8, bytes: 'avi' },
    ],
  },
];

/** The formats that are decoded. Each further decoder is one more that strangers' files reach. */
const accepted: readonly string[] = ['JPEG', 'PNG', 'WebP'];

/** Returns why the bytes are not a picture of an accepted format; undefined if they begin like one. */
export function findFormatFault(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  const format = formats.find(({ signatures }) =>
    signatures.every(({ at, bytes: wanted }) => head.startsWith(wanted, at)),
  );
  if (format === undefined) return 'It is not a JPEG, PNG or WebP';
  if (format.name === 'GIF') return describeMotion('a GIF');
  if (!accepted.includes(format.name)) return `It is a ${format.name}; save it as a JPEG`;
  return isAnimated(format.name, bytes) ? describeMotion(`an animated ${format.name}`) : undefined;
}

function describeMotion(what: string): string {
  return `It is ${what}, which would lose its motion here; give the address of one that is hosted elsewhere`;
}

function isAnimated(format: string, bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (format === 'PNG') return isAnimatedPng(view);
  return format === 'WebP' && isAnimatedWebp(view);
}

/** PNG specification (third edition), 11.3.6: the chunk `acTL` before the first `IDAT` marks an animation. */
function isAnimatedPng(view: DataView): boolean {
  // After the signature: length of the data, name, data, checksum.
  for (let at = 8; at + 8 <= view.byteLength; at += 12 + view.getUint32(at)) {
    const name = readName(view, at + 4);
    if (name === 'acTL') return true;
    if (name === 'IDAT') return false;
  }
  return false;
}

/** RFC 9649 §2.7: a flag in the first chunk, `VP8X`, announces an animation, and the chunk `ANIM` describes it. */
function isAnimatedWebp(view: DataView): boolean {
  // After the signature: name, length of the data, data, a byte more if the length is odd.
  for (let at = 12; at + 8 <= view.byteLength;) {
    const name = readName(view, at);
    if (name === 'ANIM') return true;
    if (name === 'VP8X' && at + 8 < view.byteLength && (view.getUint8(at + 8) & 2) !== 0) return true;
    const length = view.getUint32(at + 4, true);
    at += 8 + length + (length % 2);
  }
  return false;
}

function readName(view: DataView, at: number): string {
  return String.fromCharCode(...[0, 1, 2, 3].map((index) => view.getUint8(at + index)));
}

/** The fault of a file that begins like a picture and is not one. */
export const damagedPicture = 'The file is damaged';

/** Why phones cannot load pictures from an origin; undefined if they can. */
export type AddressFault = 'NO_PUBLIC_URL' | 'NOT_HTTPS';

export function findAddressFault(publicUrl: string | undefined): AddressFault | undefined {
  if (publicUrl === undefined) return 'NO_PUBLIC_URL';
  return publicUrl.startsWith('https:') ? undefined : 'NOT_HTTPS';
}

/** Stores files by key. Without one, the database stores the files of pictures. */
export type ObjectStore = {
  /** @throws Error with the store's response */
  put: (key: string, object: { bytes: Buffer; mediaType: string }) => Promise<void>;
  /** Returns undefined if there is no such file. @throws Error with the store's response */
  get: (key: string) => Promise<Buffer | undefined>;
  /** Does nothing if there is no such file. @throws Error with the store's response */
  remove: (key: string) => Promise<void>;
};

/** Returns the key of a picture's file in an object store. */
export function pictureKey({ workspaceId, name }: { workspaceId: string; name: string }): string {
  return `${workspaceId}/${name}`;
}

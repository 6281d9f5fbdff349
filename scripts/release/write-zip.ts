import { crc32, deflateRawSync } from 'node:zlib';

export type ZipFile = { path: string; bytes: Buffer };

/** Midnight of 1 January 1980, the first time of the format: the same files always have the same bytes. */
const date = 0x21;
const utf8Names = 0x800;
const deflate = 8;
const neededVersion = 20;

/** Returns a ZIP archive of the files, in their order (APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16). */
export function writeZip(files: ZipFile[]): Buffer {
  const pieces: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { path, bytes } of files) {
    const name = Buffer.from(path);
    const packed = deflateRawSync(bytes, { level: 9 });
    const common = Buffer.alloc(26);
    common.writeUInt16LE(neededVersion, 0);
    common.writeUInt16LE(utf8Names, 2);
    common.writeUInt16LE(deflate, 4);
    common.writeUInt16LE(date, 8);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(name.length, 22);
    const entry = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, name, packed]);
    // Comment, disk and attributes are zero, followed by the place of the entry.
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(at, 10);
    const made = Buffer.from([neededVersion, 0]);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), made, common, rest, name]));
    pieces.push(entry);
    at += entry.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...pieces, listed, Buffer.from('PK\x05\x06', 'latin1'), end]);
}

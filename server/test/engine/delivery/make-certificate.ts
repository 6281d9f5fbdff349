import { generateKeyPairSync, sign } from 'node:crypto';

/**
 * A certificate, for `localhost` unless other names are given, that signs itself (X.509, RFC 5280 §4.1), good for a day: Node makes keys, but no
 * certificates, and one in the repository would run out.
 */
export function makeCertificate(names = ['localhost']): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(0x30, oid('2a8648ce3d040302')); // ecdsa-with-SHA256
  const name = der(0x30, der(0x31, der(0x30, oid('550403'), der(0x0c, Buffer.from(names[0]!)))));
  const day = 86_400_000;
  const validity = der(0x30, utcTime(new Date(Date.now() - day)), utcTime(new Date(Date.now() + day)));
  const alternatives = names.map((each) => der(0x82, Buffer.from(each)));
  const altName = der(0x30, oid('551d11'), der(0x04, der(0x30, ...alternatives)));
  const authority = der(
    0x30,
    oid('551d13'),
    der(0x01, Buffer.from([0xff])),
    der(0x04, der(0x30, der(0x01, Buffer.from([0xff])))),
  );
  const signed = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.from([1])),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, altName, authority)),
  );
  const signature = sign('sha256', signed, privateKey);
  const certificate = der(0x30, signed, algorithm, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = certificate.toString('base64').match(/.{1,64}/g)!;
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  };
}

/** One value with its tag and length (X.690 §8.1). */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  const { length } = value;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function utcTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/\D/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}

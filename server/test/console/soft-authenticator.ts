import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

type Options = { challenge: string };

/**
 * An authenticator that signs like a security key (WebAuthn Level 3 section 6), with a counter, and can be told to lie. It needs no
 * browser; Chromium's virtual authenticator is in second-factor-pages.test.ts.
 */
export function makeSoftAuthenticator({ origin, site }: { origin: string; site: string }) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const credentialId = randomBytes(16);
  const state = { origin, site, signCount: 0, isUserVerified: true };
  const id = credentialId.toString('base64url');
  const { x, y } = publicKey.export({ format: 'jwk' });
  // COSE (RFC 9053): an EC2 key of P-256 for ES256.
  const cose = cborMap([
    [Buffer.from([0x01]), Buffer.from([0x02])],
    [Buffer.from([0x03]), Buffer.from([0x26])],
    [Buffer.from([0x20]), Buffer.from([0x01])],
    [Buffer.from([0x21]), cborBytes(Buffer.from(x!, 'base64url'))],
    [Buffer.from([0x22]), cborBytes(Buffer.from(y!, 'base64url'))],
  ]);

  function authenticatorData(attested: Buffer | undefined): Buffer {
    const flags = 0x01 | (state.isUserVerified ? 0x04 : 0) | (attested ? 0x40 : 0);
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(state.signCount);
    const siteHash = createHash('sha256').update(state.site).digest();
    return Buffer.concat([siteHash, Buffer.from([flags]), counter, attested ?? Buffer.alloc(0)]);
  }

  function clientData(type: string, { challenge }: Options): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin: state.origin, crossOrigin: false }));
  }

  const answer = (response: Record<string, unknown>) => ({
    ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
    response,
  });

  return {
    state,
    /** Makes the passkey. */
    create(options: Options) {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(credentialId.length);
      const data = authenticatorData(Buffer.concat([Buffer.alloc(16), length, credentialId, cose]));
      const attestation = cborMap([
        [cborText('fmt'), cborText('none')],
        [cborText('attStmt'), cborMap([])],
        [cborText('authData'), cborBytes(data)],
      ]);
      return answer({
        clientDataJSON: clientData('webauthn.create', options).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['usb', 'Not a Transport'],
      });
    },
    /** Signs a challenge with it. */
    sign(options: Options) {
      state.signCount += 1;
      const data = authenticatorData(undefined);
      const client = clientData('webauthn.get', options);
      const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
      return answer({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign('sha256', signed, privateKey).toString('base64url'),
      });
    },
  };
}

// As much CBOR (RFC 8949) as an authenticator writes.
const cborText = (text: string): Buffer => Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);

function cborBytes(bytes: Buffer): Buffer {
  const head = bytes.length < 24 ? [0x40 + bytes.length] : [0x58, bytes.length];
  return Buffer.concat([Buffer.from(head), bytes]);
}

function cborMap(members: [Buffer, Buffer][]): Buffer {
  return Buffer.concat([Buffer.from([0xa0 + members.length]), ...members.flat()]);
}

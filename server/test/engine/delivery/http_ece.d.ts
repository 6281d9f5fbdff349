// The part of http_ece (which has no types) that the tests use.
declare module 'http_ece' {
  import type { ECDH } from 'node:crypto';
  export function decrypt(
    message: Buffer,
    parameters: { version: 'aes128gcm'; privateKey: ECDH; dh: undefined; authSecret: string },
  ): Buffer;
}

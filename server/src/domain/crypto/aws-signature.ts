import { createHash, createHmac } from 'node:crypto';

export type AwsKey = { keyId: string; secret: string; region: string };

export type SignedRequest = {
  method: string;
  url: URL;
  /** Headers to sign in addition to the host, the date and the digest of the body. Names in lower case. */
  headers?: Readonly<Record<string, string>>;
  body: Uint8Array;
  at: Date;
};

/**
 * Returns the headers that authorise a request to S3: Signature Version 4 in the Authorization header, over the complete body
 * (Amazon S3 API Reference, "Authenticating Requests: Using the Authorization Header").
 */
export function signAwsRequest(key: AwsKey, request: SignedRequest): Record<string, string> {
  const time = `${request.at.toISOString().replace(/[-:]|\.\d{3}/g, '')}`;
  const digest = sha256(request.body);
  const sent = { ...request.headers, 'x-amz-content-sha256': digest, 'x-amz-date': time };
  const signed = Object.entries({ ...sent, host: request.url.host }).toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
  const names = signed.map(([name]) => name).join(';');
  const canonical = [
    request.method,
    encodePath(request.url.pathname),
    canonicalQuery(request.url),
    ...signed.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, ' ')}`),
    '',
    names,
    digest,
  ].join('\n');
  const scope = `${time.slice(0, 8)}/${key.region}/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const parts = scope.split('/');
  const signingKey = parts.reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${key.secret}`);
  const signature = createHmac('sha256', signingKey).update(toSign).digest('hex');
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${key.keyId}/${scope},SignedHeaders=${names},Signature=${signature}`,
  };
}

/** S3 encodes each byte of a path once, unlike other services; the slashes stay. */
function encodePath(pathname: string): string {
  return pathname
    .split('/')
    .map((part) => encodeStrictly(decode(part)))
    .join('/');
}

/** A percent sign that encodes nothing stays: the store refuses the request, and the log of the stream shows its answer. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function canonicalQuery({ searchParams }: URL): string {
  return [...searchParams]
    .map(([name, value]) => `${encodeStrictly(name)}=${encodeStrictly(value)}`)
    .toSorted()
    .join('&');
}

/** Encodes every byte except letters, digits and `-._~` (RFC 3986 §2.3). */
function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

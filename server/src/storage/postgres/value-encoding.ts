/** What a statement takes as a parameter. Plain objects are given through `json`. */
export type Value = string | number | bigint | boolean | null | Date | Uint8Array | Json | readonly Value[];

/** A value that is stored as jsonb, whatever its type in JavaScript. */
export class Json {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** A parameter as it is sent. A buffer is sent in binary, all else as text. */
export type Parameter = string | Buffer | null;

/**
 * The kind of a value decides its cast. The server finds the type of an uncast parameter by its place, which fails or
 * misleads where an operator takes several (`$1 - interval '1 day'`); of these kinds it is told.
 */
export const castOfKind = {
  plain: '',
  time: '::timestamptz',
  flag: '::boolean',
  bigint: '::bigint',
  bytes: '::bytea',
  json: '::jsonb',
} as const;
export type ValueKind = keyof typeof castOfKind;

/** Finds what a value is sent as. @throws TypeError for undefined and for plain objects */
export function kindOf(value: unknown): ValueKind {
  switch (typeof value) {
    case 'string':
    case 'number':
      return 'plain';
    case 'boolean':
      return 'flag';
    case 'bigint':
      return 'bigint';
    case 'object':
      if (value === null || Array.isArray(value)) return 'plain';
      if (value instanceof Date) return 'time';
      if (value instanceof Json) return 'json';
      if (value instanceof Uint8Array) return 'bytes';
  }
  throw new TypeError(value === undefined ? 'a parameter is undefined' : 'a parameter is no value the database takes');
}

/** A value in PostgreSQL's text format, a buffer as it is. Times are sent in UTC, whatever this machine's zone. */
export function encodeValue(value: Value): Parameter {
  if (typeof value === 'string') return value;
  if (value === null) return null;
  if (typeof value === 'object') {
    if (value instanceof Date) return value.toISOString();
    if (value instanceof Json) return encodeJson(value.value);
    if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return encodeArray(value as readonly Value[]);
  }
  return String(value);
}

function encodeJson(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError('a parameter is undefined');
  return text;
}

function encodeArray(values: readonly Value[]): string {
  let text = '{';
  for (let index = 0; index < values.length; index += 1) {
    if (index > 0) text += ',';
    text += encodeElement(values[index]);
  }
  return `${text}}`;
}

const needsEscape = /["\\]/;

function encodeElement(value: Value | undefined): string {
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'object':
      if (value === null) return 'null';
      if (value instanceof Date) return `"${value.toISOString()}"`;
      if (value instanceof Json) return quote(encodeJson(value.value));
      if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString('hex')}"`;
      if (Array.isArray(value)) return encodeArray(value as readonly Value[]);
  }
  throw new TypeError('an element of a parameter is no value the database takes');
}

function quote(text: string): string {
  return needsEscape.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`;
}

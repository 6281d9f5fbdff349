import type { Readable } from 'node:stream';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { FileOperationCommand } from '../../app/segments/file-segments.ts';
import { ServiceError } from '../../domain/errors.ts';
import { parseChange, parseCreate } from '../segments/file-segments.ts';

export const UploadQuery = Type.Object({
  workspaceId: Type.String({ maxLength: 64 }),
  kind: Type.Union([Type.Literal('create'), Type.Literal('add'), Type.Literal('remove'), Type.Literal('replace')]),
  name: Type.String(),
  attributeName: Type.String(),
  attributeType: Type.String(),
  /** Only for creating a segment. */
  expiryDays: Type.Optional(Type.String({ pattern: '^[0-9]{1,4}$' })),
});

export const FetchBody = Type.Object(
  {
    kind: UploadQuery.properties.kind,
    name: Type.String(),
    attributeName: Type.String(),
    attributeType: Type.String(),
    fileUrl: Type.String({ minLength: 1 }),
    callbackUrl: Type.Optional(Type.String()),
    expiryDays: Type.Optional(Type.Integer()),
  },
  { additionalProperties: false },
);

export type Upload = Omit<Static<typeof UploadQuery>, 'workspaceId'> & { callbackUrl?: string };
export type UploadCommand = FileOperationCommand & { fileUrl: null };

/** Parses the operation on an uploaded file. @throws ServiceError SEGMENT_FIELD_MISSING, SEGMENT_FIELD_INVALID */
export function parseUpload({ expiryDays, ...upload }: Upload, prefixes: readonly string[]): UploadCommand {
  const days = expiryDays === undefined ? {} : { expiryDays: Number(expiryDays) };
  return { ...parseOperation({ ...upload, ...days, fileUrl: noAddress }, prefixes), fileUrl: null };
}

/**
 * Parses the operation on a file to download. The rules are those of the API (interface 4.3), so its parser validates the
 * fields, under the API's names.
 *
 * @throws ServiceError SEGMENT_FIELD_MISSING, SEGMENT_FIELD_INVALID
 */
export function parseOperation(asked: Static<typeof FetchBody>, prefixes: readonly string[]): FileOperationCommand {
  const body = {
    name: asked.name,
    attribute_name: asked.attributeName,
    attribute_type: asked.attributeType,
    file_url: asked.fileUrl,
    ...(asked.callbackUrl === undefined ? {} : { callback_url: asked.callbackUrl }),
    ...(asked.expiryDays === undefined ? {} : { expiry_time: asked.expiryDays }),
  };
  const kind = kinds[asked.kind];
  return kind === 'CREATE'
    ? { ...parseCreate(body, prefixes), source: 'CONSOLE' }
    : parseChange(body, { kind, prefixes });
}

const kinds = { create: 'CREATE', add: 'ADD', remove: 'REMOVE', replace: 'REPLACE' } as const;

// A placeholder, because the API requires an address and an uploaded file has none. The result drops it.
const noAddress = 'https://posted.invalid/';

const silenceMilliseconds = 30_000;

/**
 * Yields the bytes of an upload as they arrive. Aborts if nothing arrives for 30 s, as a download does (decision D25). If the
 * caller stops reading, the connection stays open, so that an error response can still be sent.
 *
 * @throws ServiceError BODY_MALFORMED when the upload breaks off
 */
export async function* readUpload(body: Readable): AsyncGenerator<Uint8Array> {
  const silence = setTimeout(() => body.destroy(new Error('no data arrived for 30 s')), silenceMilliseconds);
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      silence.refresh();
      yield chunk;
      silence.refresh();
    }
  } catch (error) {
    throw new ServiceError('BODY_MALFORMED', {
      detail: `the upload broke off: ${(error as Error).message}`,
      cause: error,
    });
  } finally {
    clearTimeout(silence);
  }
}

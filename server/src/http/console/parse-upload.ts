import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { FileOperationCommand } from '../../app/segments/request-file-operation.ts';
import { parseChange, parseCreate } from '../segments/parse-file-segment.ts';

export const UploadQuery = Type.Object({
  workspaceId: Type.String({ maxLength: 64 }),
  kind: Type.Union([Type.Literal('create'), Type.Literal('add'), Type.Literal('remove'), Type.Literal('replace')]),
  name: Type.String(),
  attributeName: Type.String(),
  attributeType: Type.String(),
  /** Of a creation alone. */
  expiryDays: Type.Optional(Type.String({ pattern: '^[0-9]{1,4}$' })),
});

export type Upload = Omit<Static<typeof UploadQuery>, 'workspaceId'> & { callbackUrl?: string };
export type UploadCommand = FileOperationCommand & { fileUrl: null };

/**
 * What is to be done with a file that is posted to us. The rules are those of the API (interface 4.3), so its parser
 * judges the fields, by the API's names.
 *
 * @throws ServiceError SEGMENT_FIELD_MISSING, SEGMENT_FIELD_INVALID
 */
export function parseUpload(upload: Upload): UploadCommand {
  const body = {
    name: upload.name,
    attribute_name: upload.attributeName,
    attribute_type: upload.attributeType,
    file_url: noAddress,
    ...(upload.callbackUrl === undefined ? {} : { callback_url: upload.callbackUrl }),
    ...(upload.expiryDays === undefined ? {} : { expiry_time: Number(upload.expiryDays) }),
  };
  const kind = kinds[upload.kind];
  if (kind === 'CREATE') return { ...parseCreate(body), source: 'CONSOLE', fileUrl: null };
  return { ...parseChange(body, kind), fileUrl: null };
}

const kinds = { create: 'CREATE', add: 'ADD', remove: 'REMOVE', replace: 'REPLACE' } as const;

// The API asks for an address, and a posted file has none; this one is dropped again.
const noAddress = 'https://posted.invalid/';

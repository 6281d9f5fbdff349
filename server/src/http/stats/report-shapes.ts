import { Type } from 'typebox';
import { codeShape } from '../openapi/code-shape.ts';
import { named } from '../openapi/named.ts';
import { statsBody } from './shapes.ts';

/* Bodies of report files. They document the fields; parse-stats.ts holds the rules. */
const { offset: _offset, limit: _limit, ...asked } = statsBody.properties;
export const reportBody = named(
  'ReportFileRequest',
  Type.Object({
    ...asked,
    end_date: Type.String({ description: 'YYYY-MM-DD, included; at most 90 days after start_date' }),
  }),
);

const name = Type.String({ description: 'JSON lines, one a campaign, compressed with gzip' });
const path = Type.String({ description: 'Where it is read' });
const time = (description: string) => Type.String({ description });

export const reportRequestedAnswer = named(
  'ReportFileRequested',
  Type.Object({
    response_id: Type.String(),
    file_name: name,
    path,
    signature: Type.String({
      description:
        'For the header Signature. By the key of the request: SHA-256 of the workspace id, the file name and the key, with a pipe between them, in hexadecimal; with a token: by a secret of its own',
    }),
    expires_at: time('ISO 8601: gone then'),
  }),
);

const reportFile = named(
  'ReportFile',
  Type.Object({
    file_name: name,
    path,
    state: codeShape(['WAITING', 'READY', 'FAILED'], 'Whether it can be read'),
    reason: Type.Optional(Type.String({ description: 'Why it is not made' })),
    campaigns: Type.Optional(Type.Integer({ description: 'Its lines' })),
    size_bytes: Type.Optional(Type.Integer()),
    start_date: Type.String(),
    end_date: Type.String(),
    attribution_type: Type.String(),
    metric_type: Type.String(),
    created_at: time('ISO 8601'),
    expires_at: time('ISO 8601: gone then'),
  }),
);
export const reportsAnswer = named('ReportFiles', Type.Object({ report_files: Type.Array(reportFile) }));

export const reportParameters = Type.Object({
  app_id: Type.String({ description: 'The workspace id' }),
  file_name: Type.String(),
});

export const reportSignature = Type.String({ description: 'As the request of the file was answered' });
export const reportBytes = named(
  'ReportFileBytes',
  Type.String({
    format: 'binary',
    description: 'JSON lines, one a campaign, compressed with gzip',
  }),
);

export const reportFileError = named(
  'ReportFileError',
  Type.Object({
    error: Type.Object({
      attribute: Type.String(),
      message: Type.String(),
      type: Type.String(),
      request_id: Type.String({ description: 'Eight letters that find this call in the API log' }),
    }),
  }),
);

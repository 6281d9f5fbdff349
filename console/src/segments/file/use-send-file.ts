import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { AcceptedUpload } from '../../api/generated/segment-answers.ts';
import { consoleClient } from '../../console.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import type { ChosenColumn, ChosenIdentifier } from './column-fields.tsx';
import { extractColumn } from './table-file.ts';
import type { TableHead } from './table-file.ts';

/** An existing segment: its file changes, and its attribute is known. */
export type ChangedSegment = { name: string; attributeName: string; attributeType: 'string' | 'double' };

/** A file that the server accepted, with data for the result page. */
export type SentFile = AcceptedUpload & {
  identifier: ChosenIdentifier;
  /** Undefined if the server downloads the file. */
  lines: number | undefined;
  /** The first values. */
  values: string[];
};

type Kind = 'create' | 'add' | 'remove' | 'replace';

type Sending = {
  segment: ChangedSegment | undefined;
  source: 'upload' | 'url';
  file: File | null;
  head: TableHead | undefined;
  column: ChosenColumn | undefined;
  identifier: ChosenIdentifier;
  onSent: (sent: SentFile) => void;
};

/** Sends the chosen column of a file, or the address of a file. */
export function useSendFile({ segment, source, file, head, column, identifier, onSent }: Sending) {
  const { id: workspaceId } = useWorkspace();
  const [readShare, setReadShare] = useState<number>();
  const send = useMutation({
    mutationFn: async (fields: FormData): Promise<SentFile> => {
      const text = (name: string) => String(fields.get(name) ?? '').trim();
      const kind = (segment === undefined ? 'create' : text('kind')) as Kind;
      const operation = {
        workspaceId,
        kind,
        name: segment?.name ?? text('name'),
        attributeName: identifier.attribute,
        attributeType: identifier.type,
        ...(kind === 'create' ? { expiryDays: Number(text('days')) } : {}),
      };
      if (source === 'url') {
        const callback = text('callback') === '' ? {} : { callbackUrl: text('callback') };
        const accepted = await consoleClient.segments.fetchFile({ ...operation, fileUrl: text('url'), ...callback });
        return { ...accepted, identifier, lines: undefined, values: [] };
      }
      const { values, lines, remembered } = await extractColumn({
        file: file!,
        head: head!,
        column: column!.index,
        hasHeader: column!.hasHeader,
        onProgress: setReadShare,
      });
      setReadShare(undefined);
      const accepted = await consoleClient.segments.uploadFile({ ...operation, file: values });
      return { ...accepted, identifier, lines, values: remembered };
    },
    onSuccess: onSent,
    onSettled: () => setReadShare(undefined),
  });
  /** The part of the file that has been read; undefined while none is being read. */
  return { ...send, readShare };
}

import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { consoleClient } from '../../console.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { useWorkspace } from '../../shell/workspace.ts';
import { FileForm } from './file-form.tsx';
import type { ChangedSegment, SentFile } from './use-send-file.ts';
import { FileResult } from './file-result.tsx';

/** A segment of a file, from the choice of the file to what became of each of its lines; or another file for one that is there. */
export function FilePage() {
  const { id: workspaceId } = useWorkspace();
  const { segmentId } = useParams({ strict: false });
  return segmentId === undefined ? (
    <Wizard key={workspaceId} segment={undefined} />
  ) : (
    <Existing key={segmentId} segmentId={segmentId} />
  );
}

function Existing({ segmentId }: { segmentId: string }) {
  const { id: workspaceId } = useWorkspace();
  const segment = useQuery({
    queryKey: ['segment', workspaceId, segmentId],
    queryFn: () => consoleClient.segments.read({ workspaceId, id: segmentId }),
  });
  return (
    <Loaded query={segment}>
      {({ name, attributeName, attributeType, state }) =>
        attributeName === null || attributeType === null || state === 'ARCHIVED' ? (
          <PageHeader
            title={`“${name}” takes no files`}
            about={
              attributeName === null
                ? 'It is defined by filters, or made by a partner.'
                : 'It is archived. Unarchive it first.'
            }
          />
        ) : (
          <Wizard segment={{ name, attributeName, attributeType }} />
        )
      }
    </Loaded>
  );
}

function Wizard({ segment }: { segment: ChangedSegment | undefined }) {
  const [sent, setSent] = useState<SentFile>();
  const title = segment === undefined ? 'New file segment' : `Change “${segment.name}” with a file`;
  return (
    <Stack gap="lg">
      <PageHeader
        title={sent === undefined ? title : sent.segmentName}
        about={
          sent === undefined
            ? 'Everybody named in a file: by user id, email, mobile number or another attribute.'
            : 'What happened to the file.'
        }
      />
      {sent === undefined ? (
        <FileForm segment={segment} onSent={setSent} />
      ) : (
        <FileResult sent={sent} onAgain={() => setSent(undefined)} />
      )}
    </Stack>
  );
}

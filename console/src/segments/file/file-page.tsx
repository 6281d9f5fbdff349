import {
  Stack,
  Button,
  Card,
  Group,
  NativeSelect,
  NumberInput,
  Progress,
  Text,
  TextInput,
  Alert,
  FileInput,
  SegmentedControl,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { consoleClient } from '../../console.ts';
import { Failure } from '../../parts/failure.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { useWorkspace } from '../../shell/workspace.ts';
import { useKnownAttributes } from '../filter/attributes.ts';
import { ColumnFields, IdentifierFields } from './column-fields.tsx';
import type { ChosenColumn, ChosenIdentifier } from './column-fields.tsx';
import { FileResult } from './file-result.tsx';
import { suggestColumn } from './suggest-column.ts';
import { readTableHead } from './table-file.ts';
import { useSendFile } from './use-send-file.ts';
import type { ChangedSegment, SentFile } from './use-send-file.ts';

/** Creates a segment from a file, or changes one by another file, and shows the result of every line. */
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
            title={`“${name}” does not accept files`}
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
            ? 'Everyone listed in a file, by user id, email, mobile number or another attribute.'
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

type FileFormProps = { segment: ChangedSegment | undefined; onSent: (sent: SentFile) => void };

const unchosen: ChosenIdentifier = { attribute: '', type: 'string' };

/** The file, the column that identifies users, and the segment. */
function FileForm({ segment, onSent }: FileFormProps) {
  const [source, setSource] = useState<'upload' | 'url'>('upload');
  const [file, setFile] = useState<File | null>(null);
  const [column, setColumn] = useState<ChosenColumn>();
  const [identifier, setIdentifier] = useState(
    segment ? { attribute: segment.attributeName, type: segment.attributeType } : unchosen,
  );
  const known = useKnownAttributes();
  const head = useQuery({
    queryKey: ['table-head', file?.name, file?.size, file?.lastModified],
    queryFn: () => readTableHead(file!),
    enabled: file !== null,
    gcTime: 0,
  });
  const table = source === 'upload' ? head.data : undefined;
  const chosen = column ?? (table && suggestColumn(table, { known, attribute: segment?.attributeName }));
  const shown = identifier.attribute === '' && chosen ? (chosen.suggestions[chosen.index] ?? identifier) : identifier;
  const send = useSendFile({ segment, source, file, head: table, column: chosen, identifier: shown, onSent });
  const isReady = source === 'url' || chosen !== undefined;
  // The previous check belongs to another file or column.
  const forget = () => segment === undefined && setIdentifier(unchosen);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) send.mutate(new FormData(event.currentTarget));
      }}
    >
      <Stack gap="lg">
        <SourceFields
          source={source}
          file={file}
          error={head.error}
          onSource={setSource}
          onFile={(next) => {
            setFile(next);
            setColumn(undefined);
            forget();
          }}
        />
        {table !== undefined && chosen !== undefined && (
          <ColumnFields
            head={table}
            chosen={chosen}
            identifier={shown}
            onChanged={(next) => {
              setColumn(next);
              if (next.index !== chosen.index) forget();
            }}
          />
        )}
        {isReady && (
          <Card withBorder>
            <Stack gap="sm">
              {segment === undefined ? (
                <NewSegmentFields identifier={shown} onIdentifier={setIdentifier} />
              ) : (
                <ChangeField segment={segment} />
              )}
              {send.error !== null && <Failure error={send.error} what="Not sent" />}
              {send.readShare !== undefined && (
                <Progress
                  value={send.readShare * 100}
                  aria-label="Part of the file that is read"
                  transitionDuration={0}
                />
              )}
              <Group justify="flex-end">
                <Button type="submit" loading={send.isPending} disabled={shown.attribute === ''}>
                  {segment === undefined ? 'Create segment' : 'Change segment'}
                </Button>
              </Group>
            </Stack>
          </Card>
        )}
      </Stack>
    </form>
  );
}

type NewSegmentProps = { identifier: ChosenIdentifier; onIdentifier: (identifier: ChosenIdentifier) => void };

function NewSegmentFields({ identifier, onIdentifier }: NewSegmentProps) {
  return (
    <>
      <IdentifierFields chosen={identifier} onChanged={onIdentifier} />
      <Group align="flex-start">
        <TextInput name="name" label="Segment name" required maxLength={256} miw={280} />
        <NumberInput
          name="days"
          label="Archive after, days"
          defaultValue={30}
          min={1}
          max={3650}
          hideControls
          required
          w={160}
        />
      </Group>
    </>
  );
}

function ChangeField({ segment }: { segment: ChangedSegment }) {
  return (
    <Group align="flex-end">
      <NativeSelect
        name="kind"
        label="Effect"
        data={[
          { value: 'add', label: 'Add the people it names' },
          { value: 'remove', label: 'Remove the people it names' },
          { value: 'replace', label: 'Replace all members with the people it names' },
        ]}
      />
      <Text size="sm" pb={8}>
        {`Values are of ${segment.attributeName} (${segment.attributeType === 'double' ? 'number' : 'text'}).`}
      </Text>
    </Group>
  );
}

type SourceFieldsProps = {
  source: 'upload' | 'url';
  file: File | null;
  error: Error | null;
  onSource: (source: 'upload' | 'url') => void;
  onFile: (file: File | null) => void;
};

/** The source of the file. */
function SourceFields({ source, file, error, onSource, onFile }: SourceFieldsProps) {
  return (
    <Card withBorder>
      <Stack gap="sm">
        <SegmentedControl
          aria-label="Where the file is"
          w="fit-content"
          size="xs"
          transitionDuration={0}
          value={source}
          onChange={(next) => onSource(next as 'upload' | 'url')}
          data={[
            { value: 'upload', label: 'On this computer' },
            { value: 'url', label: 'At a URL' },
          ]}
        />
        {source === 'upload' ? (
          <FileInput
            label="File"
            description="CSV or text, up to 150 MB; other columns stay on this computer"
            placeholder="Choose a file"
            maw={420}
            value={file}
            onChange={onFile}
            accept=".csv,.txt,.tsv,text/csv,text/plain"
            clearable
            clearButtonProps={{ 'aria-label': 'Choose no file' }}
          />
        ) : (
          <Group align="flex-end">
            <TextInput
              name="url"
              label="URL of the file"
              description="One value a line, without a header"
              placeholder="https://…"
              required
              miw={280}
            />
            <TextInput name="callback" label="Callback URL (optional)" placeholder="https://…" miw={240} />
          </Group>
        )}
        {error !== null && source === 'upload' && (
          <Alert color="red" role="alert" title="The file cannot be read">
            {error.message}
          </Alert>
        )}
      </Stack>
    </Card>
  );
}

import { Button, Card, Group, NativeSelect, NumberInput, Progress, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Failure } from '../../parts/failure.tsx';
import { useKnownAttributes } from '../filter/attributes.ts';
import { ColumnFields } from './column-fields.tsx';
import type { ChosenColumn } from './column-fields.tsx';
import { IdentifierFields } from './identifier-fields.tsx';
import type { ChosenIdentifier } from './identifier-fields.tsx';
import { SourceFields } from './source-fields.tsx';
import { suggestColumn } from './suggest-column.ts';
import { readTableHead } from './table-file.ts';
import { useSendFile } from './use-send-file.ts';
import type { ChangedSegment, SentFile } from './use-send-file.ts';

type FileFormProps = { segment: ChangedSegment | undefined; onSent: (sent: SentFile) => void };

const unchosen: ChosenIdentifier = { attribute: '', type: 'string' };

/** The file, the column that names people, and the segment that it makes or changes. */
export function FileForm({ segment, onSent }: FileFormProps) {
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
  // Another file or another column is something else.
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

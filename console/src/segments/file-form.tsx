import { Button, Card, FileInput, Group, NativeSelect, NumberInput, Stack, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { AcceptedUpload } from '../api/generated/segment.ts';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { resetSent } from '../parts/reset-sent.ts';

type Kind = 'create' | 'add' | 'remove' | 'replace';

type FileFormProps = {
  workspaceId: string;
  /** A segment there is: then its file is changed, and name and attribute are known. */
  segment?: { name: string; attributeName: string; attributeType: 'string' | 'double' };
  onAccepted: (accepted: AcceptedUpload) => void;
};

/** A file of one value a line, posted from here or downloaded from an address. */
export function FileForm({ workspaceId, segment, onAccepted }: FileFormProps) {
  const [source, setSource] = useState<'upload' | 'url'>('upload');
  const [file, setFile] = useState<File | null>(null);
  const accept = useMutation({
    mutationFn: (fields: FormData) => {
      const text = (name: string) => String(fields.get(name) ?? '').trim();
      const kind = (segment === undefined ? 'create' : text('kind')) as Kind;
      const operation = {
        workspaceId,
        kind,
        name: segment?.name ?? text('name'),
        attributeName: segment?.attributeName ?? text('attribute'),
        attributeType: segment?.attributeType ?? (text('type') as 'string' | 'double'),
        ...(kind === 'create' ? { expiryDays: Number(text('days')) } : {}),
      };
      if (source === 'upload') return consoleClient.segments.uploadFile({ ...operation, file: file ?? new Blob([]) });
      const callback = text('callback') === '' ? {} : { callbackUrl: text('callback') };
      return consoleClient.segments.fetchFile({ ...operation, fileUrl: text('url'), ...callback });
    },
    onSuccess: onAccepted,
  });
  return (
    <Card withBorder>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const form = event.currentTarget;
          const fields = new FormData(form);
          const onSuccess = () => {
            resetSent(form, fields);
            setFile((shown) => (shown === file ? null : shown));
          };
          accept.mutate(fields, { onSuccess });
        }}
      >
        <Stack>
          <Title order={2} size="h5">
            {segment === undefined ? 'Create a segment from a file' : 'Change the segment with a file'}
          </Title>
          {accept.error !== null && <Failure error={accept.error} />}
          <Group align="flex-end">{segment === undefined ? <NewSegmentFields /> : <ChangeField />}</Group>
          <Group align="flex-end">
            <NativeSelect
              label="The file"
              value={source}
              data={[
                { value: 'upload', label: 'is on this computer' },
                { value: 'url', label: 'is at a URL' },
              ]}
              onChange={(event) => setSource(event.currentTarget.value as 'upload' | 'url')}
            />
            {source === 'upload' ? (
              <FileInput
                label="File, one value a line, up to 150 MB"
                placeholder="Choose a file"
                value={file}
                onChange={setFile}
                accept=".csv,.txt,text/csv,text/plain"
                required
                miw={240}
              />
            ) : (
              <>
                <TextInput name="url" label="URL of the file" placeholder="https://…" required miw={260} />
                <TextInput name="callback" label="Callback URL (optional)" placeholder="https://…" miw={220} />
              </>
            )}
            <Button type="submit" loading={accept.isPending}>
              {segment === undefined ? 'Create segment' : 'Change segment'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}

function NewSegmentFields() {
  return (
    <>
      <TextInput name="name" label="Name" required maxLength={256} />
      <TextInput
        name="attribute"
        label="Attribute the lines are values of"
        placeholder="u_em"
        required
        maxLength={256}
      />
      <NativeSelect name="type" label="Its type" data={['string', 'double']} />
      <NumberInput name="days" label="Archive after, days" defaultValue={30} min={1} max={3650} hideControls required />
    </>
  );
}

function ChangeField() {
  return (
    <NativeSelect
      name="kind"
      label="What the file does"
      data={[
        { value: 'add', label: 'adds the people it names' },
        { value: 'remove', label: 'removes the people it names' },
        { value: 'replace', label: 'replaces all members with the people it names' },
      ]}
    />
  );
}

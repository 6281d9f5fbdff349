import { Alert, Card, FileInput, Group, SegmentedControl, Stack, TextInput } from '@mantine/core';

type SourceFieldsProps = {
  source: 'upload' | 'url';
  file: File | null;
  error: Error | null;
  onSource: (source: 'upload' | 'url') => void;
  onFile: (file: File | null) => void;
};

/** Where the file is. */
export function SourceFields({ source, file, error, onSource, onFile }: SourceFieldsProps) {
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

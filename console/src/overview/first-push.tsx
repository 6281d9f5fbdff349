import { Card, Code, Text, Title } from '@mantine/core';
import { CopyableBlock } from '../parts/copyable.tsx';

/** The command that sends the first push, in place of the chart. */
export function FirstPush({ curl }: { curl: string | undefined }) {
  return (
    <Card withBorder component="section" aria-label="The first push" h="100%">
      <Title order={2} size="h5" mb="sm">
        Nothing sent yet
      </Title>
      <Text size="sm" mb="xs">
        {curl === undefined ? 'Create a push key first:' : 'Paste this into a terminal:'}
      </Text>
      {curl === undefined ? (
        <Code>npm run carillon -- keys create --kind push</Code>
      ) : (
        <CopyableBlock text={curl} label="curl command" />
      )}
    </Card>
  );
}

import { Card, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { CopyableBlock } from './copyable.tsx';

/** The API call that returns the data of this screen. */
export function RequestBehind({ curl, children }: { curl: string; children: ReactNode }) {
  return (
    <Card withBorder>
      <Title order={2} size="h5">
        API equivalent
      </Title>
      <Text size="sm" mb="xs" component="div">
        {children}
      </Text>
      <CopyableBlock text={curl} label="curl command" />
    </Card>
  );
}

type ApiCall = { method?: string; path: string; workspaceId: string; body?: unknown };

/** The call as a curl command. The reader supplies the key. */
export function curlOf({ method, path, workspaceId, body }: ApiCall): string {
  return [
    `KEY='a campaigns key'`,
    [
      `curl ${method === undefined ? '' : `-X ${method} `}${location.origin}${path}`,
      `  -u "${workspaceId}:$KEY"`,
      ...(body === undefined
        ? []
        : [`  -H 'Content-Type: application/json'`, `  -d ${shellQuote(JSON.stringify(body))}`]),
    ].join(' \\\n'),
  ].join('\n');
}

/** Quotes a text as one word of a shell. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

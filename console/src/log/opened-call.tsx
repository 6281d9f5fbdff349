import { Alert, Card, Code, Group, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { CallDetail } from '../api/generated/calls.ts';
import { consoleClient } from '../console.ts';
import { Copyable, CopyableBlock } from '../parts/copyable.tsx';
import { JsonBlock } from '../parts/json-block.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { RouteLink } from '../parts/route-link.tsx';
import { Time } from '../parts/time.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { CallStatus } from './call-status.tsx';
import type { LogSearch } from './log-search.ts';
import { MadeLinks } from './made-links.tsx';
import { replayCurl } from './replay-curl.ts';

/** One call of the API: what was sent, what was answered, and why it was refused. */
export function OpenedCall({ id, closed }: { id: string; closed: LogSearch }) {
  const { id: workspaceId } = useWorkspace();
  const call = useQuery({
    queryKey: ['call', workspaceId, id],
    queryFn: () => consoleClient.calls.read({ workspaceId, id }),
  });
  return (
    <Card withBorder component="section" aria-labelledby="opened-call" style={{ minWidth: 0 }}>
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h5" id="opened-call">
          Call details
        </Title>
        <RouteLink to="/w/$workspaceId/log" params={{ workspaceId }} search={closed} activeProps={{}}>
          Close
        </RouteLink>
      </Group>
      <Loaded query={call}>{(data) => <Detail call={data} workspaceId={workspaceId} />}</Loaded>
    </Card>
  );
}

function Detail({ call, workspaceId }: { call: CallDetail; workspaceId: string }) {
  return (
    <Stack gap="md">
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <CallStatus call={call} />
        <Copyable text={`${call.method} ${call.path}`} label="call" />
      </Group>
      <Text size="sm" component="div">
        <Time at={call.receivedAt} />, answered in {Math.round(call.durationMilliseconds)} ms
        {call.keyName === null ? ', without a valid key' : `, with the key ${call.keyName}`}
      </Text>
      <MadeLinks made={call.made} />
      {call.errorName !== null && (
        <Alert color="red" title={call.errorText ?? 'The call was refused'}>
          <Code>{call.errorName}</Code> {call.errorDetail}
          {call.advice !== null && (
            <Text size="sm" mt="xs">
              What to do: {call.advice}
            </Text>
          )}
        </Alert>
      )}
      {call.warnings.length > 0 && (
        <Alert title="The call succeeded, but">
          {call.warnings.map((warning) => (
            <Text key={warning} size="sm">
              {warning}
            </Text>
          ))}
        </Alert>
      )}
      <Message title="Request" headers={call.requestHeaders}>
        {call.requestBody === null ? (
          <Text size="sm">No body is stored: there was none, or it may have contained a credential.</Text>
        ) : (
          <JsonBlock text={call.requestBody} label="body of the call" />
        )}
      </Message>
      <Message title="Response" headers={call.responseHeaders}>
        {call.responseBody === null ? (
          <Text size="sm">No body is stored: there was none, it was a file, or it held a credential.</Text>
        ) : (
          <JsonBlock text={call.responseBody} label="body of the response" />
        )}
      </Message>
      <Section title="Replay">
        <Text size="sm" mb="xs">
          The same call from a terminal. Keys and signatures are not kept; the command says where yours goes.
        </Text>
        <CopyableBlock
          text={replayCurl(call, { origin: location.origin, workspaceId })}
          label="command that sends the call again"
        />
      </Section>
      <Copyable text={call.id} label="id of the call" />
    </Stack>
  );
}

type MessageProps = { title: string; headers: CallDetail['requestHeaders']; children: ReactNode };

function Message({ title, headers, children }: MessageProps) {
  const names = Object.entries(headers ?? {});
  return (
    <Section title={title}>
      {names.length > 0 && (
        <Table withRowBorders={false} verticalSpacing={2} mb="xs" aria-label={`Headers of the ${title.toLowerCase()}`}>
          <Table.Tbody>
            {names.map(([name, value]) => (
              <Table.Tr key={name}>
                <Table.Th scope="row" style={{ verticalAlign: 'top', paddingInlineStart: 0 }}>
                  {name}
                </Table.Th>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {children}
    </Section>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <Title order={3} size="h5" mb={6}>
        {title}
      </Title>
      {children}
    </section>
  );
}

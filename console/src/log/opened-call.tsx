import { Alert, Card, Code, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { CallDetail } from '../api/generated/call.ts';
import { consoleClient } from '../console.ts';
import { Copyable, CopyableBlock } from '../parts/copyable.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { RouteLink } from '../parts/route-link.tsx';
import { Time } from '../parts/time.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import type { LogSearch } from './log-search.ts';

/** One call of the API: what was sent, and why it was refused. */
export function OpenedCall({ id, closed }: { id: string; closed: LogSearch }) {
  const { id: workspaceId } = useWorkspace();
  const call = useQuery({
    queryKey: ['call', workspaceId, id],
    queryFn: () => consoleClient.calls.read({ workspaceId, id }),
  });
  return (
    <Card withBorder component="section" aria-labelledby="opened-call">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5" id="opened-call">
          Call details
        </Title>
        <RouteLink to="/w/$workspaceId/log" params={{ workspaceId }} search={closed} activeProps={{}}>
          Close
        </RouteLink>
      </Group>
      <Loaded query={call}>{(data) => <Detail call={data} />}</Loaded>
    </Card>
  );
}

function Detail({ call }: { call: CallDetail }) {
  return (
    <Stack gap="sm">
      <Copyable text={`${call.method} ${call.path}`} label="call" />
      <Text size="sm" component="div">
        Answered {call.status} in {Math.round(call.durationMilliseconds)} ms on <Time at={call.receivedAt} />
        {call.keyName === null ? ', without a valid key.' : `, with the key ${call.keyName}.`}
      </Text>
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
      {call.requestBody === null ? (
        <Text size="sm">No body is stored: there was none, or it may have contained a credential.</Text>
      ) : (
        <CopyableBlock text={call.requestBody} label="body of the call" />
      )}
    </Stack>
  );
}

import { Alert, Card, Code, Group, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { CallDetail, MadeObject } from '../api/generated/calls.ts';
import { consoleClient } from '../console.ts';
import { Copyable, CopyableBlock } from '../parts/copyable.tsx';
import { shellQuote } from '../parts/curl.tsx';
import { JsonBlock } from './json-block.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { RouteLink } from '../parts/links.tsx';
import { ToneBadge } from '../parts/status-badge.tsx';
import { Time } from '../parts/text/time.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import type { LogSearch } from './log-search.ts';

/** A call of the API: request, response and the reason of an error. */
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

/** The status of the response. Its tone shows the result, because rejected pushes return 200. */
export function CallStatus({ call: { status, errorName } }: { call: { status: number; errorName: string | null } }) {
  const isDone = errorName === null && status < 400;
  return <ToneBadge tone={isDone ? 'done' : status < 500 ? 'held' : 'failed'}>{String(status)}</ToneBadge>;
}

/** A link to the object that the call created or changed. */
function MadeLinks({ made }: { made: MadeObject[] }) {
  const seesUsers = useMay('people.read');
  const shown = made.filter(({ kind }) => kind !== 'user' || seesUsers);
  if (shown.length === 0) return null;
  return (
    <Group gap="sm">
      <Text size="sm">Leads to</Text>
      {shown.map((object) => (
        <Text key={`${object.kind} ${object.id}`} size="sm">
          <MadeLink made={object} />
        </Text>
      ))}
    </Group>
  );
}

function MadeLink({ made: { kind, id } }: { made: MadeObject }) {
  const { id: workspaceId } = useWorkspace();
  switch (kind) {
    case 'campaign':
      return (
        <RouteLink to="/w/$workspaceId/campaigns/$campaignId" params={{ workspaceId, campaignId: id }}>
          Campaign {id}
        </RouteLink>
      );
    case 'segment':
      return (
        <RouteLink to="/w/$workspaceId/segments/$segmentId" params={{ workspaceId, segmentId: id }}>
          Segment {id}
        </RouteLink>
      );
    case 'user':
      return (
        <RouteLink to="/w/$workspaceId/people" params={{ workspaceId }} search={{ q: id }}>
          User {id}
        </RouteLink>
      );
    default:
      return kind satisfies never;
  }
}

type Replayed = Pick<CallDetail, 'method' | 'path' | 'route' | 'requestHeaders' | 'requestBody'>;

/**
 * Headers that a repeated call must not have: the server would treat it as a retry, or they belong to the first request
 * only.
 */
const ofTheFirst = ['user-agent', 'idempotency-key', 'webhook-id', 'webhook-timestamp'];

/**
 * Formats the call as a shell command. The log does not store credentials, so the command asks for a key and computes
 * the credentials from it, including the signature of a push.
 */
function replayCurl(call: Replayed, { origin, workspaceId }: { origin: string; workspaceId: string }): string {
  const { method, path, route, requestHeaders, requestBody } = call;
  const headers = Object.entries(requestHeaders ?? {}).filter(([name]) => !ofTheFirst.includes(name));
  const isPush = route.endsWith('/sendpush');
  const before: string[] = [];
  const words = [`curl -i -X ${method} ${shellQuote(origin + path)}`];
  for (const [name, value] of headers) {
    if (name === 'authorization') {
      const [kind, word] = authorizationOf(value, workspaceId);
      before.push(kind);
      words.push(`  ${word}`);
    } else if (/pushapi-signature$/.test(name)) {
      words.push(`  -H "${name}: $SIGNATURE"`);
    } else if (!/pushapi-signature-v2$/.test(name)) words.push(`  -H ${shellQuote(`${name}: ${value}`)}`);
  }
  const campaignName = isPush ? memberOf(requestBody, 'campaignName') : undefined;
  if (campaignName !== undefined) {
    before.push(`PUSH_KEY='the push key of the workspace'`);
    const signed = `${workspaceId}|${campaignName}|`;
    before.push(`SIGNATURE=$(printf '%s' ${shellQuote(signed)}"$PUSH_KEY" | sha256sum | cut -d ' ' -f 1)`);
  }
  if (requestBody !== null) words.push(`  --data-raw ${bodyWord(requestBody)}`);
  return [...before, words.join(' \\\n')].join('\n');
}

function authorizationOf(value: string, workspaceId: string): [assignment: string, word: string] {
  if (/^basic /i.test(value)) return [`KEY='a key of the workspace'`, `-u "${workspaceId}:$KEY"`];
  if (/^bearer /i.test(value)) return [`TOKEN='an access token'`, `-H "Authorization: Bearer $TOKEN"`];
  return [`AUTHORIZATION='as it was'`, `-H "Authorization: $AUTHORIZATION"`];
}

/** A v2 signature is part of the body, and the log does not store it. */
function bodyWord(body: string): string {
  const word = shellQuote(body);
  return word.replace('"signature":"[redacted]"', `"signature":"'"$SIGNATURE"'"`);
}

function memberOf(body: string | null, name: string): string | undefined {
  try {
    const value = (JSON.parse(body ?? '') as Record<string, unknown>)[name];
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

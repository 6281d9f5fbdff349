import { Alert, Button, Card, Checkbox, Group, NativeSelect, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { AgentToken, CreatedAgentToken } from '../api/generated/agent-tokens.ts';
import { consoleClient } from '../console.ts';
import { Copyable } from '../parts/copyable.tsx';
import { Failure } from '../parts/failure.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { resetSent } from '../parts/forms/reset-sent.ts';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Ago, Time } from '../parts/text/time.tsx';
import { showToast } from '../parts/toast/toast-list.ts';

const ownKey = ['own-agent-tokens'];
const allKey = ['agent-tokens'];

/** The tokens with which agents act with the rights of the signed-in user. */
export function OwnAgentTokens() {
  const queries = useQueryClient();
  const tokens = useQuery({ queryKey: ownKey, queryFn: () => consoleClient.agents.listOwnTokens() });
  const [made, setMade] = useState<CreatedAgentToken>();
  const renew = () => queries.invalidateQueries({ queryKey: ownKey });
  return (
    <Stack gap="sm" component="section" aria-labelledby="own-agent-tokens">
      <Title order={2} size="h5" id="own-agent-tokens">
        Tokens for agents
      </Title>
      <Text size="sm" maw={640}>
        An agent with a token of yours sees what you see. If you allow it, it also changes drafts and proposes to send
        them. It cannot send: you or a colleague approves each proposal.
      </Text>
      {made && (
        <Alert title="Your new token" role="status">
          <Stack gap="xs">
            <Text size="sm">It is shown only now. Store it where the agent reads it, as CARILLON_AGENT_TOKEN.</Text>
            <Copyable text={made.token} label="token" />
          </Stack>
        </Alert>
      )}
      <Loaded query={tokens}>
        {(rows) =>
          rows.length > 0 && (
            <TokenTable
              label="Your tokens for agents"
              tokens={rows}
              revoke={(id) => consoleClient.agents.revokeOwnToken(id)}
              onRevoked={renew}
            />
          )
        }
      </Loaded>
      <NewTokenForm
        onMade={(token) => {
          setMade(token);
          void renew();
        }}
      />
    </Stack>
  );
}

/** The tokens of all accounts, for owners, who may end them. */
export function AllAgentTokens() {
  const queries = useQueryClient();
  const tokens = useQuery({ queryKey: allKey, queryFn: () => consoleClient.agents.listTokens() });
  return (
    <Loaded query={tokens}>
      {(rows) =>
        rows.length > 0 && (
          <Stack gap="sm" component="section" aria-labelledby="all-agent-tokens">
            <Title order={2} size="h5" id="all-agent-tokens">
              Tokens for agents
            </Title>
            <TokenTable
              label="Tokens for agents of all accounts"
              tokens={rows}
              isOfEveryone
              revoke={(id) => consoleClient.agents.revokeToken(id)}
              onRevoked={() => queries.invalidateQueries({ queryKey: allKey })}
            />
          </Stack>
        )
      }
    </Loaded>
  );
}

type TokenTableProps = {
  label: string;
  tokens: AgentToken[];
  isOfEveryone?: true;
  revoke: (id: string) => Promise<unknown>;
  onRevoked: () => Promise<unknown>;
};

function TokenTable({ label, tokens, isOfEveryone, revoke, onRevoked }: TokenTableProps) {
  const owner = { key: 'owner', title: 'Account', cell: ({ email }: AgentToken) => email ?? 'Owner of the sandbox' };
  return (
    <DataTable
      label={label}
      minWidth={720}
      rows={tokens}
      keyOf={({ id }) => id}
      columns={[
        { key: 'name', title: 'Name', cell: ({ name }) => name },
        ...(isOfEveryone ? [owner] : []),
        { key: 'may', title: 'May', cell: ({ mayPropose }) => (mayPropose ? 'Read and propose' : 'Read') },
        {
          key: 'used',
          title: 'Last used',
          cell: ({ usedAt }) => (usedAt === null ? 'Never' : <Ago at={usedAt} clock="real" />),
        },
        { key: 'expires', title: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
        {
          key: 'end',
          title: 'Actions',
          cell: ({ id, name }) => (
            <ConfirmButton
              label="Revoke"
              size="compact-xs"
              ariaLabel={`Revoke token ${name}`}
              title={`Revoke “${name}”?`}
              hits="The agent is rejected from its next call on, and what it proposed is withdrawn."
              onConfirmed={async () => {
                await revoke(id);
                await onRevoked();
                showToast({ text: `“${name}” is revoked` });
              }}
            />
          ),
        },
      ]}
    />
  );
}

const lifetimes = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'One year' },
];

function NewTokenForm({ onMade }: { onMade: (made: CreatedAgentToken) => void }) {
  const create = useMutation({
    mutationFn: (fields: FormData) =>
      consoleClient.agents.createToken({
        name: String(fields.get('name')),
        days: Number(fields.get('days')),
        mayPropose: fields.get('mayPropose') !== null,
      }),
    onSuccess: onMade,
  });
  return (
    <Card withBorder maw={640}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const form = event.currentTarget;
          const fields = new FormData(form);
          create.mutate(fields, { onSuccess: () => resetSent(form, fields) });
        }}
      >
        <Stack gap="sm">
          {create.error !== null && <Failure error={create.error} what="No token created" />}
          <Group align="end" grow>
            <TextInput name="name" label="Name" placeholder="Claude on my laptop" required maxLength={100} />
            <NativeSelect name="days" label="Valid for" data={lifetimes} defaultValue="30" />
          </Group>
          <Checkbox name="mayPropose" label="May change drafts and propose to send them" />
          <Group>
            <Button type="submit" loading={create.isPending}>
              Create token
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}

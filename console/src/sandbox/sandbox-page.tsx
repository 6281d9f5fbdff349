import { Group, Stack, Text, Button, Title, NativeSelect, NumberInput } from '@mantine/core';
import { useQuery, useQueryClient, useMutation } from '@tanstack/react-query';
import { providers } from '../api/generated/providers.ts';
import type { SandboxState } from '../api/generated/sandbox.ts';
import type { ClockMove, Fault } from '../api/sandbox.ts';
import { consoleClient } from '../console.ts';
import { Emails } from '../log/emails.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Failure } from '../parts/failure.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { platformNames } from '../parts/text/platform-names.ts';
import { Time } from '../parts/text/time.tsx';
import { useSession } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { Phones } from './phones.tsx';

/** Plays the phone, moves the clock, and makes providers fail. */
export function SandboxPage() {
  const { isSandbox } = useSession();
  return isSandbox ? <Sandbox /> : <EmptyState title="This installation is not a sandbox" />;
}

function Sandbox() {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const state = useQuery({
    queryKey: ['sandbox'],
    queryFn: () => consoleClient.sandbox.read(),
    refetchInterval: 2000,
  });
  const onState = (next: SandboxState) => {
    queries.setQueryData(['sandbox'], next);
    void queries.invalidateQueries({ queryKey: ['inbox', workspaceId] });
  };
  return (
    <Stack gap="lg">
      <PageHeader
        about="Nothing here is real: messages go to simulated providers and devices."
        actions={
          <Group gap="sm">
            <ConfirmButton
              label="Reset to seed"
              title="Reset to the seed?"
              hits={
                <Text size="sm">
                  The demo workspace returns to its first state: the same people, devices and keys with the same ids,
                  and nothing else. Running sends are stopped. The keys printed at the start keep working; other
                  workspaces are not changed.
                </Text>
              }
              onConfirmed={async () => {
                onState(await consoleClient.sandbox.reset());
                // Refetches everything except 'opened', whose one-time start link has been used.
                await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'opened' });
              }}
            />
            <ConfirmButton
              label="Start from empty"
              title="Start from empty?"
              hits={
                <Text size="sm">
                  All messages on the phones of all workspaces, the provider counters and the faults are deleted.
                  People, segments and campaigns are kept.
                </Text>
              }
              onConfirmed={async () => onState(await consoleClient.sandbox.empty())}
            />
          </Group>
        }
      />
      <Loaded query={state}>
        {(data) => (
          <>
            <ClockControl clock={data.clock} onState={onState} />
            <FaultForm state={data} onState={onState} />
            <Counters counters={data.counters} />
          </>
        )}
      </Loaded>
      <Phones workspaceId={workspaceId} />
      <KeptEmails />
    </Stack>
  );
}

const clockMoves = [
  { label: '1 minute', advanceSeconds: 60 },
  { label: '15 minutes', advanceSeconds: 900 },
  { label: '1 hour', advanceSeconds: 3_600 },
  { label: '1 day', advanceSeconds: 86_400 },
  { label: '30 days', advanceSeconds: 30 * 86_400 },
];

type ClockControlProps = { clock: SandboxState['clock']; onState: (state: SandboxState) => void };

/** Tokens, schedules, expiry and limits use this clock. */
function ClockControl({ clock, onState }: ClockControlProps) {
  const move = useMutation({
    mutationFn: (by: ClockMove) => consoleClient.sandbox.moveClock(by),
    onSuccess: onState,
  });
  const isMoving = move.isPending || clock.advancing !== null;
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Clock
      </Title>
      <Text size="sm" component="div" mb="xs">
        <Time at={clock.now} />, {clockDistance(clock)}
      </Text>
      {clock.advancing !== null && (
        <Text size="sm" role="status" mb="xs">
          Moving: {clockDuration(clock.advancing.remainingSeconds)} left, {clock.advancing.stops} stops so far. It stops
          wherever something is due and lets it happen.
        </Text>
      )}
      {move.error !== null && <Failure error={move.error} />}
      <Group gap="xs">
        {clockMoves.map(({ label, advanceSeconds }) => (
          <Button
            key={label}
            size="xs"
            variant="default"
            disabled={isMoving}
            onClick={() => move.mutate({ advanceSeconds })}
          >
            + {label}
          </Button>
        ))}
        <Button
          size="xs"
          variant="default"
          disabled={isMoving}
          onClick={() => move.mutate(clock.isFrozen ? { resume: true } : { freeze: true })}
        >
          {clock.isFrozen ? 'Unfreeze' : 'Freeze'}
        </Button>
        <Button
          size="xs"
          variant="default"
          disabled={clock.offsetSeconds === 0 && !clock.isFrozen}
          onClick={() => move.mutate({ reset: true })}
        >
          Use real time
        </Button>
      </Group>
    </section>
  );
}

function clockDistance({ offsetSeconds, isFrozen }: SandboxState['clock']): string {
  if (isFrozen) return 'frozen: work becomes due only when the clock is moved';
  if (offsetSeconds === 0) return 'real time';
  return `${clockDuration(Math.abs(offsetSeconds))} ${offsetSeconds > 0 ? 'ahead of' : 'behind'} real time`;
}

function clockDuration(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3_600);
  const minutes = Math.round((seconds % 3_600) / 60);
  return [days > 0 && `${days} d`, hours > 0 && `${hours} h`, `${minutes} min`].filter(Boolean).join(' ');
}

const faultProviders = Object.entries(providers).map(([value, { inLists }]) => ({ value, label: inLists }));

const faults = {
  busy: { name: 'Answers 503, retry in 5 s', fault: { status: 503, headers: { 'retry-after': '5' } } },
  limited: { name: 'Answers 429, retry in 5 s', fault: { status: 429, headers: { 'retry-after': '5' } } },
  broken: { name: 'Answers 500', fault: { status: 500 } },
  reset: { name: 'Breaks the connection', fault: { reset: true } },
  slow: { name: 'Takes 3 seconds', fault: { delayMilliseconds: 3000 } },
} satisfies Record<string, { name: string; fault: Fault }>;

type FaultName = keyof typeof faults;

/** Makes a simulated provider fail. A new fault replaces the current ones. */
function FaultForm({ state, onState }: { state: SandboxState; onState: (state: SandboxState) => void }) {
  const set = useMutation({ mutationFn: consoleClient.sandbox.setFaults, onSuccess: onState });
  const active = Object.entries(state.faults).flatMap(([of, list]) => list.map((fault) => describeFault(of, fault)));
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Faults
      </Title>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const fields = new FormData(event.currentTarget);
          const { fault } = faults[String(fields.get('fault')) as FaultName];
          const count = Number(fields.get('count'));
          set.mutate({ [String(fields.get('provider'))]: count > 0 ? { ...fault, count } : fault });
        }}
      >
        <Group align="end" gap="sm">
          <NativeSelect name="provider" label="Provider" data={faultProviders} />
          <NativeSelect
            name="fault"
            label="Fault"
            data={Object.entries(faults).map(([value, { name }]) => ({ value, label: name }))}
          />
          <NumberInput name="count" label="Times (0: always)" min={0} max={1_000_000} defaultValue={1} w={170} />
          <Button type="submit" loading={set.isPending}>
            Set fault
          </Button>
          <Button variant="default" disabled={set.isPending} onClick={() => set.mutate({})}>
            End all faults
          </Button>
        </Group>
      </form>
      {set.error !== null && <Failure error={set.error} />}
      <Text size="sm" mt="xs" role="status">
        {active.length === 0 ? 'No fault is set.' : 'These faults are set:'}
      </Text>
      {active.length > 0 && (
        <Text size="sm" component="ul" my={4} pl="lg">
          {active.map((words, index) => (
            <li key={index}>{words}</li>
          ))}
        </Text>
      )}
    </section>
  );
}

/** Describes a fault that may still apply: "FCM (Android) answers 503, 2 more times". */
function describeFault(of: string, fault: SandboxState['faults']['api'][number]): string {
  const who = of === 'api' ? 'The API' : providers[of as keyof typeof providers].inLists;
  const what = [
    fault.delayMilliseconds === undefined ? '' : `takes ${fault.delayMilliseconds / 1000} s`,
    fault.reset === true ? 'breaks the connection' : '',
    fault.status === undefined ? '' : `answers ${fault.status}`,
    fault.answer === undefined ? '' : `answers “${fault.answer}”`,
  ].filter((words) => words !== '');
  const times = fault.count === undefined ? '' : `, ${fault.count} more ${fault.count === 1 ? 'time' : 'times'}`;
  const where = fault.route === undefined ? '' : ` on ${fault.route}`;
  const which = fault.device === undefined ? '' : ` for devices that begin with ${fault.device}`;
  return `${who} ${what.join(' and ') || 'fails'}${where}${which}${times}.`;
}

const simulated = Object.values(providers);
type Simulated = (typeof simulated)[number];

/** The platform of a simulated provider, and its name if another one has the same platform. */
function nameOf({ platform, short }: Simulated): string {
  const isOnly = simulated.filter((other) => other.platform === platform).length === 1;
  return isOnly ? platformNames[platform] : `${platformNames[platform]} (${short})`;
}

/** Counts of the simulated providers since the start or the last reset. */
function Counters({ counters }: { counters: SandboxState['counters'] }) {
  const column = (title: string, of: 'received' | 'accepted' | 'refused') => ({
    key: of,
    title,
    isNumber: true,
    cell: ({ counter }: Simulated) => (counters[counter]?.[of] ?? 0).toLocaleString('en'),
  });
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Provider counters
      </Title>
      <DataTable
        label="Provider counters"
        minWidth={340}
        rows={simulated}
        keyOf={({ counter }) => counter}
        columns={[
          { key: 'platform', title: 'Platform', cell: nameOf },
          column('Requests', 'received'),
          column('Accepted', 'accepted'),
          column('Refused', 'refused'),
        ]}
      />
    </section>
  );
}

/** Emails are stored and not sent if no mail server is configured. */
function KeptEmails() {
  const { id: workspaceId } = useWorkspace();
  const emails = useQuery({
    queryKey: ['mails', workspaceId],
    queryFn: () => consoleClient.messages.listEmails({ workspaceId }),
    refetchInterval: 5000,
  });
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Kept emails
      </Title>
      <Loaded query={emails}>{({ emails: all }) => <Emails emails={all} />}</Loaded>
    </section>
  );
}

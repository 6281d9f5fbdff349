import { Button, Group, NativeSelect, NumberInput, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { Fault } from '../api/sandbox.ts';
import type { SandboxState } from '../api/generated/sandbox.ts';
import type { ProviderName } from '../api/generated/overview.ts';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';

const providers: { value: ProviderName; label: string }[] = [
  { value: 'fcm', label: 'FCM (Android)' },
  { value: 'apns', label: 'APNs (iOS)' },
  { value: 'webpush', label: 'Web Push' },
  { value: 'hms', label: 'Huawei Push Kit (Android)' },
];

const faults = {
  busy: { name: 'Answers 503, retry in 5 s', fault: { status: 503, headers: { 'retry-after': '5' } } },
  limited: { name: 'Answers 429, retry in 5 s', fault: { status: 429, headers: { 'retry-after': '5' } } },
  broken: { name: 'Answers 500', fault: { status: 500 } },
  reset: { name: 'Breaks the connection', fault: { reset: true } },
  slow: { name: 'Takes 3 seconds', fault: { delayMilliseconds: 3000 } },
} satisfies Record<string, { name: string; fault: Fault }>;

type FaultName = keyof typeof faults;

/** Makes a simulated provider fail. A new fault takes the place of those that are set. */
export function FaultForm({ onState }: { onState: (state: SandboxState) => void }) {
  const set = useMutation({ mutationFn: consoleClient.sandbox.setFaults, onSuccess: onState });
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
          <NativeSelect name="provider" label="Provider" data={providers} />
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
        {set.data !== undefined && (Object.keys(set.variables).length === 0 ? 'All faults ended.' : 'Fault set.')}
      </Text>
    </section>
  );
}

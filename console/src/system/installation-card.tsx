import type { SystemState } from '../api/generated/system.ts';
import { formatBytes } from '../parts/format-bytes.ts';
import { formatDuration } from '../parts/format-duration.ts';
import { FactCard } from './fact-card.tsx';

const roleNames: Record<string, string> = { all: 'API and sending', api: 'API', worker: 'Sending' };

/** The node that answers this page. */
export function InstallationCard({ state }: { state: SystemState }) {
  const { version, mode, role, machine, changedSettings, clockOffsetSeconds } = state;
  const { disk } = machine;
  return (
    <FactCard
      title="This node"
      facts={[
        ['Carillon', version],
        ['Mode', mode === 'sandbox' ? 'Sandbox' : 'Production'],
        ['Role', roleNames[role] ?? role],
        ['Uptime', formatDuration(machine.uptimeSeconds * 1000)],
        ['Runtime', `${machine.runtime}, ${machine.platform}`],
        ['Memory', formatBytes(machine.memoryBytes)],
        ['Database disk', disk ? `${formatBytes(disk.freeBytes)} of ${formatBytes(disk.totalBytes)} free` : undefined],
        ['Clock offset', clockOffsetSeconds === 0 ? undefined : formatDuration(Math.abs(clockOffsetSeconds) * 1000)],
        ['Settings changed', changedSettings.length === 0 ? 'None' : changedSettings.join(', ')],
      ]}
    />
  );
}

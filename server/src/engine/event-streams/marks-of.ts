import { controlGroups } from '../../domain/experiments/control-groups.ts';
import type { StreamedKind } from '../../domain/event-streams/streamed-event.ts';
import type { LedgerMark } from '../../storage/event-streams/stream-marks.ts';

type Stored = { delivery: { bucket: number; outcome: string; code: string | null } };

/** What streams are told of rows of one run that are stored at one time: nothing, where none of them is an event. */
export function marksOf(run: { id: string; workspaceId: string }, stored: readonly Stored[]): LedgerMark[] {
  const buckets = new Set<number>();
  const kinds = new Set<StreamedKind>();
  let events = 0;
  for (const { delivery } of stored) {
    const kind = kindOf(delivery);
    if (kind === undefined) continue;
    kinds.add(kind);
    buckets.add(delivery.bucket);
    events += 1;
  }
  if (events === 0) return [];
  return [{ workspaceId: run.workspaceId, runId: run.id, buckets: [...buckets], kinds: [...kinds], events }];
}

function kindOf({ outcome, code }: Stored['delivery']): StreamedKind | undefined {
  if (outcome === 'ACCEPTED') return 'delivered';
  return outcome === 'WITHHELD' && controlGroups.some((group) => group === code) ? 'control_group' : undefined;
}

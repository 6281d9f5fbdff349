import type { LearnedRow } from '../../storage/runs/run-variations.ts';
import type { Delivery } from '../../storage/ledger/deliveries.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';

/** What a run that learns has tried: each message that a provider accepted. Nothing of any other run. */
export function trialsOf(
  { id: runId, workspaceId, variants }: Pick<RunToSend, 'id' | 'workspaceId' | 'variants'>,
  deliveries: readonly Pick<Delivery, 'bucket' | 'outcome' | 'variant'>[],
): LearnedRow[] {
  if (!variants?.learning) return [];
  return deliveries.flatMap(({ bucket, outcome, variant }) =>
    outcome === 'ACCEPTED' && variant
      ? [{ workspaceId, runId, bucket, variation: variant.variation, trials: 1, successes: 0 }]
      : [],
  );
}

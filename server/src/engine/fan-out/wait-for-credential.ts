import type { CredentialsOfApps } from '../../domain/apps/credentials-of-apps.ts';
import { deliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import { reachesOthers } from '../../domain/delivery/refusal.ts';
import type { ToldRefusal } from '../../domain/delivery/refusal.ts';
import type { Transaction } from '../../storage/database.ts';
import { keepRefusals, noteRefusals, showRefusals } from '../../storage/runs/run-refusals.ts';
import { pauseRun } from '../../storage/runs/run-states.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import type { DeviceResult } from './device-result.ts';
import { settleAs } from './settle-outcome.ts';
import type { Attempt } from './settle-outcome.ts';

type Refused = { refusal: ToldRefusal; by: 'the provider' | 'what is known' };

/**
 * The result of a device whose credential is refused. It waits until its message is over, or until the credential is another or
 * somebody resumes the campaign; no attempt is counted, since none of them says anything of the device.
 */
export function waitForCredential(
  { device, attempt, run }: Omit<Attempt, 'run'> & { run: Pick<RunToSend, 'sendUntil'> },
  refused: Refused,
): DeviceResult {
  const { words } = refused.refusal;
  const code = words.slice(0, words.indexOf(':'));
  const waiting = settleAs({ device, attempt }, 'WAITING', code, { retryAt: run.sendUntil, attempts: attempt - 1 });
  return { ...waiting, refused: { ...refused, reaches: 'others' } };
}

type Sent = { run: RunToSend; credentialsOf: CredentialsOfApps };

/** Says whether anybody else of the run can be reached, in each result of a device that waits for a credential. */
export function tellReach(results: DeviceResult[], { run, credentialsOf }: Sent): DeviceResult[] {
  const refusals = new Map<string, ToldRefusal>();
  for (const { refused } of results) {
    if (!refused) continue;
    const { provider, appId, version, platform, evidenceKey } = refused.refusal;
    refusals.set([provider, appId, version, platform, evidenceKey].join(' '), refused.refusal);
  }
  if (refusals.size === 0) return results;
  const { workspaceId, platforms, settings } = run;
  const refusedOf = {
    workspaceId,
    platforms,
    appIds: deliverySettings(settings).appIds,
    refusals: [...run.refusals, ...refusals.values()],
  };
  if (reachesOthers(refusedOf, credentialsOf)) return results;
  return results.map((result) =>
    result.refused ? { ...result, refused: { ...result.refused, reaches: 'nobody' } } : result,
  );
}

type Storing = { run: Pick<RunToSend, 'id' | 'workspaceId'>; results: DeviceResult[]; at: Date };

/**
 * Notes the refusals of a window, before its deliveries. What was not asked because a refusal was known, and which somebody
 * has forgotten meanwhile, is due at once.
 *
 * @returns the results as they are to be stored
 */
export async function keepWaiting(tx: Transaction, { run, results, at }: Storing): Promise<DeviceResult[]> {
  const refusals = results.flatMap(({ refused }) => (refused?.by === 'the provider' ? [refused.refusal] : []));
  if (refusals.length > 0) {
    const { id: runId, workspaceId } = run;
    await noteRefusals(tx, { runId, workspaceId, refusals, at });
  }
  if (!results.some(({ refused }) => refused?.by === 'what is known')) return results;
  const kept = await keepRefusals(tx, run.id);
  return results.map((result) => {
    if (!result.refused) return result;
    const { provider, appId, version, platform, evidenceKey } = result.refused.refusal;
    const isKept = kept.some(
      (one) =>
        one.provider === provider &&
        one.appId === appId &&
        one.version === version &&
        one.platform === platform &&
        one.evidenceKey === evidenceKey,
    );
    return isKept ? result : { delivery: { ...result.delivery, retryAt: at } };
  });
}

/** Pauses the run where nobody can be reached any more; else it says what it waits for, and goes on. After its deliveries. */
export async function tellRun(tx: Transaction, { run: { id }, results }: Omit<Storing, 'at'>): Promise<void> {
  const last = results.find(({ refused }) => refused?.reaches === 'nobody');
  const reason = last?.refused?.refusal.words;
  if (last && reason !== undefined) await pauseRun(tx, { id, reason, platform: last.delivery.platform });
  else if (results.some(({ refused }) => refused?.by === 'the provider')) await showRefusals(tx, id);
}

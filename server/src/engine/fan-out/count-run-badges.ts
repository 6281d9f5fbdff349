import type { OwnContent } from '../../domain/campaigns/content-texts.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import { badgeOf } from '../../domain/content-options/badge-of.ts';
import type { BadgeSetting } from '../../domain/content-options/content-options.ts';
import { inTransaction, planByValues } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { countBadges } from '../../storage/devices/device-badges.ts';
import type { BadgeStep } from '../../storage/devices/device-badges.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import type { Recipient } from './personalise-devices.ts';

/**
 * The recipients with the numbers on their icons, counted before anything is sent: a crash may leave one counted that was
 * never sent, and the app's next report corrects it. A run whose content has no badge makes no query.
 */
export async function countRunBadges<Device extends Recipient>(
  database: Database,
  { run, recipients }: { run: RunToSend; recipients: readonly Device[] },
): Promise<readonly (Device & Recipient)[]> {
  if (!hasBadge(run)) return recipients;
  const steps: BadgeStep[] = [];
  const cleared = new Set<string>();
  for (const recipient of recipients) {
    const badge = badgeOf(contentOf(run, recipient));
    if (badge === undefined) continue;
    if (badge.operation === 'clear') cleared.add(recipient.id);
    const value = badge.operation === 'clear' ? 0 : badge.value;
    const { bucket, id: deviceId } = recipient;
    steps.push({ bucket, deviceId, adds: badge.operation === 'increment', value });
  }
  if (steps.length === 0) return recipients;
  // One order in every transaction, so that two of them never wait for each other in a circle.
  steps.sort((one, other) => one.bucket - other.bucket || (one.deviceId < other.deviceId ? -1 : 1));
  const { workspaceId, number: runNumber } = run;
  const counted = await inTransaction(database, async (tx) => {
    await planByValues(tx);
    return countBadges(tx, { workspaceId, runNumber, steps });
  });
  return recipients.map((recipient) => {
    const value = counted.get(recipient.id);
    if (value === undefined) return recipient;
    const badge: BadgeSetting = cleared.has(recipient.id) ? { operation: 'clear' } : { operation: 'set', value };
    return { ...recipient, badge };
  });
}

function hasBadge({ content }: RunToSend): boolean {
  return Object.values(content).some((own) => badgeOf(own) !== undefined || badgeOf(own.fallback) !== undefined);
}

/** What will be shown: the fallback has a badge of its own. */
function contentOf(run: RunToSend, { platform, personal }: Recipient): OwnContent[Platform] | undefined {
  if (personal) return 'content' in personal ? personal.content : undefined;
  // It is the same in all languages.
  return run.content[platform];
}

import type { AndroidPayload } from '../../domain/campaigns/android-payload.ts';
import type { IosOptions } from '../../domain/content-options/content-options.ts';
import { lostInMode } from '../../domain/campaigns/lost-in-mode.ts';
import type { PushCommand } from '../../domain/push/push-command.ts';

/** What a push asks for and a phone may not show: accepted, and told. */
export function presentContentWarnings(
  { content, settings }: Pick<PushCommand, 'content' | 'settings'>,
  payload: AndroidPayload,
): string[] {
  const { ANDROID, IOS } = content;
  // A silent message is data in every mode.
  const mode = settings.isSilent ? 'data' : (ANDROID?.options?.deliveryMode ?? payload.mode);
  return [
    ...(ANDROID ? lostInMode(ANDROID, mode) : []).map(
      ({ field }) => `payload.ANDROID.${field} is not shown in mode ${mode} while the app is in the background`,
    ),
    ...warnOfEntitlements(IOS?.options),
  ];
}

/** Apple ignores these for an app that it did not grant them, and nobody but its owner knows. */
function warnOfEntitlements(options: IosOptions = {}): string[] {
  const warnings: string[] = [];
  if (options.filterCriteria !== undefined)
    warnings.push('payload.IOS.options.filterCriteria needs an app with Focus filters');
  if (options.interruptionLevel === 'time-sensitive' || options.interruptionLevel === 'critical')
    warnings.push(`payload.IOS.options.interruptionLevel ${options.interruptionLevel} needs an entitlement of the app`);
  return warnings;
}

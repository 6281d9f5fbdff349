import type { App } from '../../domain/apps/app.ts';
import type { AndroidPayload } from '../../domain/campaigns/android-payload.ts';
import type { IosOptions } from '../../domain/content-options/content-options.ts';
import { lostInApps } from '../../domain/campaigns/lost-in-mode.ts';
import type { LostInApps } from '../../domain/campaigns/lost-in-mode.ts';
import type { PushCommand } from '../../domain/push/push-command.ts';

/** What a push asks for and a phone may not show: accepted, and told. */
export function presentContentWarnings(
  { content, settings }: Pick<PushCommand, 'content' | 'settings'>,
  { payload, apps }: { payload: AndroidPayload; apps: readonly App[] },
): string[] {
  const { ANDROID, IOS } = content;
  return [
    ...(ANDROID ? lostInApps(ANDROID, { mode: payload.mode, apps, settings }) : []).flatMap(warnOfLost),
    ...warnOfEntitlements(IOS?.options),
  ];
}

function warnOfLost({ mode, apps, lost }: LostInApps): string[] {
  const which = apps.length === 0 ? 'the app' : `app ${apps.join(' or ')}`;
  return lost.map(
    ({ field }) => `payload.ANDROID.${field} is not shown in mode ${mode} while ${which} is in the background`,
  );
}

/** Apple ignores these for an app that it did not grant them, and nobody but its owner knows. */
function warnOfEntitlements(options: IosOptions = {}): string[] {
  const warnings: string[] = [];
  if (options.filterCriteria !== undefined)
    warnings.push('payload.IOS.options.filterCriteria needs an app with Focus filters');
  if (options.interruptionLevel === 'time-sensitive' || options.interruptionLevel === 'critical')
    warnings.push(`payload.IOS.options.interruptionLevel ${options.interruptionLevel} needs an entitlement of the app`);
  if (options.sound && 'critical' in options.sound)
    warnings.push(
      'payload.IOS.options.sound.critical needs an entitlement of the app; apps without critical alerts play a plain sound',
    );
  return warnings;
}

import type { Platform } from '../../domain/campaign/content.ts';

/**
 * Holds back what a provider asked to wait for: a 429 on a credential silences that credential, not one device and not
 * the other providers (faults F4).
 */
export type Governor = {
  pausedUntil(workspaceId: string, platform: Platform): Date | undefined;
  /** Extends the silence; a shorter one never ends a longer one. */
  pause(workspaceId: string, platform: Platform, until: Date): void;
};

/** One entry per workspace and platform that was ever paused; the oldest go when there are too many. */
const mostEntries = 10_000;

export function makeGovernor(): Governor {
  const pauses = new Map<string, Date>();
  const keyOf = (workspaceId: string, platform: Platform) => `${platform}:${workspaceId}`;
  return {
    pausedUntil: (workspaceId, platform) => pauses.get(keyOf(workspaceId, platform)),
    pause(workspaceId, platform, until) {
      const key = keyOf(workspaceId, platform);
      const current = pauses.get(key);
      if (current && current >= until) return;
      pauses.delete(key);
      pauses.set(key, until);
      if (pauses.size > mostEntries) pauses.delete(pauses.keys().next().value!);
    },
  };
}

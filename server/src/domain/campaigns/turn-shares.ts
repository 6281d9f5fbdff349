/** A test workspace has the id of its live workspace with this suffix. */
export const testSuffix = '_DEBUG';

/** Returns the workspace with which a workspace shares its turns in sending: a test workspace shares those of its live one. */
export function turnShareOf(workspaceId: string): string {
  return workspaceId.endsWith(testSuffix) ? workspaceId.slice(0, -testSuffix.length) : workspaceId;
}

/** Returns the number of slots that one share may use at the same time: never none. */
export function slotsOfShare({ slots, percent }: { slots: number; percent: number }): number {
  return Math.max(1, Math.floor((slots * percent) / 100));
}

import type { Platform } from '../content/content.ts';
import type { ControlGroup } from './control-groups.ts';

/** Number of users of a run with a device on a platform, for one control group or (null) one variation. */
export type GroupUsers = {
  platform: Platform;
  group: ControlGroup | null;
  /** Null if there is only one variation, and for control groups. */
  variation: number | null;
  users: number;
};

/**
 * Groups a run's users under one variation, or under null if the variations were not known beforehand, as in a run that learns.
 */
export function regroupUsers(groupUsers: readonly GroupUsers[], variation: number | null): GroupUsers[] {
  const controls = groupUsers.filter(({ group }) => group !== null);
  const treated = Map.groupBy(
    groupUsers.filter(({ group }) => group === null),
    ({ platform }) => platform,
  );
  const sums = [...treated].map(([platform, own]) => {
    const users = own.reduce((sum, row) => sum + row.users, 0);
    return { platform, group: null, variation, users };
  });
  return [...sums, ...controls];
}

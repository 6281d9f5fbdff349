import { documentedSegmentLimits } from '../app/segments/segment-dependencies.ts';
import type { SegmentDependencies } from '../app/segments/segment-dependencies.ts';
import type { CommandContext } from './command-context.ts';

/** What the use cases of segments need, over the database of a command. */
export function composeSegments(context: CommandContext): SegmentDependencies {
  const { database, clock, encryption, segmentUsersPerDay } = context;
  const limits = { ...documentedSegmentLimits, usersPerDay: segmentUsersPerDay };
  return { database, clock, encryption, limits };
}

import type { ConsoleUsers, UserHit } from '../../app/console/console-users.ts';

type TimelineEntry = Awaited<ReturnType<ConsoleUsers['listTimeline']>>['entries'][number];
type TestUser = Awaited<ReturnType<ConsoleUsers['listForTests']>>[number];

export function presentFoundUser({ userId, bucket: _bucket, ...hit }: UserHit) {
  return { id: userId, ...hit };
}

/** A person with everything the screen shows. Dates become their ISO text when the answer is written. */
export function presentUser({ user, erasure, ...parts }: Awaited<ReturnType<ConsoleUsers['read']>>) {
  const { bucket: _bucket, userId, ...record } = user;
  return { user: { id: userId, ...record, ...parts, erasure: erasure ? presentErasure(erasure) : null } };
}

export function presentErasure({ id, requestedAt, dueAt }: Awaited<ReturnType<ConsoleUsers['erase']>>) {
  return { id, requestedAt, dueAt };
}

export function presentTestUser({ userId, bucket: _bucket, ...user }: TestUser) {
  return { id: userId, ...user };
}

export function presentTimelineEntry({ place: _place, ...occurrence }: TimelineEntry) {
  return occurrence;
}

/** A text for the address; parsePlace of the routes reads it. */
export function presentPlace({ place, key }: TimelineEntry): string {
  return `${place}~${key}`;
}

import { suspicionHours, suspicionSends } from '../../domain/devices/suspicion.ts';
import type { ToldSuspicion } from '../../domain/devices/suspicion.ts';
import type { ConsoleUsers, UserHit } from '../../app/console/console-users.ts';

type TimelineEntry = Awaited<ReturnType<ConsoleUsers['listTimeline']>>['entries'][number];
type SuspectedDevices = Awaited<ReturnType<ConsoleUsers['listSuspectedDevices']>>;
type TestUser = Awaited<ReturnType<ConsoleUsers['listForTests']>>[number];

export function presentFoundUser({ userId, bucket: _bucket, ...hit }: UserHit) {
  return { id: userId, ...hit };
}

/** A person with everything the screen shows. Dates become their ISO text when the answer is written. */
export function presentUser({ user, devices, erasure, ...parts }: Awaited<ReturnType<ConsoleUsers['read']>>) {
  const { bucket: _bucket, userId, ...record } = user;
  return {
    user: {
      id: userId,
      ...record,
      ...parts,
      devices: devices.map(({ suspicion, ...device }) => ({
        ...device,
        suspicion: suspicion && presentSuspicion(suspicion),
      })),
      erasure: erasure ? presentErasure(erasure) : null,
    },
  };
}

export function presentSuspectedDevices({ devices, next }: SuspectedDevices) {
  return {
    devices: devices.map(({ bucket: _bucket, suspicion, ...device }) => ({
      ...device,
      suspicion: presentSuspicion(suspicion),
    })),
    next: next ? `${next.lastAt.toISOString()}~${next.id}` : null,
  };
}

function presentSuspicion(suspicion: ToldSuspicion) {
  return { ...suspicion, leavesAfterSends: suspicionSends, leavesAfterHours: suspicionHours };
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

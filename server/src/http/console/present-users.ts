import type { ConsolePeople, PersonHit } from '../../app/console/console-users.ts';

type Moment = Awaited<ReturnType<ConsolePeople['listMoments']>>['moments'][number];
type TestPerson = Awaited<ReturnType<ConsolePeople['listForTests']>>[number];

export function presentFoundPerson({ userId, bucket: _bucket, ...hit }: PersonHit) {
  return { id: userId, ...hit };
}

/** A person with everything the screen shows. Dates become their ISO text when the answer is written. */
export function presentPerson({ person, erasure, ...parts }: Awaited<ReturnType<ConsolePeople['read']>>) {
  const { bucket: _bucket, userId, ...record } = person;
  return { person: { id: userId, ...record, ...parts, erasure: erasure ? presentErasure(erasure) : null } };
}

export function presentErasure({ id, requestedAt, dueAt }: Awaited<ReturnType<ConsolePeople['erase']>>) {
  return { id, requestedAt, dueAt };
}

export function presentTestPerson({ userId, bucket: _bucket, ...person }: TestPerson) {
  return { id: userId, ...person };
}

export function presentMoment({ place: _place, ...moment }: Moment) {
  return moment;
}

/** A text for the address; parsePlace of the routes reads it. */
export function presentPlace({ place, key }: Moment): string {
  return `${place}~${key}`;
}

import { ServiceError } from '../../domain/errors.ts';
import { parseFileNumber } from '../../domain/segments/file-operations.ts';
import type { ValueMeaning } from '../../domain/segments/file-operations.ts';
import { expandStoredFilters } from '../../domain/segments/filter-reader.ts';
import { describeAttributes, estimateUsers, roundToTwoDigits, sampledBuckets } from '../../domain/segments/preview.ts';
import type { KnownAttribute } from '../../domain/segments/preview.ts';
import { toIdentifierValue, bucketCount } from '../../domain/users/users.ts';
import { withinTime } from '../../storage/database.ts';
import { countUsers } from '../../storage/installation/overview.ts';
import {
  countFilterUsersIn,
  countUsersIn,
  listEventNames,
  listSomeFilterUsers,
  listTextsBeginning,
  sampleAttributeValues,
  findNamingValues,
} from '../../storage/segments/filter-samples.ts';
import { countFilterUsers } from '../../storage/segments/segment-filters.ts';
import type { FilterAudience } from '../../storage/segments/segment-filters.ts';
import { findReferencedSegments } from '../../storage/segments/segment-members.ts';
import { countIdentifierTypes, findIdentifierType, listAttributeNames } from '../../storage/users/identifiers.ts';
import { requireWorkspace } from '../workspaces.ts';
import { prepareFilters } from './filter-segments.ts';
import type { FilterTreesCommand } from './filter-segments.ts';
import type { SegmentDependencies } from './segment-limits.ts';

type Dependencies = Pick<SegmentDependencies, 'database' | 'clock'>;

/** Filters during building. `ownId`: the segment that they change. */
export type BuiltFilters = {
  workspaceId: string;
  ownId: string | undefined;
  filters: FilterTreesCommand;
};

/** Valid filters may still be unusable: they refer to a missing segment or form a cycle. */
export type Unusable = { kind: 'unusable'; reason: string };

export type FilterCount =
  | { kind: 'counted'; users: number; of: number; isEstimate: boolean }
  | { kind: 'too slow'; afterSeconds: number }
  | Unusable;

export type FilterSample =
  | { kind: 'found'; users: { id: string; customerId: string }[] }
  | { kind: 'too slow'; afterSeconds: number }
  | Unusable;

const maxCountSeconds = 5;
/** Up to this many users are counted one by one. */
const maxCountedAlways = 100_000;
const maxSampled = 10;
const maxAttributes = 500;
// 256 buckets: about 500 users.
const sampledPerBucket = 2;
const shownPerAttribute = 20;
const maxSuggested = 20;
const shownEventDays = 30;
const maxSampledEvents = 20_000;
const maxEventNames = 100;

/** Describes filters in words, or returns why they are unusable. @throws ServiceError NOT_FOUND */
export async function describeFilters(
  { database }: Dependencies,
  { workspaceId, ownId, filters }: BuiltFilters,
): Promise<{ kind: 'readable'; words: string } | Unusable> {
  await requireWorkspace(database, workspaceId);
  return orUnusable(async () => {
    const { description } = await prepareFilters(database, { workspaceId, command: filters, ownId });
    return { kind: 'readable', words: description };
  });
}

/**
 * Returns how many users match filters now. A large workspace is not read completely each time the user types: a sixteenth of
 * it gives the number to 5 %, unless it has too few matches; `isExact` counts every user. For 300,000 users (two cores, all in
 * memory) a full count takes 0.45 s, and a sixteenth 0.1 s.
 *
 * @throws ServiceError NOT_FOUND
 */
export async function countFilters(
  deps: Dependencies,
  { isExact, ...built }: BuiltFilters & { isExact: boolean },
): Promise<FilterCount> {
  const { workspaceId } = built;
  await requireWorkspace(deps.database, workspaceId);
  return orUnusable(async () => {
    const audience = await readAudience(deps, built);
    const milliseconds = maxCountSeconds * 1000;
    const share = sampledBuckets.length / bucketCount;
    const counted = await withinTime(deps.database, {
      milliseconds,
      work: async (tx) => {
        const sampledUsers = await countUsersIn(tx, { workspaceId, buckets: sampledBuckets });
        if (!isExact && sampledUsers / share > maxCountedAlways) {
          const found = await countFilterUsersIn(tx, { ...audience, buckets: sampledBuckets });
          const users = estimateUsers(found, { share });
          if (users !== undefined) return { users, of: roundToTwoDigits(sampledUsers / share), isEstimate: true };
        }
        const users = await countFilterUsers(tx, audience);
        return { users, of: await countUsers(tx, workspaceId), isEstimate: false };
      },
    });
    if (counted === 'too slow') return { kind: 'too slow', afterSeconds: maxCountSeconds };
    return { kind: 'counted', ...counted.result };
  });
}

/** Returns some of the users that match filters now. @throws ServiceError NOT_FOUND */
export async function sampleFilters(deps: Dependencies, built: BuiltFilters): Promise<FilterSample> {
  await requireWorkspace(deps.database, built.workspaceId);
  return orUnusable(async () => {
    const audience = await readAudience(deps, built);
    const found = await withinTime(deps.database, {
      milliseconds: maxCountSeconds * 1000,
      work: (tx) => listSomeFilterUsers(tx, { ...audience, limit: maxSampled }),
    });
    if (found === 'too slow') return { kind: 'too slow', afterSeconds: maxCountSeconds };
    return { kind: 'found', users: found.result };
  });
}

/** Lists the attributes that a filter may use, with values that some users have. @throws ServiceError NOT_FOUND */
export async function listFilterAttributes({ database }: Dependencies, workspaceId: string): Promise<KnownAttribute[]> {
  await requireWorkspace(database, workspaceId);
  const perBucket = sampledPerBucket;
  const [names, sampled] = await Promise.all([
    listAttributeNames(database, { workspaceId, perBucket, limit: maxAttributes }),
    sampleAttributeValues(database, { workspaceId, perBucket, perAttribute: shownPerAttribute }),
  ]);
  const seen = new Set(sampled.map(({ name }) => name));
  const indexed = new Map<string, 'string' | 'double'>();
  // An attribute that few users have is in no sample. One indexed look-up per name; sent together, they would use all connections.
  for (const attribute of names.filter((name) => !seen.has(name))) {
    const type = await findIdentifierType(database, { workspaceId, attribute });
    if (type !== undefined) indexed.set(attribute, type);
  }
  return describeAttributes({ names, sampled, indexed });
}

/** Lists the names of events of the last days, the most frequent first. @throws ServiceError NOT_FOUND */
export async function listFilterEvents({ database, clock }: Dependencies, workspaceId: string): Promise<string[]> {
  await requireWorkspace(database, workspaceId);
  const since = new Date(clock.now().getTime() - shownEventDays * 86_400_000);
  const sinceDay = since.toISOString().slice(0, 10);
  return listEventNames(database, { workspaceId, sinceDay, maxEvents: maxSampledEvents, limit: maxEventNames });
}

export type AttributeTypes =
  { kind: 'counted'; texts: number; numbers: number } | { kind: 'too slow'; afterSeconds: number };

/** Counts the users who have an attribute as a text, and as a number. @throws ServiceError NOT_FOUND */
export async function countAttributeTypes(
  { database }: Dependencies,
  asked: { workspaceId: string; attribute: string },
): Promise<AttributeTypes> {
  await requireWorkspace(database, asked.workspaceId);
  const milliseconds = maxCountSeconds * 1000;
  const counted = await withinTime(database, { milliseconds, work: (tx) => countIdentifierTypes(tx, asked) });
  if (counted === 'too slow') return { kind: 'too slow', afterSeconds: maxCountSeconds };
  const usersOf = (wanted: string) => counted.result.find(({ type }) => type === wanted)?.users ?? 0;
  return { kind: 'counted', texts: usersOf('string'), numbers: usersOf('double') };
}

/** Lists an attribute's texts that begin with a prefix, as they are written. @throws ServiceError NOT_FOUND */
export async function suggestValues(
  { database }: Dependencies,
  { workspaceId, attribute, prefix }: { workspaceId: string; attribute: string; prefix: string },
): Promise<string[]> {
  await requireWorkspace(database, workspaceId);
  // The customer id is not an attribute; its index is by bucket.
  if (attribute === 'uid') return [];
  return listTextsBeginning(database, { workspaceId, attribute, prefix, limit: maxSuggested });
}

type AskedValues = { workspaceId: string; meaning: ValueMeaning; values: readonly string[] };

/** Returns the indexes of the values that name no user. @throws ServiceError NOT_FOUND */
export async function findUnmatchedValues(
  { database }: Dependencies,
  { workspaceId, meaning, values }: AskedValues,
): Promise<number[]> {
  await requireWorkspace(database, workspaceId);
  const stored = values.map((value) => storedForm(value, meaning));
  const asked = [...new Set(stored.filter((value) => value !== undefined))];
  const naming = new Set(await findNamingValues(database, { workspaceId, meaning, values: asked }));
  return stored.flatMap((value, place) => (value !== undefined && naming.has(value) ? [] : [place]));
}

/** Converts a value to the form in which a line of a file is stored before it is compared. */
function storedForm(value: string, meaning: ValueMeaning): string | undefined {
  if (meaning.kind === 'attribute' && meaning.type === 'double') return parseFileNumber(value);
  return toIdentifierValue(value)?.value;
}

async function readAudience(
  { database, clock }: Dependencies,
  { workspaceId, ownId, filters }: BuiltFilters,
): Promise<FilterAudience> {
  const prepared = await prepareFilters(database, { workspaceId, command: filters, ownId });
  const referenced = await findReferencedSegments(database, { workspaceId, ids: prepared.usesSegments });
  return { workspaceId, ...expandStoredFilters(prepared, referenced), at: clock.now() };
}

async function orUnusable<Answer>(work: () => Promise<Answer>): Promise<Answer | Unusable> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code === 'NOT_FOUND') throw error;
    return { kind: 'unusable', reason: error.context.detail ?? error.message };
  }
}

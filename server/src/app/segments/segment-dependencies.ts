import type { Clock } from '../../clock.ts';
import type { Encryption } from '../../domain/encryption.ts';
import type { Database } from '../../storage/database.ts';
import {
  cohortRequestsPerMinute,
  fileOperationsPerDay,
  fileOperationsPerHour,
  fileUsersPerDay,
  maxActiveSegments,
} from '../../domain/segments/limits.ts';

export type SegmentDependencies = {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  limits: SegmentLimits;
};

/** Interface 8 and fact 2.3, unless a test says otherwise. */
export type SegmentLimits = {
  operationsPerHour: number;
  operationsPerDay: number;
  activeSegments: number;
  /** Users that files may add in 24 hours; a setting. */
  usersPerDay: number;
  cohortRequestsPerMinute: number;
};

export const documentedSegmentLimits: SegmentLimits = {
  operationsPerHour: fileOperationsPerHour,
  operationsPerDay: fileOperationsPerDay,
  activeSegments: maxActiveSegments,
  usersPerDay: fileUsersPerDay,
  cohortRequestsPerMinute,
};

/** Who asks; the answers to repeats and the records carry it. */
export type SegmentCaller = {
  workspaceId: string;
  /** Name of the key or person. */
  requestedBy: string;
};

export type Once = { idempotencyKey: string | undefined; rawBody: string };

import { ServiceError } from '../../domain/errors.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';
import {
  attemptsPerRound,
  findMessage,
  listCallbackAttempts,
  listEmailAttempts,
  listMessages,
  resendMessage,
} from '../../storage/outbox/outbox.ts';
import type { LogCursor } from '../../storage/outbox/outbox.ts';
import { listOperations, listRejects } from '../../storage/segments/segment-operations.ts';
import { isOperationOf, listOpenOperations, readOneOccurrence } from '../../storage/segments/segment-members.ts';
import type { OpenOperation } from '../../storage/segments/segment-members.ts';
import {
  countActiveSegments,
  findSegmentById,
  findSegmentByName,
  listSegments,
} from '../../storage/segments/segments.ts';
import type { Segment } from '../../storage/segments/segments.ts';
import type { Noted } from './archive-segments.ts';
import type { SegmentDependencies } from './segment-dependencies.ts';
import { requireWorkspace } from '../workspaces/require-workspace.ts';
import { archivedSegmentShownDays, maxRejectsKept } from '../../domain/segments/limits.ts';

export type ReadSegmentsDependencies = Pick<SegmentDependencies, 'database' | 'clock' | 'limits'> & {
  /** The secret that signs a workspace's callbacks, made when it is first asked for. */
  webhookSecretOf: (tx: Queryable, workspaceId: string) => Promise<string>;
};

const maxListed = 1_000;
export const maxLogged = 100;

/** What the console and the command line show about segments, their callbacks and emails, and "send again". */
export function makeReadSegments(deps: ReadSegmentsDependencies) {
  const { database, clock, limits } = deps;

  /** @throws ServiceError NOT_FOUND */
  async function getCallback(key: Key) {
    const callback = await findMessage(database, { channel: 'callbacks', ...key });
    if (!callback) throw new ServiceError('NOT_FOUND', { detail: `no callback ${key.id}` });
    const attempts = await listCallbackAttempts(database, callback.id);
    return { ...countJobRuns(callback), tries: attempts.map(({ number, ...attempt }) => placeTry(number, attempt)) };
  }

  /** @throws ServiceError NOT_FOUND */
  async function getEmail(key: Key) {
    const email = await findMessage(database, { channel: 'emails', ...key });
    if (!email) throw new ServiceError('NOT_FOUND', { detail: `no mail ${key.id}` });
    const attempts = await listEmailAttempts(database, email.id);
    return { ...countJobRuns(email), tries: attempts.map(({ number, ...attempt }) => placeTry(number, attempt)) };
  }

  return {
    /** Newest first, with how many may still be active. @throws ServiceError NOT_FOUND */
    async list(workspaceId: string) {
      await requireWorkspace(database, workspaceId);
      const archivedSince = new Date(clock.now().getTime() - archivedSegmentShownDays * 24 * 3_600_000);
      const [segments, open, active] = await readOneOccurrence(database, (tx) =>
        Promise.all([
          listSegments(tx, { workspaceId, name: undefined, archivedSince, limit: maxListed }),
          listOpenOperations(tx, workspaceId),
          countActiveSegments(tx, workspaceId),
        ]),
      );
      return {
        segments: segments.map((segment) => ({ ...segment, progress: progressOf(segment, open) })),
        active,
        maxActive: limits.activeSegments,
      };
    },

    /** A segment and its newest operations. @throws ServiceError NOT_FOUND */
    get: (key: Key) =>
      readOneOccurrence(database, async (tx) => {
        const segment = await findSegmentById(tx, key);
        if (!segment) throw new ServiceError('NOT_FOUND', { detail: `no segment ${key.id}` });
        return withOperations(tx, segment);
      }),

    /** The same by its exact name. @throws ServiceError SEGMENT_NOT_FOUND */
    getNamed: (named: { workspaceId: string; name: string }) =>
      readOneOccurrence(database, async (tx) => {
        const segment = await findSegmentByName(tx, named);
        if (!segment) throw new ServiceError('SEGMENT_NOT_FOUND', { field: named.name });
        return withOperations(tx, segment);
      }),

    /** The lines of an operation's file that were skipped, in its order. @throws ServiceError NOT_FOUND */
    async listRejects({ workspaceId, segmentId, operationId }: RejectsQuery) {
      if (!(await isOperationOf(database, { workspaceId, segmentId, id: operationId })))
        throw new ServiceError('NOT_FOUND', { detail: `no operation ${operationId}` });
      return listRejects(database, { workspaceId, operationId, limit: maxRejectsKept });
    },

    /** Newest first. @throws ServiceError NOT_FOUND */
    async listCallbacks({ workspaceId, isFailed = false, after }: LogQuery) {
      await requireWorkspace(database, workspaceId);
      const page = { workspaceId, isFailed, ...(after ? { after } : {}), limit: maxLogged };
      return (await listMessages(database, { channel: 'callbacks', ...page })).map(countJobRuns);
    },

    getCallback,

    /** Sends a callback again, with the whole schedule before it. @throws ServiceError NOT_FOUND, PARAMETER_INVALID */
    async resendCallback({ note, ...key }: Key & Noted) {
      const isDue = await inTransaction(database, async (tx) => {
        const isResent = await resendMessage(tx, { channel: 'callbacks', ...key, at: clock.now() });
        if (isResent) await note?.(tx);
        return isResent;
      });
      const callback = await getCallback(key);
      if (isDue) return callback;
      const reason =
        callback.state === 'PENDING'
          ? 'the callback is still being delivered; it can be sent again when that has ended'
          : 'the callback was sent again too often';
      throw new ServiceError('PARAMETER_INVALID', { field: 'id', reason });
    },

    /** Newest first. @throws ServiceError NOT_FOUND */
    async listMails({ workspaceId, isFailed = false, after }: LogQuery) {
      await requireWorkspace(database, workspaceId);
      const page = { workspaceId, isFailed, ...(after ? { after } : {}), limit: maxLogged };
      return (await listMessages(database, { channel: 'emails', ...page })).map(countJobRuns);
    },

    getMail: getEmail,

    /** Sends a mail again, with the whole schedule before it. @throws ServiceError NOT_FOUND, PARAMETER_INVALID */
    async resendMail({ note, ...key }: Key & Noted) {
      const isDue = await inTransaction(database, async (tx) => {
        const isResent = await resendMessage(tx, { channel: 'emails', ...key, at: clock.now() });
        if (isResent) await note?.(tx);
        return isResent;
      });
      const email = await getEmail(key);
      if (isDue) return email;
      const reason =
        email.state === 'PENDING'
          ? 'the mail is still being sent; it can be sent again when that has ended'
          : 'the mail was sent again too often';
      throw new ServiceError('PARAMETER_INVALID', { field: 'id', reason });
    },

    /** @throws ServiceError NOT_FOUND */
    async readWebhookSecret({ workspaceId, note }: { workspaceId: string } & Noted): Promise<string> {
      await requireWorkspace(database, workspaceId);
      return inTransaction(database, async (tx) => {
        const secret = await deps.webhookSecretOf(tx, workspaceId);
        await note?.(tx);
        return secret;
      });
    },
  };
}

export type ReadSegments = ReturnType<typeof makeReadSegments>;

type Key = { workspaceId: string; id: string };
/** `isFailed`: only those that nobody accepted. */
export type LogQuery = { workspaceId: string; isFailed?: boolean; after?: LogCursor | undefined };
type RejectsQuery = { workspaceId: string; segmentId: string; operationId: string };

async function withOperations(tx: Transaction, segment: Segment) {
  const { workspaceId, id: segmentId } = segment;
  const open = await listOpenOperations(tx, workspaceId);
  const operations = await listOperations(tx, { workspaceId, segmentId, limit: maxLogged });
  return { ...segment, progress: progressOf(segment, open), operations };
}

/** The progress of the current operation, and how many are queued behind it; undefined if none is open. */
function progressOf({ id }: Pick<Segment, 'id'>, open: readonly OpenOperation[]) {
  const [first, ...waiting] = open.filter(({ segmentId }) => segmentId === id);
  return first && { ...first, waiting: waiting.length };
}

/** A number says in which round a try was (0: the first delivery) and which of its schedule. */
function placeTry<Attempt>(number: number, attempt: Attempt) {
  return { ...attempt, resend: Math.floor(number / attemptsPerRound), attempt: number % attemptsPerRound };
}

/** Callbacks and mails count alike. */
function countJobRuns<Callback extends { attempts: number }>({ attempts, ...callback }: Callback) {
  const { resend: resends, attempt } = placeTry(attempts, {});
  return { ...callback, resends, attempts: attempt };
}

import { valueMeaningOf } from '../../domain/segments/file-operations.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Transaction } from '../../storage/database.ts';
import { listCampaignsOfSegment, listSampleMembers } from '../../storage/segments/segment-members.ts';
import { audit } from '../accounts/audit.ts';
import type { SignedIn } from '../accounts/audit.ts';
import { requireWorkspace } from '../workspaces.ts';
import {
  countFilters,
  describeFilters,
  findUnmatchedValues,
  listFilterAttributes,
  sampleFilters,
  suggestValues,
} from './build-filter.ts';
import type { BuiltFilters } from './build-filter.ts';
import { postFile, storeFileOperation } from './file-segments.ts';
import type { PostedFile, AcceptedOperation, FileOperationCommand } from './file-segments.ts';
import { changeFilterSegment, createFilterSegment } from './filter-segments.ts';
import type { FilterSegmentCommand } from './filter-segments.ts';
import {
  listCallbacks,
  listEmails,
  readCallback,
  readEmail,
  readWebhookSecret,
  resendCallback,
  resendEmail,
} from './messages.ts';
import type { LogQuery, WebhookSecretDependencies } from './messages.ts';
import type { SegmentDependencies } from './segment-limits.ts';
import {
  archiveNamedSegment,
  unarchiveNamedSegment,
  listRejectedLines,
  listShownSegments,
  readSegment,
} from './segments.ts';

type Key = { workspaceId: string; id: string };
type By = { by: SignedIn };

/** Segments as the console shows and fills them. Each change and its audit log entry are one transaction. */
export function makeConsoleSegments(deps: SegmentDependencies & WebhookSecretDependencies) {
  const { database, clock } = deps;
  return {
    ...makeConsoleFilters(deps),
    list: (workspaceId: string) => listShownSegments(deps, workspaceId),
    get: (key: Key) => readSegment(deps, key),
    listRejects: (query: Parameters<typeof listRejectedLines>[1]) => listRejectedLines(deps, query),
    listCallbacks: (query: LogQuery) => listCallbacks(deps, query),
    getCallback: (key: Key) => readCallback(deps, key),
    listEmails: (query: LogQuery) => listEmails(deps, query),
    getEmail: (key: Key) => readEmail(deps, key),
    async postFile({ by, ...file }: Omit<PostedFile, 'requestedBy'> & By): Promise<AcceptedOperation> {
      return postFile(deps, {
        ...file,
        requestedBy: by.name,
        note: (tx, { segmentId, segmentName, operationId }) =>
          audit(tx, {
            actor: by,
            workspaceId: file.workspaceId,
            action: 'segment.upload',
            object: { id: segmentId, name: segmentName },
            detail: { operation: operationId },
            at: clock.realNow(),
          }),
      });
    },
    /** Downloads the file after the commit. @throws ServiceError as requestFileOperation */
    async fetchFile({ by, workspaceId, command }: By & { workspaceId: string; command: FileOperationCommand }) {
      await requireWorkspace(database, workspaceId);
      const at = clock.now();
      return await inTransaction(database, async (tx) => {
        const accepted = await storeFileOperation(deps, tx, { workspaceId, requestedBy: by.name, command, at });
        const object = { id: accepted.segmentId, name: accepted.segmentName };
        const detail = { operation: accepted.operationId };
        await audit(tx, { actor: by, workspaceId, action: 'segment.fetch', object, detail, at: clock.realNow() });
        return accepted;
      });
    },
    /** @throws ServiceError NOT_FOUND, SEGMENT_ACTIVE_LIMITED */
    async changeState({ by, action, ...key }: Key & By & { action: 'archive' | 'unarchive' }): Promise<void> {
      const { name } = await readSegment(deps, key);
      const change = action === 'archive' ? archiveNamedSegment : unarchiveNamedSegment;
      const { workspaceId, id } = key;
      await change(deps, {
        workspaceId,
        name,
        segmentId: id,
        note: (tx) =>
          audit(tx, { actor: by, workspaceId, action: `segment.${action}`, object: { id, name }, at: clock.realNow() }),
      });
    },
    /** Lists campaigns that are or were sent to it, newest first. @throws ServiceError NOT_FOUND */
    async listCampaigns(key: Key) {
      await readSegment(deps, key);
      return listCampaignsOfSegment(database, key);
    },
    /** Returns the customer ids of some of its members. @throws ServiceError NOT_FOUND */
    async listMembers(key: Key): Promise<string[]> {
      const { version } = await readSegment(deps, key);
      return listSampleMembers(database, { ...key, version });
    },
    async resendCallback({ by, ...key }: Key & By) {
      const { workspaceId } = key;
      const { id, url: name } = await readCallback(deps, key);
      return resendCallback(deps, {
        ...key,
        note: (tx) =>
          audit(tx, { actor: by, workspaceId, action: 'callback.resend', object: { id, name }, at: clock.realNow() }),
      });
    },
    async resendEmail({ by, ...key }: Key & By) {
      const { workspaceId } = key;
      const { id, subject: name } = await readEmail(deps, key);
      return resendEmail(deps, {
        ...key,
        note: (tx) =>
          audit(tx, { actor: by, workspaceId, action: 'mail.resend', object: { id, name }, at: clock.realNow() }),
      });
    },
    async readWebhookSecret({ by, workspaceId }: By & { workspaceId: string }): Promise<string> {
      const object = { id: workspaceId };
      return readWebhookSecret(deps, {
        workspaceId,
        note: (tx) => audit(tx, { actor: by, workspaceId, action: 'webhook-secret.read', object, at: clock.realNow() }),
      });
    },
  };
}

export type ConsoleSegments = ReturnType<typeof makeConsoleSegments>;

type SegmentKey = { workspaceId: string; id: string };
type FilterAuthor = { by: SignedIn };
type AskedValues = {
  workspaceId: string;
  attributeName: string;
  attributeType: 'string' | 'double';
  values: readonly string[];
};
type NotedFilter = FilterAuthor & SegmentKey & { action: `segment.${string}`; command: FilterSegmentCommand };

/** Filter segments as the console builds them. */
function makeConsoleFilters(deps: SegmentDependencies) {
  const { database, clock } = deps;
  const noteFilter = (tx: Transaction, { by, workspaceId, action, id, command }: NotedFilter) =>
    audit(tx, { actor: by, workspaceId, action, object: { id, name: command.name }, at: clock.realNow() });
  return {
    describeFilters: (built: BuiltFilters) => describeFilters(deps, built),
    countFilters: (built: BuiltFilters & { isExact: boolean }) => countFilters(deps, built),
    sampleFilters: (built: BuiltFilters) => sampleFilters(deps, built),
    listAttributes: (workspaceId: string) => listFilterAttributes(deps, workspaceId),
    suggestValues: (asked: Parameters<typeof suggestValues>[1]) => suggestValues(deps, asked),
    findUnmatched: ({ workspaceId, values, ...named }: AskedValues) =>
      findUnmatchedValues(deps, { workspaceId, meaning: valueMeaningOf(named), values }),
    /** @throws ServiceError as createFilterSegment */
    async createFilter({
      by,
      workspaceId,
      command,
    }: FilterAuthor & { workspaceId: string; command: FilterSegmentCommand }) {
      await requireWorkspace(database, workspaceId);
      return createFilterSegment(deps, {
        workspaceId,
        requestedBy: by.name,
        command,
        source: 'CONSOLE',
        idempotencyKey: undefined,
        rawBody: '',
        note: (tx, id) => noteFilter(tx, { by, workspaceId, action: 'segment.create', id, command }),
      });
    },
    /** @throws ServiceError as changeFilterSegment */
    async changeFilter({
      by,
      command,
      ...key
    }: SegmentKey & FilterAuthor & { command: FilterSegmentCommand }): Promise<void> {
      await changeFilterSegment(deps, {
        ...key,
        updatedBy: by.name,
        change: () => command,
        note: (tx, id) => noteFilter(tx, { ...key, by, action: 'segment.change', id, command }),
      });
    },
  };
}

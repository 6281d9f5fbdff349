import { addressOf } from './console-caller.ts';
import type { ConsoleCaller, Key } from './console-caller.ts';
import type { AcceptedUpload } from './generated/segment-answers.ts';

export type SegmentUpload = {
  workspaceId: string;
  kind: 'create' | 'add' | 'remove' | 'replace';
  name: string;
  attributeName: string;
  attributeType: 'string' | 'double';
  /** Only when a segment is created: 1 to 3650. */
  expiryDays?: number;
  /** One value per line, up to 150 MB. */
  file: Blob;
};

export type SegmentFetch = Omit<SegmentUpload, 'file'> & {
  /** A public address of a file with one value per line. */
  fileUrl: string;
  callbackUrl?: string;
};

/** Filter trees of the API. `id` is the segment that they would change. */
export type FilterTrees = { included_filters: unknown; excluded_filters?: unknown };
type BuiltFilter = { workspaceId: string; id?: string | undefined; filters: FilterTrees; signal?: AbortSignal };
type NamedFilter = { workspaceId: string; name: string; filters: FilterTrees };

type Suggestion = { workspaceId: string; attribute: string; prefix: string; signal?: AbortSignal };
type AskedValues = {
  workspaceId: string;
  attributeName: string;
  attributeType: 'string' | 'double';
  values: string[];
  signal?: AbortSignal;
};
type OperationKey = { workspaceId: string; segmentId: string; operationId: string };

type OfAttribute = { workspaceId: string; attribute: string; signal?: AbortSignal };

export function makeSegmentCalls({ ask, call }: ConsoleCaller) {
  const of = ({ workspaceId, id }: Key) => ({ params: { id }, query: { workspaceId } });
  return {
    /** Newest first. */
    list: (workspaceId: string) => ask('GET segments', { query: { workspaceId } }),
    read: async (key: Key) => (await ask('GET segments/:id', of(key))).segment,
    /** Resolves when the file is stored. The server processes it afterwards. */
    async uploadFile({ file, expiryDays, ...upload }: SegmentUpload): Promise<AcceptedUpload> {
      const query = { ...upload, ...(expiryDays && { expiryDays: String(expiryDays) }) };
      const headers = { 'content-type': 'text/csv' };
      const answer = await call(addressOf('segments/upload', query), { method: 'POST', headers, body: file });
      return (await answer.json()) as AcceptedUpload;
    },
    /** Resolves when the operation is stored. The server downloads and processes the file afterwards. */
    fetchFile: ({ workspaceId, ...fetched }: SegmentFetch) =>
      ask('POST segments/fetch', { query: { workspaceId }, body: fetched }),
    archive: async (key: Key) => (await ask('POST segments/:id/archive', of(key))).segment,
    unarchive: async (key: Key) => (await ask('POST segments/:id/unarchive', of(key))).segment,
    /** Campaigns to a segment, past and planned, newest first. */
    listCampaigns: async (key: Key) => (await ask('GET segments/:id/campaigns', of(key))).campaigns,
    /** Customer ids of some members of a segment. */
    listSampleMembers: async (key: Key) => (await ask('GET segments/:id/members', of(key))).customerIds,
    /** Describes filters in words. */
    describeFilter: ({ workspaceId, id, filters, signal }: BuiltFilter) =>
      ask('POST segments/filter/words', { query: { workspaceId, id }, body: filters, signal }),
    /** Counts the users that match now. The number is an estimate for large sets, unless `isExact`. */
    countFilter: ({ workspaceId, id, filters, isExact, signal }: BuiltFilter & { isExact: boolean }) =>
      ask('POST segments/filter/count', {
        query: { workspaceId, id, exact: isExact ? 'true' : undefined },
        body: filters,
        signal,
      }),
    sampleFilter: ({ workspaceId, id, filters, signal }: BuiltFilter) =>
      ask('POST segments/filter/sample', { query: { workspaceId, id }, body: filters, signal }),
    createFilter: ({ workspaceId, name, filters }: NamedFilter) =>
      ask('POST segments/filter', { query: { workspaceId }, body: { ...filters, name } }),
    changeFilter: ({ workspaceId, id, name, filters }: NamedFilter & Key) =>
      ask('PUT segments/:id/filter', { params: { id }, query: { workspaceId }, body: { ...filters, name } }),
    /** Attributes that filters may use, with sample values. */
    listAttributes: async (workspaceId: string) =>
      (await ask('GET segments/attributes', { query: { workspaceId } })).attributes,
    /** Names of events of the last 30 days, the most frequent first. */
    listEventNames: async (workspaceId: string) =>
      (await ask('GET segments/event-names', { query: { workspaceId } })).names,
    /** Counts the users who have an attribute as a text, and as a number. */
    countAttributeTypes: ({ workspaceId, attribute, signal }: OfAttribute) =>
      ask('GET segments/attribute-types', { query: { workspaceId, attribute }, signal }),
    suggestValues: async ({ workspaceId, attribute, prefix, signal }: Suggestion) =>
      (await ask('GET segments/attribute-values', { query: { workspaceId, attribute, prefix }, signal })).values,
    /** Returns the indexes of the values that match no user, for at most 5,000 values per call. */
    findUnmatched: async ({ workspaceId, signal, ...body }: AskedValues) =>
      (await ask('POST segments/unmatched', { query: { workspaceId }, body, signal })).unmatched,
    /** The address of the rejected lines of an operation as CSV. */
    rejectsUrl: ({ workspaceId, segmentId, operationId }: OperationKey) =>
      addressOf(`segments/${segmentId}/operations/${operationId}/rejects.csv`, { workspaceId }),
  };
}

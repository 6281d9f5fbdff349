import { addressOf } from './console-caller.ts';
import type { ConsoleCaller, Key } from './console-caller.ts';
import type { AcceptedUpload } from './generated/segment.ts';

export type SegmentUpload = {
  workspaceId: string;
  kind: 'create' | 'add' | 'remove' | 'replace';
  name: string;
  attributeName: string;
  attributeType: 'string' | 'double';
  /** Of a creation alone: 1 to 3650. */
  expiryDays?: number;
  /** One value a line, up to 150 MB. */
  file: Blob;
};

export type SegmentFetch = Omit<SegmentUpload, 'file'> & {
  /** A public address of a file of one value a line. */
  fileUrl: string;
  callbackUrl?: string;
};

type OperationKey = { workspaceId: string; segmentId: string; operationId: string };

export function makeSegmentCalls({ ask, call }: ConsoleCaller) {
  const of = ({ workspaceId, id }: Key) => ({ params: { id }, query: { workspaceId } });
  return {
    /** Newest first. */
    list: (workspaceId: string) => ask('GET segments', { query: { workspaceId } }),
    read: async (key: Key) => (await ask('GET segments/:id', of(key))).segment,
    /** Resolves when the file is stored; it is processed afterwards. */
    async uploadFile({ file, expiryDays, ...upload }: SegmentUpload): Promise<AcceptedUpload> {
      const query = { ...upload, ...(expiryDays && { expiryDays: String(expiryDays) }) };
      const headers = { 'content-type': 'text/csv' };
      const answer = await call(addressOf('segments/upload', query), { method: 'POST', headers, body: file });
      return (await answer.json()) as AcceptedUpload;
    },
    /** Resolves when the operation is stored; the file is downloaded and processed afterwards. */
    fetchFile: ({ workspaceId, ...fetched }: SegmentFetch) =>
      ask('POST segments/fetch', { query: { workspaceId }, body: fetched }),
    archive: async (key: Key) => (await ask('POST segments/:id/archive', of(key))).segment,
    unarchive: async (key: Key) => (await ask('POST segments/:id/unarchive', of(key))).segment,
    /** Campaigns that go or went to a segment, newest first. */
    listCampaigns: async (key: Key) => (await ask('GET segments/:id/campaigns', of(key))).campaigns,
    /** Customer ids of some members of a segment. */
    listSampleMembers: async (key: Key) => (await ask('GET segments/:id/members', of(key))).customerIds,
    /** Where the rejected lines of an operation are downloaded, for a link. */
    rejectsUrl: ({ workspaceId, segmentId, operationId }: OperationKey) =>
      addressOf(`segments/${segmentId}/operations/${operationId}/rejects.csv`, { workspaceId }),
  };
}

import type { CallOptions, CallService } from './call-service.ts';
import type { CallbackReceiver } from './callback-receiver.ts';
import type {
  FileSegmentCallback,
  FileSegmentChange,
  FileSegmentRequest,
  FilterSegmentChange,
  FilterSegmentRequest,
  SegmentAccepted,
  SegmentAnswer,
  SegmentList,
  SegmentName,
} from './generated/shapes.ts';

/** Segments: with a data key or an access token; file segments need the client's `dbName`. */
export type CarillonSegments = {
  createFromFile(segment: FileSegmentRequest, options?: CallOptions): Promise<SegmentAccepted>;
  addUsers(change: FileSegmentChange, options?: CallOptions): Promise<SegmentAccepted>;
  removeUsers(change: FileSegmentChange, options?: CallOptions): Promise<SegmentAccepted>;
  replaceUsers(change: FileSegmentChange, options?: CallOptions): Promise<SegmentAccepted>;
  /**
   * Makes one of the four requests and waits for its callback, which your server must pass to `callbacks`. Operations on a
   * segment run in order, so wait for one at a time.
   */
  untilProcessed(
    operation: FileOperation,
    options: CallOptions & { callbacks: CallbackReceiver },
  ): Promise<FileSegmentCallback>;
  archive(segment: SegmentName, options?: CallOptions): Promise<SegmentAccepted>;
  unarchive(segment: SegmentName, options?: CallOptions): Promise<SegmentAccepted>;
  createFromFilters(segment: FilterSegmentRequest, options?: CallOptions): Promise<SegmentAnswer['data']>;
  change(id: string, change: FilterSegmentChange, options?: CallOptions): Promise<SegmentAnswer['data']>;
  get(id: string, options?: CallOptions): Promise<SegmentAnswer['data']>;
  list(filter?: { name?: string }, options?: CallOptions): Promise<SegmentList['data']>;
};

export type FileOperation =
  | { create: FileSegmentRequest & { callback_url: string } }
  | { add: FileSegmentChange & { callback_url: string } }
  | { remove: FileSegmentChange & { callback_url: string } }
  | { replace: FileSegmentChange & { callback_url: string } };

export function makeCarillonSegments(call: CallService): CarillonSegments {
  const segments: CarillonSegments = {
    createFromFile: (body, options) => call('createFileSegment', { body }, options),
    addUsers: (body, options) => call('addUsersOfFile', { body }, options),
    removeUsers: (body, options) => call('removeUsersOfFile', { body }, options),
    replaceUsers: (body, options) => call('replaceUsersByFile', { body }, options),
    async untilProcessed(operation, { callbacks, ...options }) {
      const [request, { name }] = requestOf(operation);
      // Starts to wait before the request: a small file may be done before the response is read.
      const waiting = callbacks.waitFor(name, options);
      try {
        await request(segments, options);
      } catch (error) {
        waiting.stop();
        throw error;
      }
      return waiting.outcome;
    },
    archive: (body, options) => call('archiveSegment', { body }, options),
    unarchive: (body, options) => call('unarchiveSegment', { body }, options),
    async createFromFilters(body, options) {
      return (await call('createFilterSegment', { body }, options)).data;
    },
    async change(id, body, options) {
      return (await call('changeFilterSegment', { parameters: { id }, body }, options)).data;
    },
    async get(id, options) {
      return (await call('getSegment', { parameters: { id } }, options)).data;
    },
    async list(filter = {}, options) {
      return (await call('listSegments', { parameters: filter }, options)).data;
    },
  };
  return segments;
}

type Request = (segments: CarillonSegments, options: CallOptions) => Promise<unknown>;

function requestOf(operation: FileOperation): [Request, { name: string }] {
  if ('create' in operation)
    return [(segments, options) => segments.createFromFile(operation.create, options), operation.create];
  if ('add' in operation) return [(segments, options) => segments.addUsers(operation.add, options), operation.add];
  if ('remove' in operation)
    return [(segments, options) => segments.removeUsers(operation.remove, options), operation.remove];
  return [(segments, options) => segments.replaceUsers(operation.replace, options), operation.replace];
}

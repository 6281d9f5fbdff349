import type { CallOptions, CallService } from './call-service.ts';
import type {
  CohortRequest,
  CustomerRequest,
  DataAccepted,
  DeviceBlockRequest,
  DeviceRequest,
  EventRequest,
  ExportAnswer,
  ExportRequest,
  MergeAnswer,
  MergeRequest,
  TransitionRequest,
} from './generated/shapes.ts';

type Untyped<Request> = Omit<Request, 'type'>;

/** Users, their devices, their events, and batches of these: with a data key or an access token. */
export type CarillonUsers = {
  upsert(user: Untyped<CustomerRequest>, options?: CallOptions): Promise<DataAccepted>;
  remove(customerId: string, options?: CallOptions): Promise<DataAccepted>;
  merge(pairs: MergeRequest['merge_data'], options?: CallOptions): Promise<MergeAnswer>;
  export(identifiers: ExportRequest['data']['identifiers'], options?: CallOptions): Promise<ExportAnswer['data']>;
  syncCohort(change: CohortRequest, options?: CallOptions): Promise<DataAccepted>;
};

export type CarillonDevices = {
  register(device: Untyped<DeviceRequest>, options?: CallOptions): Promise<DataAccepted>;
  block(request: DeviceBlockRequest, options?: CallOptions): Promise<DataAccepted>;
};

export function makeCarillonUsers(call: CallService): {
  users: CarillonUsers;
  devices: CarillonDevices;
  events: { track(event: Untyped<EventRequest>, options?: CallOptions): Promise<DataAccepted> };
  /** Loads users, devices and events in one request; each names its `type`. */
  bulk: { load(elements: TransitionRequest['elements'], options?: CallOptions): Promise<DataAccepted> };
} {
  return {
    users: {
      upsert: (user, options) => call('upsertCustomer', { body: { type: 'customer', ...user } }, options),
      remove: (customerId, options) =>
        call('deleteCustomer', { body: { identity_type: 'customer_id', identity_value: customerId } }, options),
      merge: (pairs, options) => call('mergeCustomers', { body: { merge_data: pairs } }, options),
      async export(identifiers, options) {
        return (await call('exportCustomers', { body: { type: 'export_users', data: { identifiers } } }, options)).data;
      },
      syncCohort: (change, options) => call('syncCohort', { body: change }, options),
    },
    devices: {
      register: (device, options) => call('upsertDevice', { body: { type: 'device', ...device } }, options),
      block: (request, options) => call('blockDevices', { body: request }, options),
    },
    events: { track: (event, options) => call('trackEvents', { body: { type: 'event', ...event } }, options) },
    bulk: {
      load: (elements, options) => call('importInBulk', { body: { type: 'transition', elements } }, options),
    },
  };
}

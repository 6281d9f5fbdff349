import type { RegisterDeviceCommand } from '../../app/users/devices.ts';
import type { UpsertUserCommand } from '../../app/users/users.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxUnsetRules } from '../../domain/limits/users.ts';
import {
  deviceAttributesShape,
  parseDeviceAttributes,
  readPlatformName,
} from '../../domain/users/device-attributes.ts';
import type { DeviceAttributes } from '../../domain/users/device-attributes.ts';
import { underStoredNames } from '../../domain/users/standard-attributes.ts';
import { attributesFault, customerIdFault, unsetKinds } from '../../domain/users/user-attributes.ts';
import type { Attributes, UnsetRule } from '../../domain/users/user-attributes.ts';
import {
  anyOf,
  anything,
  choice,
  flag,
  list,
  literal,
  membersOf,
  part,
  readWith,
  required,
  requiredId,
  requiredText,
  text,
  withDescription,
} from '../../fields/combinators.ts';
import { reading, schemaOf } from '../../fields/field.ts';
import type { Field } from '../../fields/field.ts';
import { plainRules } from '../../fields/reading-rules.ts';
import type { ReadingRules } from '../../fields/reading-rules.ts';
import { RequestReader } from '../../fields/request-reader.ts';
import type { Body } from '../route/route.ts';

/**
 * Reads a body of the data family, which reports the first fault only.
 *
 * @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID, and the errors that `read` notes
 */
export function readData<Value>(body: Body, read: (reader: RequestReader) => Value): Value {
  const reader = new RequestReader(body, { rules });
  const value = read(reader);
  refuseDataFaults(reader);
  return value;
}

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID, and the errors that were noted */
export function refuseDataFaults({ faults: [fault] }: RequestReader): void {
  if (!fault) return;
  throw fault.error ?? (fault.reason === rules.missing ? missing(fault.field) : invalid(fault.field, fault.reason));
}

const rules: ReadingRules = {
  ...plainRules,
  choiceFault: (_value, words) => `must be ${listWords(words.map((word) => `'${word}'`))}`,
};

function listWords(words: readonly string[]): string {
  return words.join(', ').replace(/, ([^,]*)$/, ' or $1');
}

/** A customer id that can be used: some clients send a placeholder for users without one. */
export function customerId(description?: string) {
  return {
    ...requiredText(description === undefined ? {} : { description }),
    read(part: RequestReader, name: string): string {
      const id = part.requiredId(name);
      const fault = customerIdFault(id);
      if (fault !== undefined) part.invalid(name, fault);
      return id;
    },
  };
}

/** A platform of another kind is reported without its place in the list. */
const platform: Field<unknown> = {
  schema: schemaOf({
    platform: requiredText(),
    active: withDescription(anything, 'Not read; the devices determine it'),
  }),
  read(platforms, index) {
    const item = platforms.get(index) as { platform?: unknown } | null;
    if (readPlatformName(item?.platform) === undefined) platforms.reject(invalidPlatform());
    return item;
  },
};

const unsetMembers = {
  attr: requiredText({ description: 'Name of the attribute, or a part of its name' }),
  type: choice(unsetKinds, 'How `attr` is compared with names; equals if absent'),
  case_sensitive: flag('Absent: true'),
};

const unsetRule = part(unsetMembers);

/** An object of attributes. PHP writes an empty one as a list. */
export const attributesMember: typeof membersOf = {
  ...membersOf,
  read: (part, name) => (isEmptyList(part.members[name]) ? {} : membersOf.read(part, name)),
};

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Reads the attributes to remove: rules, or names alone, as some clients send them. */
function readUnset(customer: RequestReader, name: string): UnsetRule[] | undefined {
  if (customer.get(name) === undefined) return undefined;
  const items = customer.items(name, maxUnsetRules);
  return items.names().map((index) => {
    if (typeof items.members[index] === 'string') return { attr: items.requiredText(index), type: 'equals' };
    const read = reading(items.part(index), unsetMembers);
    const rule = { attr: read('attr'), type: read('type') ?? 'equals' };
    return read('case_sensitive') === false ? { ...rule, isCaseless: true as const } : rule;
  });
}

const customerMembers = {
  type: required(literal('customer')),
  customer_id: customerId(),
  attributes: attributesMember,
  // Lists where a user has the app. Devices state it exactly, so it is only validated (docs/decisions/0006).
  platforms: list(platform, { max: Infinity }),
  update_existing_only: flag(),
  unset_attributes: readWith(list(anyOf([unsetRule, text()]), { maxItems: maxUnsetRules }), readUnset),
};

/** The body of a user (fact 5). */
export const customerBody = schemaOf(customerMembers, { title: 'CustomerRequest' });

type Customer = Omit<UpsertUserCommand, 'at' | 'workspaceId'>;

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID */
export function parseCustomer(body: Body, prefixes: readonly string[]): Customer {
  return readData(body, (customer) => {
    const read = reading(customer, customerMembers);
    read('type');
    const id = read('customer_id');
    const { platforms: nested, ...sent } = read('attributes') ?? {};
    rejectAttributes(customer, sent, prefixes);
    const attributes = underStoredNames(sent);
    customerMembers.platforms.read(customer.over({ platforms: customer.get('platforms') ?? nested }), 'platforms');
    const [only, unset] = [read('update_existing_only'), read('unset_attributes')];
    return {
      customerId: id,
      attributes,
      ...(only === true ? { updateExistingOnly: true as const } : {}),
      ...(unset === undefined ? {} : { unset }),
    };
  });
}

const deviceMembers = {
  type: required(literal('device')),
  customer_id: customerId(),
  device_id: requiredId(),
  attributes: required(membersOf),
};

/** Returns the body of a device. @param prefixes spellings of the vendor's abbreviation, lower-case */
export function deviceBody(prefixes: readonly string[]) {
  const attributes = required({ ...anything, schema: deviceAttributesShape(prefixes) });
  return schemaOf({ ...deviceMembers, attributes }, { title: 'DeviceRequest' });
}

type Device = Omit<RegisterDeviceCommand, 'at' | 'workspaceId'>;

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID */
export function parseDevice(body: Body, prefixes: readonly string[]): Device {
  return readData(body, (device) => {
    const read = reading(device, deviceMembers);
    read('type');
    const identity = { customerId: read('customer_id'), deviceId: read('device_id') };
    const attributes = read('attributes');
    refuseDataFaults(device);
    return { ...identity, ...parseDeviceRecord(attributes!, prefixes) };
  });
}

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID */
export function parseDeviceRecord(attributes: Attributes, prefixes: readonly string[]): DeviceAttributes {
  const parsed = parseDeviceAttributes(attributes, prefixes);
  if ('missing' in parsed) throw missing(parsed.missing);
  if ('fault' in parsed) throw invalid(parsed.fault.attribute, parsed.fault.reason);
  return parsed.device;
}

/** @throws ServiceError DATA_VALUE_INVALID */
export function checkAttributes(attributes: Attributes, prefixes: readonly string[]): void {
  const fault = attributesFault(attributes, prefixes);
  if (fault) throw invalid(fault.attribute, fault.reason);
}

/** Notes the first attribute that cannot be stored, by its own name. */
export function rejectAttributes(reader: RequestReader, attributes: Attributes, prefixes: readonly string[]): void {
  const fault = attributesFault(attributes, prefixes);
  if (fault) reader.reject(invalid(fault.attribute, fault.reason));
}

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID */
export function requireCustomerId(body: Body): string {
  return readData(body, (reader) => customerMembers.customer_id.read(reader, 'customer_id'));
}

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID */
export function requireText(body: Body, field: string): string {
  return readData(body, (reader) => reader.requiredText(field));
}

function missing(field: string): ServiceError {
  return new ServiceError('DATA_ATTRIBUTE_MISSING', { field });
}

export function invalid(field: string, reason: string): ServiceError {
  return new ServiceError('DATA_VALUE_INVALID', { field, reason });
}

/** The documented error of a platform, which does not say where it is. */
export function invalidPlatform(): ServiceError {
  return invalid('platform', 'is not a valid platform.');
}

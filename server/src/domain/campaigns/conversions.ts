import { conversionWindowHours } from '../limits/campaigns.ts';
import { unknownCase } from '../unknown-case.ts';
import { textFault } from '../users/user-attributes.ts';

/** An event that counts as success of a campaign (interface 2.10). */
export type ConversionGoal = {
  name: string;
  eventName: string;
  attribute?: { name: string; type: 'string' | 'numeric'; operator: string; value?: string | number | string[] };
  /** For how many hours after a message an event counts; absent: as for pushes. The same in all goals of a campaign. */
  windowHours?: number;
  /** The attribute of the event that holds its revenue, and the currency. */
  revenue?: { attribute: string; currency?: string };
};

/**
 * Returns for how many hours after a provider accepted a message for a user an event of that user counts for these goals.
 * By default it is as long as a message lives unless its sender says otherwise (fact 3.4).
 */
export function windowHoursOf(goals: readonly Pick<ConversionGoal, 'windowHours'>[]): number {
  return goals[0]?.windowHours ?? conversionWindowHours;
}

/** Returns the revenue of an event for a goal; null if the event has none, or not a finite number. */
export function revenueOf(
  { revenue }: Pick<ConversionGoal, 'revenue'>,
  attributes: Record<string, unknown>,
): number | null {
  if (!revenue || !Object.hasOwn(attributes, revenue.attribute)) return null;
  const value = attributes[revenue.attribute];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

type ValueForm = 'text' | 'part of a text' | 'number' | 'texts' | 'two numbers' | 'none';

/** Every operator of interface 2.10 with the form of its value. */
export const goalOperators: Record<'string' | 'numeric', Record<string, ValueForm>> = {
  string: {
    is: 'text',
    'is not': 'text',
    contains: 'part of a text',
    'does not contain': 'part of a text',
    'starts with': 'part of a text',
    'does not start with': 'part of a text',
    'ends with': 'part of a text',
    'does not end with': 'part of a text',
    'in the following': 'texts',
    'not in the following': 'texts',
    exists: 'none',
    'does not exist': 'none',
  },
  numeric: {
    'is equal to': 'number',
    'is not equal to': 'number',
    'is between': 'two numbers',
    'is not between': 'two numbers',
    'is greater than': 'number',
    'is less than': 'number',
    exists: 'none',
    'does not exist': 'none',
  },
};

const maxText = 1_024;
const maxTexts = 1_000;

/** Returns why a value does not fit an operator, or undefined if it does. Numbers may be texts, as the contract shows. */
export function goalValueFault(form: ValueForm, value: unknown): string | undefined {
  switch (form) {
    case 'none':
      return value === undefined ? undefined : 'must be omitted for this filter';
    case 'text':
      return typeof value === 'number' && Number.isFinite(value) ? undefined : valueTextFault(value, 'must be a text');
    case 'part of a text':
      // Every text contains the empty text. It is a mistake that would count every event, or none.
      return value === '' ? 'must not be empty' : goalValueFault('text', value);
    case 'texts': {
      if (!Array.isArray(value) || value.length === 0) return 'must be a list of texts';
      if (value.length > maxTexts) return `must have at most ${maxTexts} items`;
      return value.map((item) => valueTextFault(item, 'must be a list of texts')).find((fault) => fault !== undefined);
    }
    case 'number':
      return isNumber(value) ? undefined : 'must be a number';
    case 'two numbers':
      return readTwoNumbers(value) ? undefined : 'must be two numbers separated by a comma';
    default:
      return unknownCase(form);
  }
}

/** Parses the bounds of `is between`: two numbers in one string, joined by a comma. Undefined for any other form. */
export function readTwoNumbers(value: unknown): [number, number] | undefined {
  const parts = typeof value === 'string' ? value.split(',') : [];
  const [first, second] = parts;
  return parts.length === 2 && isNumber(first) && isNumber(second) ? [Number(first), Number(second)] : undefined;
}

function valueTextFault(value: unknown, otherwise: string): string | undefined {
  if (typeof value !== 'string') return otherwise;
  return value.length > maxText ? `must have at most ${maxText} characters` : textFault(value);
}

// Only decimals. Other texts that JavaScript converts to a number (0x1f, an empty text) are mistakes.
const decimal = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i;

function isNumber(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'string' && value.length <= maxText && decimal.test(value) && Number.isFinite(Number(value));
}

/** An event of a user that is compared with goals. */
export type TrackedEvent = { name: string; attributes: Record<string, unknown> };

/**
 * True if an event fulfils a goal (interface 2.10). Names must be equal. Texts compare byte for byte after Unicode NFC,
 * numbers by value (decision D24). An attribute of another type than the goal's counts as missing, as in segment filters:
 * every test fails on it, so the opposite test ("is not", "does not exist") holds.
 */
export function matchGoal(goal: ConversionGoal, event: TrackedEvent): boolean {
  if (goal.eventName !== event.name) return false;
  if (!goal.attribute) return true;
  const { name, type, operator, value: wanted } = goal.attribute;
  const value = Object.hasOwn(event.attributes, name) ? event.attributes[name] : undefined;
  switch (type) {
    case 'string':
      return decide(textTests, operator, (test) => typeof value === 'string' && test(value.normalize('NFC'), wanted));
    case 'numeric':
      return decide(
        numberTests,
        operator,
        (test) => typeof value === 'number' && Number.isFinite(value) && test(value, wanted),
      );
    default:
      return unknownCase(type);
  }
}

type Wanted = NonNullable<ConversionGoal['attribute']>['value'];
type Tests<Value> = Record<string, { holds: (value: Value, wanted: Wanted) => boolean; opposite?: string }>;

const textOf = (wanted: unknown): string => String(wanted).normalize('NFC');
const textsOf = (wanted: Wanted): string[] => (Array.isArray(wanted) ? wanted.map(textOf) : []);

/** The operators of interface 2.10, each negative next to its positive. */
const textTests: Tests<string> = {
  is: { holds: (value, wanted) => value === textOf(wanted), opposite: 'is not' },
  contains: { holds: (value, wanted) => value.includes(textOf(wanted)), opposite: 'does not contain' },
  'starts with': { holds: (value, wanted) => value.startsWith(textOf(wanted)), opposite: 'does not start with' },
  'ends with': { holds: (value, wanted) => value.endsWith(textOf(wanted)), opposite: 'does not end with' },
  'in the following': {
    holds: (value, wanted) => textsOf(wanted).includes(value),
    opposite: 'not in the following',
  },
  exists: { holds: () => true, opposite: 'does not exist' },
};

const numberTests: Tests<number> = {
  'is equal to': { holds: (value, wanted) => value === Number(wanted), opposite: 'is not equal to' },
  'is between': { holds: isBetween, opposite: 'is not between' },
  'is greater than': { holds: (value, wanted) => value > Number(wanted) },
  'is less than': { holds: (value, wanted) => value < Number(wanted) },
  exists: { holds: () => true, opposite: 'does not exist' },
};

/** Includes both bounds and accepts them in either order. */
function isBetween(value: number, wanted: Wanted): boolean {
  const bounds = readTwoNumbers(wanted);
  return bounds !== undefined && value >= Math.min(...bounds) && value <= Math.max(...bounds);
}

type Holds<Value> = Tests<Value>[string]['holds'];

/** Applies an operator. No event satisfies an operator that is not in the table (a row of another version). */
function decide<Value>(tests: Tests<Value>, operator: string, apply: (test: Holds<Value>) => boolean): boolean {
  if (Object.hasOwn(tests, operator)) return apply(tests[operator]!.holds);
  const opposite = Object.values(tests).find((test) => test.opposite === operator);
  return opposite !== undefined && !apply(opposite.holds);
}

/** The rules by which an event counts as a conversion of a campaign (fact 7). */
export const attributionTypes = [
  'VIEW_THROUGH',
  'CLICK_THROUGH',
  'IN_SESSION',
  'TOTAL_CONVERSIONS',
  'CLICK_CONVERSIONS',
] as const;
export type AttributionType = (typeof attributionTypes)[number];

/** A message of a campaign to the user of an event, sent before the event. */
export type MessageBefore = {
  sentAt: Date;
  /** A provider accepted it. */
  isAccepted: boolean;
  /** When its device first reported that the message was shown, or clicked; null: not before the event. */
  viewedAt: Date | null;
  clickedAt: Date | null;
};

export type AttributedMessage<Message> = { attribution: AttributionType; message: Message };

const hour = 3_600_000;

/**
 * Returns the messages of a campaign that an event counts for, with the rule. Each rule selects the newest message that
 * meets it. Where CLICK_THROUGH holds, the caller checks whether the click's session lasted until the event.
 *
 * - TOTAL_CONVERSIONS: the message was sent at most one window before the event; accepted messages precede the others.
 * - CLICK_CONVERSIONS: it was sent at most one window before, and clicked.
 * - VIEW_THROUGH: it was shown at most one window before.
 * - CLICK_THROUGH: it was clicked at most one window before.
 *
 * @param messages the newest first
 */
export function attributeEvent<Message extends MessageBefore>(
  messages: readonly Message[],
  { occurredAt, windowHours }: { occurredAt: Date; windowHours: number },
): AttributedMessage<Message>[] {
  const opensAt = new Date(occurredAt.getTime() - windowHours * hour);
  const isWithin = (at: Date | null): boolean => at !== null && at >= opensAt && at <= occurredAt;
  const sent = messages.filter(({ sentAt }) => isWithin(sentAt));
  const accepted = messages.filter(({ isAccepted }) => isAccepted);
  const found: Partial<Record<AttributionType, Message | undefined>> = {
    TOTAL_CONVERSIONS: sent.find(({ isAccepted }) => isAccepted) ?? sent[0],
    CLICK_CONVERSIONS: newestBy(
      sent.filter(({ isAccepted, clickedAt }) => isAccepted && clickedAt !== null && clickedAt <= occurredAt),
      'clickedAt',
    ),
    VIEW_THROUGH: newestBy(
      accepted.filter(({ viewedAt }) => isWithin(viewedAt)),
      'viewedAt',
    ),
    CLICK_THROUGH: newestBy(
      accepted.filter(({ clickedAt }) => isWithin(clickedAt)),
      'clickedAt',
    ),
  };
  return Object.entries(found).flatMap(([attribution, message]) =>
    message ? [{ attribution: attribution as AttributionType, message }] : [],
  );
}

function newestBy<Message extends MessageBefore>(
  messages: readonly Message[],
  time: 'viewedAt' | 'clickedAt',
): Message | undefined {
  return messages.reduce<Message | undefined>(
    (newest, message) => (newest && newest[time]! >= message[time]! ? newest : message),
    undefined,
  );
}

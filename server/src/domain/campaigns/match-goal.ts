import type { ConversionGoal } from './conversion-goal.ts';
import { readTwoNumbers } from './conversion-goal.ts';
import { unknownCase } from '../unknown-case.ts';

/**
 * How long after a provider accepted a message for a user an event of that user counts for the message's campaign:
 * as long as a message lives unless its sender says otherwise (fact 3.4).
 */
export type TrackedEvent = { name: string; attributes: Record<string, unknown> };

/**
 * Whether an event fulfils a goal (interface 2.10). Names are equal or not; texts compare byte for byte after Unicode
 * NFC, numbers by value (decision D24). An attribute of another type than the goal's is missing, as in the filters of
 * segments: every test fails on it, and so its opposite ("is not", "does not exist") holds.
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

/** Both bounds included, in either order. */
function isBetween(value: number, wanted: Wanted): boolean {
  const bounds = readTwoNumbers(wanted);
  return bounds !== undefined && value >= Math.min(...bounds) && value <= Math.max(...bounds);
}

type Holds<Value> = Tests<Value>[string]['holds'];

/** An operator that no table has (a row of another version) is met by no event. */
function decide<Value>(tests: Tests<Value>, operator: string, apply: (test: Holds<Value>) => boolean): boolean {
  if (Object.hasOwn(tests, operator)) return apply(tests[operator]!.holds);
  const opposite = Object.values(tests).find((test) => test.opposite === operator);
  return opposite !== undefined && !apply(opposite.holds);
}

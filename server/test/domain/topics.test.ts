import { describe, expect, test } from 'vitest';
import { isTopicKey, mergeChoices, topicRefusal } from '../../src/domain/topics.ts';
import type { TopicChoice } from '../../src/domain/topics.ts';

describe('topicRefusal', () => {
  test('follows the choice, and the default where there is none', () => {
    const refusal = (isInByDefault: boolean, isIn?: boolean) =>
      topicRefusal({ isInByDefault }, isIn === undefined ? undefined : { isIn });
    expect(refusal(true)).toBeUndefined();
    expect(refusal(true, true)).toBeUndefined();
    expect(refusal(true, false)).toBe('TOPIC_OPTED_OUT');
    expect(refusal(false)).toBe('TOPIC_NOT_OPTED_IN');
    expect(refusal(false, true)).toBeUndefined();
    expect(refusal(false, false)).toBe('TOPIC_OPTED_OUT');
  });
});

describe('mergeChoices', () => {
  const choice = (isIn: boolean, day: number): TopicChoice => ({
    ...{ isIn, source: 'APP', chosenAt: new Date(Date.UTC(2026, 2, day)) },
  });

  test('returns the newer choice in either order', () => {
    expect(mergeChoices(choice(true, 2), choice(false, 1))).toEqual(choice(true, 2));
    expect(mergeChoices(choice(false, 1), choice(true, 2))).toEqual(choice(true, 2));
  });

  test('returns the choice against the topic if both are of one instant', () => {
    expect(mergeChoices(choice(true, 1), choice(false, 1))).toEqual(choice(false, 1));
    expect(mergeChoices(choice(false, 1), choice(true, 1))).toEqual(choice(false, 1));
  });
});

describe('isTopicKey', () => {
  test('accepts lower-case letters, digits, - and _, up to 64', () => {
    for (const key of ['a', '0', 'spring-sale_2', 'x'.repeat(64)]) expect([key, isTopicKey(key)]).toEqual([key, true]);
    for (const key of ['', '-a', '_a', 'A', 'a b', 'ä', 'x'.repeat(65), 'constructor'])
      expect([key, isTopicKey(key)]).toEqual([key, false]);
  });
});

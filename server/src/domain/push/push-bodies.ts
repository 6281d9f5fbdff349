/**
 * How the body of a push is read. `strict`: every value as the interface shows it. `lenient`: also what serializers make of
 * an absent value, numbers and flags as texts, words in any case (docs/bodies.md).
 */
export const pushBodies = ['lenient', 'strict'] as const;
export type PushBodies = (typeof pushBodies)[number];

/** Authentication types of an API key; fixed for the life of the key (fact 1). */
export const keyKinds = ['oauth', 'data', 'push', 'campaigns'] as const;

export type KeyKind = (typeof keyKinds)[number];

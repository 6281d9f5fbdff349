// Topics

/**
 * Topics of a workspace.
 * Unit: topics per workspace. Exceeded: PARAMETER_INVALID.
 * Users see all of them on one page. A list that they do not read protects nobody.
 */
export const maxTopics = 50;

/** Key of a topic. Unit: characters per topic. Exceeded: PARAMETER_INVALID. */
export const maxTopicKeyCharacters = 64;

/** Name of a topic, which users read. Unit: characters per topic. Exceeded: PARAMETER_INVALID. */
export const maxTopicNameCharacters = 100;

/** Description of a topic, which users read. Unit: characters per topic. Exceeded: PARAMETER_INVALID. */
export const maxTopicDescriptionCharacters = 500;

/** Position of a topic in lists. Unit: greatest number per topic. Exceeded: PARAMETER_INVALID. */
export const maxTopicPosition = 1_000;

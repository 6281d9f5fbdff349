/**
 * How much one rendering may do. A step is one operation, 64 characters that it reads, or 16 characters or items that
 * it makes: every operation pays for its size before it begins, so neither time nor memory depends on what a template asks for.
 * Measured: all of it is spent within a third of a millisecond (docs/decisions/0019).
 */
export const maxTemplateSteps = 5_000;
/** Longest text that a rendering may make at any point; a provider takes 4,096 bytes. */
export const maxRenderedCharacters = 8_192;
/** Blocks within blocks. */
export const maxBlockDepth = 20;
/** Expressions within expressions. Deeper would be no text that a person wrote, and the reader's own stack has an end. */
export const maxExpressionDepth = 50;

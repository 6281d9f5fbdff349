/**
 * Work that one rendering may do. A step is one operation, 64 characters that it reads, or 16 characters or items that
 * it makes. Every operation pays for its size before it begins, so a template cannot exceed the time or memory it is
 * allowed. Measured: all steps are used up within a third of a millisecond (docs/decisions/0019).
 */
export const maxTemplateSteps = 5_000;
/** Maximum length of a text at any point of a rendering; a provider accepts 4,096 bytes. */
export const maxRenderedCharacters = 8_192;
/** Nesting depth of blocks. */
export const maxBlockDepth = 20;
/** Nesting depth of expressions. A human would not write deeper ones, and the parser's own stack is limited. */
export const maxExpressionDepth = 50;

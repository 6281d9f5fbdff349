// Templates

/**
 * Steps of rendering a template.
 * Unit: steps per message. Exceeded: The `fallback` is sent, or the delivery fails.
 * A step is one operation, 64 characters that it reads, or 16 characters or items that it makes. Every operation pays
 * for its size before it begins, so a template cannot exceed the time or memory it is allowed. Measured: all steps are
 * used up within a third of a millisecond (decision 0019).
 */
export const maxTemplateSteps = 5_000;

/**
 * Longest text at any point of a rendering.
 * Unit: characters per message. Exceeded: The `fallback` is sent, or the delivery fails.
 * A provider accepts 4,096 bytes.
 */
export const maxRenderedCharacters = 8_192;

/** Nesting depth of blocks in a template. Unit: levels per template. Exceeded: The template is rejected. */
export const maxBlockDepth = 20;

/**
 * Nesting depth of expressions in a template.
 * Unit: levels per template. Exceeded: The template is rejected.
 * A human would not write deeper ones, and the parser's own stack is limited.
 */
export const maxExpressionDepth = 50;

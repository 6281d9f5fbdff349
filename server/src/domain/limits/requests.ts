/** Body of a request to a route without its own limit. */
export const maxBodyBytes = 1024 * 1024;
/** Members of all objects in a body together. */
export const maxJsonMembers = 5_000;
/** Nesting depth of objects and lists. */
export const maxJsonLevels = 32;

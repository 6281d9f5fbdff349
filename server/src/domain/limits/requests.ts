/** Body of a request whose route has no limit of its own. */
export const maxBodyBytes = 1024 * 1024;
/** Of all objects of a body together. */
export const maxJsonMembers = 5_000;
/** Objects and lists within each other. */
export const maxJsonLevels = 32;

/** Users sent one by one (fact 5). */
export const userUpdatesPerMinute = 10_000;
/** Users of batch requests; devices count as users (fact 5). */
export const batchUsersPerMinute = 60_000;
/** Users requested with `customers/export` (fact 5). */
export const exportedUsersPerMinute = 1_000;
/** Fact 5. */
export const mergesPerMinute = 1_000;
/** Fact 5. */
export const deletionsPerMinute = 5_000;
/** Not documented. Connection tests are run by hand or by a monitor. */
export const connectionTestsPerMinute = 1_000;

/** Users that one request may export (fact 5). */
export const maxExportedUsers = 20;
/** Pairs that one request may merge (fact 5). */
export const maxMergedUsers = 50;

/** Ours. The number of attributes of a user is not limited; the size of a request limits what one call adds. */
export const maxAttributeNameCharacters = 256;
/** Ours; the table has the same limit. */
export const maxCustomerIdBytes = 512;
/** A longer value is not an identifier; a line of a file cannot be longer either (decision D23). */
export const maxIdentifierBytes = 1_024;
/** Body of a data request, unless it is a batch request (fact 5). */
export const maxDataBodyBytes = 128 * 1024;
/** Body of a batch request (fact 5). */
export const maxBatchBodyBytes = 100 * 1024;

/** A deleted user is erased after this delay, unless a setting overrides it; a mistake can be undone until then. */
export const erasureDelayHours = 24;

/** Users sent one by one (fact 5). */
export const userUpdatesPerMinute = 10_000;
/** Users of bulk requests; devices count as users (fact 5). */
export const batchUsersPerMinute = 60_000;
/** Users asked for by `customers/export` (fact 5). */
export const exportedUsersPerMinute = 1_000;
/** Fact 5. */
export const mergesPerMinute = 1_000;
/** Fact 5. */
export const deletionsPerMinute = 5_000;
/** Not documented; a test of the connection is made by hand or by a monitor. */
export const connectionTestsPerMinute = 1_000;

/** Users one request may ask for (fact 5). */
export const maxExportedUsers = 20;
/** Pairs one request may merge (fact 5). */
export const maxMergedUsers = 50;

/** Ours. There is no limit on how many attributes a user has; a request's size bounds what one call adds. */
export const maxAttributeNameCharacters = 256;
/** Ours, as the table has it. */
export const maxCustomerIdBytes = 512;
/** Longer values identify nobody: no line of a file may be longer either (decision D23). */
export const maxIdentifierBytes = 1_024;
/** Body of a request of the data family, unless it is a bulk request (fact 5). */
export const maxDataBodyBytes = 128 * 1024;
/** Body of a bulk request (fact 5). */
export const maxBatchBodyBytes = 100 * 1024;

/** A deleted user is erased this long after, unless the setting says otherwise; a mistake can be taken back until then. */
export const erasureDelayHours = 24;

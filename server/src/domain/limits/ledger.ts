/*
 * A row of the ledger, one per device and run, has no end: rows go only when their user is erased. Partitions are days,
 * so that an operator can archive and detach whole days.
 */

/** Rows of one file that the console writes of the delivery log; more of it is for the data warehouse. Ours. */
export const maxExportedDeliveries = 10_000;

/*
 * A row of the ledger, one per device and run, does not expire: rows are deleted only when their user is erased.
 * Partitions are days, so that an operator can archive and detach whole days.
 */

/** Rows of a file that the console exports from the delivery log; larger exports belong in the data warehouse. Ours. */
export const maxExportedDeliveries = 10_000;

// Delivery log

/**
 * Rows of a file that the console exports from the delivery log.
 * Unit: rows per file. Exceeded: The file ends there.
 * Larger exports belong in the data warehouse.
 */
export const maxExportedDeliveries = 10_000;

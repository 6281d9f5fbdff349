/** Start and end of a lease that begins now, in the database's time. The sandbox's clock moves due times, not leases. */
export type Lease = { leasedAt: Date; leaseUntil: Date };

/** Both ends of a lease that is taken now, in the database's time: the sandbox moves what is due, not who holds it. */
export type Lease = { leasedAt: Date; leaseUntil: Date };

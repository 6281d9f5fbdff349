/** What the node said it accepted, to be looked for at the end. */
export type Ledger = {
  /** Pushes to a user who is always there: campaign id → customer id. */
  toSteadyUsers: Map<string, string>;
  /** Pushes that are sent once, to whomever. */
  once: Set<string>;
  periodic: Set<string>;
  /** Segments by the name, with the operations that were accepted. */
  segmentOperations: number;
};

export function makeLedger(): Ledger {
  return { toSteadyUsers: new Map(), once: new Set(), periodic: new Set(), segmentOperations: 0 };
}

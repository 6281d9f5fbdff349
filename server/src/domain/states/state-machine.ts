/** What a row goes through: `docs/states.md` is written from it, and tests compare it with the tables and the statements. */
export type StateMachine = {
  /** As it is called in a sentence. */
  name: string;
  table: string;
  column: 'status' | 'state' | 'outcome';
  begins: readonly { state: string; by: string }[];
  changes: readonly StateChange[];
  /** The row goes: what is left is no state. */
  ends?: readonly { state: string; by: string }[];
  /** Words that the table takes, and no row has in this version. */
  reserved?: readonly string[];
};

export type StateChange = {
  from: string;
  to: string;
  by: string;
  /** The function in `storage` that makes it. */
  statement: string;
};

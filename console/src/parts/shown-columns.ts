export type ColumnSet<Column extends string> = {
  /** All that a list may have, in their order, as it names them. */
  names: Record<Column, string>;
  usual: readonly Column[];
};

/** Those that an address asks for, as far as the list has them; the usual ones where it asks for none of these. */
export function shownColumns<Column extends string>(
  asked: readonly string[] | undefined,
  { names, usual }: ColumnSet<Column>,
): readonly Column[] {
  const columns = (Object.keys(names) as Column[]).filter((column) => asked?.includes(column));
  return columns.length === 0 ? usual : columns;
}

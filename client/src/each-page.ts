/** Returns the items of all pages in order. A page is requested when the items of the previous one are used up. */
export async function* eachPage<Item>(
  pageSize: number,
  read: (page: { limit: number; page: number }) => Promise<readonly Item[]>,
): AsyncGenerator<Item, void, undefined> {
  for (let page = 1; ; page += 1) {
    const items = await read({ limit: pageSize, page });
    yield* items;
    // A page that is not full is the last one.
    if (items.length < pageSize) return;
  }
}

import type { Locator, Page } from 'playwright-core';

/**
 * Throws if a user cannot click the element with a mouse. A driver also scrolls areas that a user cannot scroll
 * (`overflow: hidden`, a page wider than its window) and clicks there.
 */
export async function assertHit(locator: Locator): Promise<void> {
  await locator.waitFor({ state: 'attached' });
  let fault: string | null = null;
  // Content that moves or loads may cover the element for a moment.
  for (let triesLeft = 40; triesLeft > 0; triesLeft -= 1) {
    fault = await locator.evaluate(findHitFault);
    if (fault === null) return;
    await locator.page().waitForTimeout(50);
  }
  throw new Error(`${String(locator)} cannot be clicked by a mouse: ${fault}`);
}

/** Returns the controls of the screen that a mouse cannot reach, each with the reason. */
export async function findMisses(page: Page): Promise<string[]> {
  const controls = page.locator('a[href], button, input, select, textarea, summary, [role="button"]');
  return controls.evaluateAll((elements, source) => {
    const findFault = new Function(`return ${source}`)() as typeof findHitFault;
    return elements.flatMap((element: any) => {
      const isShown = element.checkVisibility({ visibilityProperty: true });
      const { width, height } = element.getBoundingClientRect();
      // Elements of one pixel are only for screen readers. A skip link is drawn only while it has the focus.
      if (!isShown || width < 2 || height < 2 || element.matches('[href^="#"]')) return [];
      const fault = findFault(element);
      return fault === null ? [] : [`${element.outerHTML.slice(0, 120)}: ${fault}`];
    });
  }, findHitFault.toString());
}

/** Runs in the page. Returns null if a user can scroll to the middle of the element and click it there. */
function findHitFault(element: any): string | null {
  const { document, getComputedStyle } = globalThis as any;
  const fixed: { node: any; left: number; top: number }[] = [];
  const parentOf = (node: any): any => node.parentElement ?? node.getRootNode().host ?? null;
  for (let node = parentOf(element); node !== null; node = parentOf(node)) {
    const { overflowX, overflowY } = getComputedStyle(node);
    if ([overflowX, overflowY].some((overflow) => overflow === 'hidden' || overflow === 'clip'))
      fixed.push({ node, left: node.scrollLeft, top: node.scrollTop });
  }
  const page = document.scrollingElement;
  const pageLeft = page.scrollLeft;
  let fault: string | null = null;
  for (const block of ['nearest', 'center']) {
    element.scrollIntoView({ block, inline: 'nearest', behavior: 'instant' });
    for (const { node, left, top } of fixed)
      if (Math.abs(node.scrollLeft - left) > 1 || Math.abs(node.scrollTop - top) > 1) {
        node.scrollTo({ left, top, behavior: 'instant' });
        return `it is cut off by ${node.tagName.toLowerCase()}.${node.className}`;
      }
    if (page.scrollLeft !== pageLeft) {
      const away = page.scrollLeft - pageLeft;
      page.scrollLeft = pageLeft;
      return `it is outside of the window, ${away} pixels away`;
    }
    // A wrapped link has a box on each line. The middle of the whole may be in none of them.
    const box = element.getClientRects()[0] ?? element.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    let met = document.elementFromPoint(x, y);
    // The document names the element that has a shadow root, not what the root shows there.
    for (let root = met?.shadowRoot; root; root = met.shadowRoot) {
      const inner = root.elementFromPoint(x, y);
      if (inner === null || inner === met) break;
      met = inner;
    }
    if (met !== null && (element.contains(met) || [...(element.labels ?? [])].some((label) => label.contains(met))))
      return null;
    // A click on an enclosing link, button or label reaches the element.
    if (met !== null && met.contains(element) && met.matches('a, button, label')) return null;
    fault = met === null ? 'its middle is outside of the window' : `${met.outerHTML.slice(0, 100)} covers it`;
  }
  return fault;
}

const wrapped = new WeakSet<object>();
const watchers = new WeakMap<Page, (name: string) => void>();
/** Actions of a user on elements that a mouse must be able to reach; below, the other actions. */
const hitActions = ['click', 'dblclick', 'check', 'uncheck', 'setChecked', 'selectOption', 'fill'];
const otherActions = ['press', 'pressSequentially', 'setInputFiles', 'dragTo', 'tap'];

/** Calls `onAction` for each action of a test on this page, such as a click or a filled field. */
export function watchActions(page: Page, onAction: (name: string) => void): void {
  watchers.set(page, onAction);
}

/** Makes every click, check and choice on locators of such a page call assertHit first. */
export function testEveryClick(page: Page): void {
  const prototype = Object.getPrototypeOf(page.locator('body')) as Record<string, unknown>;
  if (wrapped.has(prototype)) return;
  wrapped.add(prototype);
  for (const name of [...hitActions, ...otherActions]) {
    const act = prototype[name] as (this: Locator, ...rest: unknown[]) => Promise<unknown>;
    prototype[name] = async function (this: Locator, ...rest: unknown[]) {
      if (hitActions.includes(name)) await assertHit(this);
      watchers.get(this.page())?.(name);
      return act.apply(this, rest);
    };
  }
}

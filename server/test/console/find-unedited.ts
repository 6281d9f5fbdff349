import type { Page } from 'playwright-core';

/**
 * What on the screen no editor or designer has been at: a text in another size or weight than those of the theme, a button of
 * more than three words, a time as machines write it, an id that is not set as code, one thing counted as several.
 */
export function findUnedited(page: Page): Promise<string[]> {
  return page.evaluate(findInPage);
}

/** Runs in the page. */
function findInPage(): string[] {
  const { document, getComputedStyle, NodeFilter } = globalThis as any;
  const sizes = ['12px', '13px', '14px', '16px', '20px', '28px'];
  const weights = ['400', '500', '600'];
  /** What is drawn as it stands on somebody else's screen, or by what a library brings. */
  const foreign = '[data-phone], .uplot, kbd, svg';
  const counted = new RegExp('\\b1 (devices|people|users|runs|rows|lines|attempts|messages|days|hours|minutes)\\b');
  const found = new Set<string>();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = node.textContent.replace(/\s+/g, ' ').trim();
    const element = node.parentElement;
    const { width, height } = element.getBoundingClientRect();
    const isShown = element.checkVisibility({ visibilityProperty: true }) && width > 1 && height > 1;
    if (text === '' || !isShown || element.closest(foreign) !== null) continue;
    const { fontSize, fontWeight } = getComputedStyle(element);
    if (!sizes.includes(fontSize)) found.add(`${fontSize}: ${text.slice(0, 60)}`);
    if (!weights.includes(fontWeight)) found.add(`weight ${fontWeight}: ${text.slice(0, 60)}`);
    if (element.closest('code, pre, textarea, a[href*="/campaigns/"]') !== null) continue;
    if (/\b\d{4}-\d\d-\d\d\b/.test(text)) found.add(`a time of machines: ${text.slice(0, 60)}`);
    if (/\b[0-9a-f]{24,}\b/.test(text)) found.add(`an id: ${text.slice(0, 60)}`);
    if (counted.test(text)) found.add(`one of many: ${text.slice(0, 60)}`);
  }
  for (const button of document.querySelectorAll('button')) {
    const words = button.innerText
      .trim()
      .split(/\s+/)
      .filter((word: string) => /[A-Za-z]/.test(word));
    if (words.length > 3 && button.checkVisibility({ visibilityProperty: true }))
      found.add(`a long button: ${words.join(' ')}`);
  }
  return [...found].sort();
}

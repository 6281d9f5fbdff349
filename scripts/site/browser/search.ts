import { makeFinder } from './find-sections.ts';
import type { Found, Row } from './find-sections.ts';

const excerptCharacters = 120;

/** Searches every section of every page; runs in the browser only. */
export async function startSearch(input: HTMLInputElement): Promise<void> {
  const root = document.body.dataset.root!;
  const list = document.querySelector<HTMLElement>('#found')!;
  const rows = (await (await fetch(`${root}assets/search.json`)).json()) as Row[];
  const find = makeFinder(rows);

  const show = (): void => {
    const words = input.value.trim();
    list.hidden = words === '';
    if (words === '') return;
    const found = find(words);
    list.replaceChildren(
      ...found.map((one) => renderFound(one, root)),
      ...(found.length === 0 ? [element('p', 'Nothing found. Try another word.')] : []),
    );
  };
  input.addEventListener('input', show);
  input.addEventListener('focus', show);
  document.addEventListener('keydown', (event) => move(event, { input, list }));
  document.addEventListener('click', ({ target }) => {
    if (!(target as HTMLElement).closest('.search')) list.hidden = true;
  });
  show();
}

function move(event: KeyboardEvent, { input, list }: { input: HTMLInputElement; list: HTMLElement }): void {
  if (list.hidden) return;
  const links = [...list.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  if (event.key === 'Escape') {
    list.hidden = true;
    input.focus();
  } else if (event.key === 'ArrowDown') links[Math.min(at + 1, links.length - 1)]?.focus();
  else if (event.key === 'ArrowUp') (at > 0 ? links[at - 1]! : input).focus();
  else if (event.key === 'Enter' && at === -1) links[0]?.click();
  else return;
  event.preventDefault();
}

function renderFound({ row: [title, heading, address, text], terms }: Found, root: string): HTMLElement {
  const link = document.createElement('a');
  link.href = `${root}${address}` || './';
  link.append(element('strong', heading === '' ? title : heading), element('small', heading === '' ? '' : title));
  const at = Math.max(
    0,
    ...terms
      .map((term) => text.toLowerCase().indexOf(term))
      .filter((place) => place >= 0)
      .slice(0, 1),
  );
  const begin = Math.max(0, at - excerptCharacters / 3);
  link.append(element('span', `${begin > 0 ? '…' : ''}${text.slice(begin, begin + excerptCharacters)}`));
  return link;
}

function element(name: string, text: string): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

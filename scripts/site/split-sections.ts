import type MarkdownIt from 'markdown-it';

type Token = ReturnType<MarkdownIt['parse']>[number];
/** The part of a page under one heading. */
export type Section = { id: string; heading: string; level: number; text: string };

/** Gives headings the same anchors as a forge, and returns the text below each for the outline and the search. */
export function splitSections(tokens: Token[]): Section[] {
  const used = new Map<string, number>();
  const sections: Section[] = [];
  tokens.forEach((token, index) => {
    if (token.type === 'heading_open') {
      const heading = plain(tokens[index + 1]!);
      const slug = slugOf(heading);
      const count = used.get(slug) ?? 0;
      used.set(slug, count + 1);
      const id = count === 0 ? slug : `${slug}-${count}`;
      token.attrSet('id', id);
      sections.push({ id, heading, level: Number(token.tag.slice(1)), text: '' });
      return;
    }
    const section = sections.at(-1);
    if (!section || tokens[index - 1]?.type === 'heading_open') return;
    if (token.type === 'inline') section.text += `${plain(token)} `;
    if (token.type === 'fence') section.text += `${token.content} `;
  });
  return sections;
}

function plain(token: Token): string {
  const texts = (token.children ?? []).map(({ type, content }) =>
    /^(text|code_inline)$/.test(type) ? content : type === 'softbreak' ? ' ' : '',
  );
  return texts.join('');
}

function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');
}

import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import kotlin from 'highlight.js/lib/languages/kotlin';
import sql from 'highlight.js/lib/languages/sql';
import swift from 'highlight.js/lib/languages/swift';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import MarkdownIt from 'markdown-it';
import { drawStates } from './draw-states.ts';
import { splitSections } from './split-sections.ts';
import type { Links } from './resolve-links.ts';

const languages = { bash, ini, javascript, json, kotlin, sql, swift, typescript, xml, yaml, python, go, php };
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);

/** Path of the page that is rendered. */
export type PageEnvironment = { source: string };

/**
 * Renders Markdown as a forge shows it: the same anchors, links to files as links to their pages, and colours as classes,
 * because the content security policy blocks inline styles. Comments are left out.
 */
export function makeMarkdown(links: Links): MarkdownIt {
  const md = new MarkdownIt({ html: true, highlight: colour });
  const { rules } = md.renderer;
  md.core.ruler.push('pages', (state) => {
    const { source } = state.env as PageEnvironment;
    splitSections(state.tokens);
    nameRows(state.tokens);
    for (const token of state.tokens) {
      // The content security policy of the pages blocks inline styles.
      if (token.attrGet('style') === 'text-align:right') token.attrs = [['class', 'right']];
      else if (/^t[hd]_open$/.test(token.type)) token.attrs = null;
      for (const child of token.children ?? []) {
        if (child.type === 'link_open') {
          const target = links.resolve(source, child.attrGet('href')!);
          if (target === undefined) child.attrs = [['class', 'file']];
          else child.attrSet('href', target);
        }
        if (child.type === 'image') child.attrSet('src', links.resolve(source, child.attrGet('src')!) ?? '');
      }
    }
  });
  const withoutComments = (text: string): string => text.replace(/<!--[^]*?-->\n?/g, '');
  rules.html_block = (tokens, index) => {
    const { content } = tokens[index]!;
    // A placeholder for an example that the reader can fill in and run, which a forge cannot show.
    const [, call] = /^<!-- site: call (\w+) -->/.exec(content) ?? [];
    if (call) return `<div class="code" data-call="${call}" hidden><pre tabindex="0"><code></code></pre></div>\n`;
    return withoutComments(content);
  };
  rules.html_inline = rules.html_block;
  rules.table_open = () => '<div class="table" tabindex="0"><table>\n';
  rules.table_close = () => '</table></div>\n';
  rules.heading_close = (tokens, index) => {
    const id = tokens[index - 2]!.attrGet('id');
    return `<a class="anchor" href="#${id}" aria-label="Link to this section">#</a></${tokens[index]!.tag}>\n`;
  };
  // A column without a title has no heading for a screen reader.
  for (const side of ['open', 'close'] as const)
    rules[`th_${side}`] = (tokens, index) => {
      const cell = tokens[side === 'open' ? index + 1 : index - 1]!;
      const attributes = side === 'open' ? md.renderer.renderAttrs(tokens[index]!) : '/';
      return cell.content === '' ? tagOf('td', attributes) : tagOf('th', attributes);
    };
  const fence = rules.fence!;
  rules.fence = (tokens, index, ...rest) => {
    if (tokens[index]!.info === 'mermaid') return drawStates(tokens[index]!.content);
    const [, call] = /^sh call=(\w+)$/.exec(tokens[index]!.info) ?? [];
    // Scrolling elements must be reachable with the keyboard.
    const block = fence(tokens, index, ...rest).replace('<pre>', '<pre tabindex="0">');
    return `<div class="code"${call ? ` data-call="${call}"` : ''}>${block}</div>\n`;
  };
  return md;
}

const tagOf = (name: string, attributes: string): string =>
  attributes === '/' ? `</${name}>` : `<${name}${attributes}>`;

function colour(text: string, info: string): string {
  const [word] = info.split(' ', 1);
  const language = hljs.getLanguage(word!) ? word! : undefined;
  return language ? hljs.highlight(text, { language }).value : '';
}

/** A row whose first cell is one word of code gets an anchor: errors, settings, limits. */
function nameRows(tokens: ReturnType<MarkdownIt['parse']>): void {
  const used = new Set<string>();
  tokens.forEach((token, index) => {
    if (token.type !== 'tr_open') return;
    const children = tokens[index + 2]?.children ?? [];
    const [only] = children;
    if (children.length !== 1 || only!.type !== 'code_inline' || !/^[A-Z][A-Z0-9_]{3,}$/.test(only!.content)) return;
    if (!used.has(only!.content)) token.attrSet('id', only!.content);
    used.add(only!.content);
  });
}

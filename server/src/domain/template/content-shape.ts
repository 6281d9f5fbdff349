import { changeTexts } from '../campaigns/content-texts.ts';
import type { OwnContent } from '../campaigns/content-texts.ts';
import type { Platform } from '../campaigns/content.ts';
import type { TextPlace } from '../campaigns/text-place.ts';
import type { Template } from './template-syntax.ts';

/** By their texts; `fault`: one that only another version of this server could read. */
export type Templates = Map<string, Template | { fault: string }>;

/** A place of a content at which a template stands. */
export type TemplatePlace = { template: Template | { fault: string }; place: TextPlace };

/** What of a content is a user's own: a text for each place of the shape. */
export type OwnTexts = { shape: ContentShape; texts: readonly string[] };

/**
 * A content with templates, read once: which texts are users' own, and a content with other texts there. Contents of one shape
 * differ in these texts alone.
 */
export class ContentShape<P extends Platform = Platform> {
  /** With the templates as they were written. */
  readonly base: OwnContent[P];
  /** In the order in which they are rendered. */
  readonly places: readonly TemplatePlace[];
  readonly #platform: P;
  readonly #templates: Templates;

  constructor(platform: P, { content, templates }: { content: OwnContent[P]; templates: Templates }) {
    this.base = content;
    this.#platform = platform;
    this.#templates = templates;
    const places: TemplatePlace[] = [];
    changeTexts(platform, {
      content,
      change(text, place) {
        const template = templates.get(text);
        if (template) places.push({ template, place });
        return text;
      },
    });
    this.places = places;
  }

  /** Whether a template stands at one of the fields. */
  isOwn(fields: readonly string[]): boolean {
    return this.places.some(({ place }) => fields.includes(place.field));
  }

  /** @param texts one for each place; undefined: it is left out */
  contentWith(texts: readonly (string | undefined)[]): OwnContent[P] {
    let next = 0;
    const change = (text: string): string | undefined => {
      if (!this.#templates.has(text)) return text;
      next += 1;
      return texts[next - 1];
    };
    return changeTexts(this.#platform, { content: this.base, change });
  }
}

/** A content for one user. It is put together when it is asked for: who sends many alike needs the texts alone. */
export class RenderedContent<P extends Platform> {
  readonly #shape: ContentShape<P>;
  readonly #texts: readonly (string | undefined)[];
  #content: OwnContent[P] | undefined;

  constructor(shape: ContentShape<P>, texts: readonly (string | undefined)[]) {
    this.#shape = shape;
    this.#texts = texts;
  }

  get content(): OwnContent[P] {
    this.#content ??= this.#shape.contentWith(this.#texts);
    return this.#content;
  }

  /** Undefined where a text is left out, which changes what stands around it. */
  get own(): OwnTexts | undefined {
    for (const text of this.#texts) if (text === undefined) return undefined;
    return { shape: this.#shape as never, texts: this.#texts as readonly string[] };
  }
}

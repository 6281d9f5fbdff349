import { platforms } from '../content/content.ts';
import type { CampaignContent, Platform } from '../content/content.ts';
import { languagesOf, makeContentIn } from '../content/locales.ts';
import type { ContentIn } from '../content/locales.ts';
import { changeTexts } from '../content/texts.ts';
import type { OwnContent, TextPlace } from '../content/texts.ts';
import { addressFault } from '../../fields/request-reader.ts';
import { storedNameInTemplates } from '../users/standard-attributes.ts';
import type { Attributes } from '../users/user-attributes.ts';
import { parseTemplate, isTemplate } from './parser.ts';
import type { TemplateMode } from './parser.ts';
import { renderTemplate } from './render.ts';
import type { RenderFault, Sources } from './render.ts';
import type { SourceName, Template } from './syntax.ts';
import { Budget, AttributeSource } from './values.ts';

/** The text that failed, by its position in the content, and why. */
export type ContentFault = RenderFault & { field: string };

export type Personal<P extends Platform = Platform> =
  /** `own`: absent if a text is omitted. `instead`: this is the fallback, because the content failed for this reason. */
  | { readonly content: OwnContent[P]; readonly own?: OwnTexts | undefined; instead?: ContentFault }
  /** The content failed, and so did the fallback if there is one. */
  | { fault: ContentFault };

export type RenderRequest<P extends Platform> = {
  platform: P;
  user: User;
  /**
   * The attributes of the event that started the campaign: a business event or a user event. A campaign is started by
   * one kind only.
   */
  event: Record<string, unknown>;
  /** One of the platform's locales; undefined: the default content. */
  language?: string | undefined;
};

export type Personaliser = {
  /** Names of user attributes that the templates read; `all` if they are not known in advance. */
  reads: readonly string[] | 'all';
  /** Names of attributes of a business event, and of the user's event. */
  eventReads: readonly string[] | 'all';
  userEventReads: readonly string[] | 'all';
  render<P extends Platform>(request: RenderRequest<P>): Personal<P>;
};

/**
 * Returns a personaliser for a campaign's content (decision D39). Templates are parsed once, here. Undefined if no text
 * is a template: then there is nothing to personalise.
 */
export function makePersonaliser(content: CampaignContent, mode: TemplateMode): Personaliser | undefined {
  const contentIn = makeContentIn(content);
  const templates = findTemplates(content, { mode, contentIn });
  if (templates.size === 0) return undefined;
  const shapes = new Map<OwnContent[Platform], ContentShape>();
  const shapeOf = <P extends Platform>(platform: P, own: OwnContent[P]): ContentShape<P> => {
    const known = shapes.get(own) ?? new ContentShape(platform, { content: own, templates });
    shapes.set(own, known);
    return known as ContentShape<P>;
  };
  return {
    reads: storedNames(readNames(templates, 'UserAttribute')),
    eventReads: readNames(templates, 'BusinessEventAttribute'),
    userEventReads: readNames(templates, 'EventAttribute'),
    render({ platform, user, event, language }) {
      const sources: Sources = {
        UserAttribute: userSource(user),
        EventAttribute: eventSource('EventAttribute', event),
        BusinessEventAttribute: eventSource('BusinessEventAttribute', event),
      };
      const { fallback } = content[platform]!;
      const rendered = renderContent(shapeOf(platform, contentIn(platform, language)), sources);
      if ('content' in rendered || !fallback) return rendered;
      const second = renderContent(shapeOf(platform, fallback as OwnContent[typeof platform]), sources);
      // If both fail, the first error is reported: it concerns the content meant to be shown.
      return 'content' in second ? { content: second.content, instead: rendered.fault } : rendered;
    },
  };
}

type Finding = { mode: TemplateMode; contentIn: ContentIn };

function findTemplates(content: CampaignContent, { mode, contentIn }: Finding): Templates {
  const templates: Templates = new Map();
  const note = (text: string): string => {
    if (isTemplate(text, mode) && !templates.has(text)) {
      const parsed = parseTemplate(text);
      templates.set(text, 'template' in parsed ? parsed.template : parsed);
    }
    return text;
  };
  for (const platform of platforms) {
    if (!content[platform]) continue;
    const { fallback } = content[platform];
    for (const language of [undefined, ...languagesOf(content, platform)])
      changeTexts(platform, { content: contentIn(platform, language) as never, change: note });
    if (fallback) changeTexts(platform, { content: fallback as never, change: note });
  }
  return templates;
}

function readNames(templates: Templates, source: SourceName): readonly string[] | 'all' {
  const names = [...templates.values()].map((template) =>
    'references' in template ? (template.references[source] ?? []) : [],
  );
  return names.includes('all') ? 'all' : [...new Set(names.flat())];
}

const eventCauses = { EventAttribute: 'EVENT_ATTRIBUTE', BusinessEventAttribute: 'BUSINESS_EVENT_ATTRIBUTE' } as const;

function eventSource(source: keyof typeof eventCauses, event: Record<string, unknown>): AttributeSource {
  return new AttributeSource(source, {
    cause: eventCauses[source],
    find: (name) => (Object.hasOwn(event, name) ? event[name] : undefined),
  });
}

type Rendered<P extends Platform> = RenderedContent<P> | { fault: ContentFault };

/** Renders a content. All its texts share one budget. */
function renderContent<P extends Platform>(shape: ContentShape<P>, sources: Sources): Rendered<P> {
  const budget = new Budget();
  const texts: (string | undefined)[] = [];
  for (const { template, place } of shape.places) {
    const { field } = place;
    // The template was parsed when it was stored; only another version of this server could reject it.
    if (!('statements' in template)) return { fault: { cause: 'UNKNOWN', reason: template.fault, field } };
    const rendered = renderTemplate(template, { sources, budget });
    if ('fault' in rendered) return { fault: { ...rendered.fault, field } };
    const reason = placeFault(rendered.text, place);
    if (reason !== undefined) return { fault: { cause: 'RESULT', reason, field } };
    const made = place.schemes ? rendered.text.trim() : rendered.text;
    texts.push(made.trim() === '' && !place.isRequired ? undefined : made);
  }
  return new RenderedContent(shape, texts);
}

/** Returns why a rendered text is invalid in its place; the rules are the same as for a text in a request. */
function placeFault(text: string, { maxLength, schemes, isRequired }: TextPlace): string | undefined {
  if (text.trim() === '') return isRequired ? 'is empty' : undefined;
  if (text.length > maxLength) return `has more than ${maxLength} characters`;
  // Checked as it is sent, without surrounding spaces.
  if (schemes && addressFault(text.trim(), schemes) !== undefined)
    return schemes === 'web and apps' ? 'must be an address of the web or of an app' : 'must be a web address';
  return undefined;
}

/** Templates by their texts; `fault`: a template that only another version of this server could parse. */
type Templates = Map<string, Template | { fault: string }>;

/** A place in a content that contains a template. */
export type TemplatePlace = { template: Template | { fault: string }; place: TextPlace };

/** The personalised part of a content: a text for each place of the shape. */
export type OwnTexts = { shape: ContentShape; texts: readonly string[] };

/**
 * A content with templates, parsed once: it knows which texts are personalised, and builds the content with other texts
 * in their place. Contents of one shape differ in these texts only.
 */
export class ContentShape<P extends Platform = Platform> {
  /** The content with its templates as written. */
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

  /** True if one of the fields contains a template. */
  isOwn(fields: readonly string[]): boolean {
    return this.places.some(({ place }) => fields.includes(place.field));
  }

  /** @param texts one for each place; undefined: the text is omitted */
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

/** A content for one user. It is built on demand: a sender of many similar messages needs only the texts. */
class RenderedContent<P extends Platform> {
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

  /** Undefined if a text is omitted, because that changes the content around it. */
  get own(): OwnTexts | undefined {
    for (const text of this.#texts) if (text === undefined) return undefined;
    return { shape: this.#shape as never, texts: this.#texts as readonly string[] };
  }
}

/** A user as a template sees it; a user who was erased in the meantime has no data. */
export type User = { customerId: string; attributes: Attributes };

export const unknownUser: User = { customerId: '', attributes: {} };

/**
 * Returns the source `UserAttribute` for a user. An attribute with exactly that name comes first, so that a workspace's
 * own attribute `Name` keeps its value. The customer id is always the user's, whatever the attributes contain.
 */
export function userSource({ customerId, attributes }: User): AttributeSource {
  const find = (name: string): unknown => {
    const id = customerId === '' ? undefined : customerId;
    if (name === 'uid' || name === 'customer_id') return id;
    if (Object.hasOwn(attributes, name)) return attributes[name];
    const key = storedNameInTemplates(name);
    if (key === 'uid') return id;
    return Object.hasOwn(attributes, key) ? attributes[key] : undefined;
  };
  return new AttributeSource('UserAttribute', { cause: 'USER_ATTRIBUTE', find });
}

/** Returns the stored names of the attributes that lookups by these names may read. */
export function storedNames(names: readonly string[] | 'all'): readonly string[] | 'all' {
  if (names === 'all') return names;
  return [...new Set(names.flatMap((name) => [name, storedNameInTemplates(name)]))];
}

import { addressFault } from '../request-reader/address-fault.ts';
import { storedNames, userSource } from '../users/user-source.ts';
import type { User } from '../users/user-source.ts';
import { changeTexts } from '../campaigns/content-texts.ts';
import { ContentShape, RenderedContent } from './content-shape.ts';
import type { OwnTexts, Templates } from './content-shape.ts';
import type { OwnContent } from '../campaigns/content-texts.ts';
import type { TextPlace } from '../campaigns/text-place.ts';
import { languagesOf, makeContentIn } from '../locales/localize-content.ts';
import type { ContentIn } from '../locales/localize-content.ts';
import { platforms } from '../campaigns/content.ts';
import type { CampaignContent, Platform } from '../campaigns/content.ts';
import { Budget } from './budget.ts';
import { parseTemplate } from './parse-template.ts';
import { renderTemplate } from './render-template.ts';
import type { RenderFault, Sources } from './render-template.ts';
import { isTemplate } from './template-mode.ts';
import type { TemplateMode } from './template-mode.ts';
import type { SourceName } from './template-syntax.ts';
import { AttributeSource } from './template-value.ts';

/** Which text failed, by its place in the content, and why. */
export type ContentFault = RenderFault & { field: string };

export type Personal<P extends Platform = Platform> =
  /** `own`: absent where a text is left out. `instead`: it is the fallback, because the content failed for this. */
  | { readonly content: OwnContent[P]; readonly own?: OwnTexts | undefined; instead?: ContentFault }
  /** The content failed, and so did the fallback, if there is one. */
  | { fault: ContentFault };

export type RenderRequest<P extends Platform> = {
  platform: P;
  user: User;
  /** What started the campaign, of the business or of the user: a campaign is started by one kind. */
  event: Record<string, unknown>;
  /** Of the locales of the platform; undefined: the content for everybody else. */
  language?: string | undefined;
};

export type Personaliser = {
  /** Names of attributes that the templates read of a person; `all` when not known before. */
  reads: readonly string[] | 'all';
  /** Names of attributes of a business event, and of the user's own event. */
  eventReads: readonly string[] | 'all';
  userEventReads: readonly string[] | 'all';
  render<P extends Platform>(request: RenderRequest<P>): Personal<P>;
};

/**
 * What makes a campaign's content a person's own (decision D39). Templates are read once, here. Undefined when no text
 * is a template: then there is nothing to do for anybody.
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

/** All texts of a content share one allowance. */
function renderContent<P extends Platform>(shape: ContentShape<P>, sources: Sources): Rendered<P> {
  const budget = new Budget();
  const texts: (string | undefined)[] = [];
  for (const { template, place } of shape.places) {
    const { field } = place;
    // It was parsed when it was stored; only another version of this server could reject it.
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

/** Why a rendered text is invalid at its place; the same rules as for a text in a request. */
function placeFault(text: string, { longest, schemes, isRequired }: TextPlace): string | undefined {
  if (text.trim() === '') return isRequired ? 'is empty' : undefined;
  if (text.length > longest) return `has more than ${longest} characters`;
  // As it is sent, without the spaces around it.
  if (schemes && addressFault(text.trim(), schemes) !== undefined)
    return schemes === 'web and apps' ? 'is no address of the web or of an app' : 'is no web address';
  return undefined;
}

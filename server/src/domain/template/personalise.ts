import { addressFault } from '../request-reader/address-fault.ts';
import { storedNames, userSource } from '../users/user-source.ts';
import type { User } from '../users/user-source.ts';
import { changeTexts } from '../campaigns/content-texts.ts';
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
import type { SourceName, Template } from './template-syntax.ts';
import { AttributeSource } from './template-value.ts';
import type { RenderCause } from './budget.ts';

/** Which text failed, by its place in the content, and why. */
export type ContentFault = RenderFault & { field: string };

export type Personal<P extends Platform = Platform> =
  /** `instead`: it is the fallback, because the content failed for this. */
  | { content: OwnContent[P]; instead?: ContentFault }
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
      const own = contentIn(platform, language);
      const rendered = renderContent({ platform, content: own as never, templates, sources });
      if ('content' in rendered || !fallback) return rendered;
      const second = renderContent({ platform, content: fallback as never, templates, sources });
      // If both fail, the first error is reported: it concerns the content meant to be shown.
      return 'content' in second ? { content: second.content, instead: rendered.fault } : rendered;
    },
  };
}

type Templates = Map<string, Template | { fault: string }>;

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

class PlaceError extends Error {
  readonly fault: ContentFault;

  constructor(fault: ContentFault) {
    super(fault.reason);
    this.fault = fault;
  }
}

type Rendering<P extends Platform> = { platform: P; content: OwnContent[P]; templates: Templates; sources: Sources };

/** All texts of a content share one allowance. */
function renderContent<P extends Platform>(
  rendering: Rendering<P>,
): { content: OwnContent[P] } | { fault: ContentFault } {
  const { platform, content, templates, sources } = rendering;
  const budget = new Budget();
  const change = (text: string, place: TextPlace): string | undefined => {
    const template = templates.get(text);
    if (!template) return text;
    const fail = (cause: RenderCause, reason: string) => new PlaceError({ cause, reason, field: place.field });
    // It was parsed when it was stored; only another version of this server could reject it.
    if (!('statements' in template)) throw fail('UNKNOWN', template.fault);
    const rendered = renderTemplate(template, { sources, budget });
    if ('fault' in rendered) throw fail(rendered.fault.cause, rendered.fault.reason);
    const reason = placeFault(rendered.text, place);
    if (reason !== undefined) throw fail('RESULT', reason);
    const made = place.schemes ? rendered.text.trim() : rendered.text;
    return made.trim() === '' && !place.isRequired ? undefined : made;
  };
  try {
    return { content: changeTexts(platform, { content, change }) };
  } catch (error) {
    if (error instanceof PlaceError) return { fault: error.fault };
    throw error;
  }
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

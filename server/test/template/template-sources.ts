import { parseTemplate } from '../../src/domain/template/parser.ts';
import { Budget, AttributeSource } from '../../src/domain/template/values.ts';
import { renderTemplate } from '../../src/domain/template/render.ts';
import type { Rendered, Sources } from '../../src/domain/template/render.ts';

export function sourcesOf(user: Record<string, unknown>, event: Record<string, unknown> = {}): Sources {
  const find = (values: Record<string, unknown>) => (name: string) =>
    Object.hasOwn(values, name) ? values[name] : undefined;
  return {
    UserAttribute: new AttributeSource('UserAttribute', { cause: 'USER_ATTRIBUTE', find: find(user) }),
    EventAttribute: new AttributeSource('EventAttribute', { cause: 'EVENT_ATTRIBUTE', find: find(event) }),
    BusinessEventAttribute: new AttributeSource('BusinessEventAttribute', {
      cause: 'BUSINESS_EVENT_ATTRIBUTE',
      find: find(event),
    }),
  };
}

/** Reads and renders at once. @throws when it is no template */
export function renderText(text: string, sources: Sources = sourcesOf({})): Rendered {
  const parsed = parseTemplate(text);
  if ('fault' in parsed) throw new Error(parsed.fault);
  return renderTemplate(parsed.template, { sources, budget: new Budget() });
}

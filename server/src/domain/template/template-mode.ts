import { parseTemplate } from './parse-template.ts';
import type { SourceName } from './template-syntax.ts';

/**
 * Whether the texts of a campaign are templates (decision D39): all, none, or (by default) those with a marker.
 */
export type TemplateMode = 'ON' | 'OFF' | 'AUTO';

/** A text without markers is what it says, and costs nothing. */
export function isTemplate(text: string, mode: TemplateMode): boolean {
  if (mode === 'OFF') return false;
  return text.includes('{{') || text.includes('{%') || (mode === 'ON' && text.includes('{#'));
}

/** Why a text cannot be a template of a campaign with these sources; undefined if it can, or is not a template. */
export function templateFault(
  text: string,
  { mode, sources }: { mode: TemplateMode; sources: readonly SourceName[] },
): string | undefined {
  if (!isTemplate(text, mode)) return undefined;
  const parsed = parseTemplate(text);
  if ('fault' in parsed) return `is no template: ${parsed.fault}`;
  const absent = Object.keys(parsed.template.references).find((name) => !sources.some((one) => one === name));
  return absent === undefined
    ? undefined
    : `is no template: ${absent} has values in campaigns that a business event starts`;
}

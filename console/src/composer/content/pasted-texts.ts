import { readAt, textAt } from '../campaign-body.ts';
import type { CampaignForm } from '../campaign-form.ts';
import { baseContent, defaultLocale, pushPath } from './variants.ts';

/** Returns the title and the message of pasted lines: the first line is the title. Undefined for one line. */
export function pastedTexts(pasted: string): { title: string; message: string } | undefined {
  const [title, ...rest] = pasted.split(/\r?\n/).map((line) => line.trim());
  const message = rest.join('\n').trim();
  return title === undefined || title === '' || message === '' ? undefined : { title, message };
}

type Target = {
  /** The content whose title gets the text. */
  path: string;
  /** True if the pasted text replaces the whole title. */
  isWhole: boolean;
};

/**
 * Returns true if pasted lines may replace title and message: nothing that a person wrote is lost. A new variation or language
 * contains the texts that it was copied from, which are meant to be replaced.
 */
export function mayReplace(form: Pick<CampaignForm, 'body' | 'shown'>, { path, isWhole }: Target): boolean {
  const { body, shown } = form;
  const textOf = (at: string, name: string) => textAt(body, `${at}.basic_details.${name}`);
  const [title, message] = [textOf(path, 'title'), textOf(path, 'message')];
  if (message === '') return title === '' || isWhole;
  const own = `${pushPath(body, shown)}.`;
  if (!path.startsWith(own)) return false;
  const copiedFrom = [
    { ...shown, locale: defaultLocale },
    { ...shown, variation: baseContent.variation },
  ].map((content) => `${pushPath(body, content)}.`);
  return copiedFrom.some((from) => {
    const other = `${from}${path.slice(own.length)}`;
    if (from === own || readAt(body, other) === undefined) return false;
    return textOf(other, 'title') === title && textOf(other, 'message') === message;
  });
}

import type { CampaignContent, Platform } from '../../domain/campaigns/content.ts';
import { chooseLanguage, hasLocales, languageAttribute, makeContentIn } from '../../domain/locales/localize-content.ts';
import { chooseLocale, defaultLocale } from '../../domain/experiments/variants.ts';
import type { Variants } from '../../domain/experiments/variants.ts';
import { makePersonaliser } from '../../domain/template/personalise.ts';
import type { Personal } from '../../domain/template/personalise.ts';
import type { TemplateMode } from '../../domain/template/template-mode.ts';
import type { User } from '../../domain/users/user-source.ts';

export type Shown = {
  /** Of the locales; undefined: the content's own texts. */
  language: string | undefined;
  personal: Personal;
};

export type ContentShow = {
  /** Names of attributes that are read of a user. */
  reads: readonly string[] | 'all';
  /** `ofDevices`: the languages that the user's devices said, by platform. */
  show(user: {
    platform: Platform;
    user: User;
    ofDevices: ReadonlyMap<Platform, string>;
    event: Record<string, unknown>;
  }): Shown;
};

/** What a platform shows to one user, as the fan-out makes it. */
export function makeContentShow(content: CampaignContent, mode: TemplateMode): ContentShow {
  const personaliser = makePersonaliser(content, mode);
  const contentIn = makeContentIn(content);
  const reads = personaliser?.reads ?? [];
  return {
    reads: reads === 'all' || !hasLocales(content) ? reads : [...reads, languageAttribute],
    show({ platform, user, ofDevices, event }) {
      const known = { ofDevice: ofDevices.get(platform) ?? null, ofUser: user.attributes[languageAttribute] };
      const language = chooseLanguage(content, { platform, ...known });
      return {
        language,
        personal: personaliser
          ? personaliser.render({ platform, user, event, language })
          : { content: contentIn(platform, language) },
      };
    },
  };
}

/** The same of a campaign of one variation, whose contents may each be in a language. */
export function makeVariantShow(
  { content, variants }: { content: CampaignContent; variants: Variants | null },
  mode: TemplateMode,
): ContentShow {
  if (!variants) return makeContentShow(content, mode);
  const { locales, contents } = variants;
  const shows = contents[0]!.map((own) => makeContentShow(own, mode));
  const reads = shows.map((show) => show.reads);
  return {
    reads: reads.includes('all') ? 'all' : [...reads.flat(), languageAttribute],
    show(asked) {
      const { platform, user, ofDevices } = asked;
      const known = { ofDevice: ofDevices.get(platform) ?? null, ofUser: user.attributes[languageAttribute] };
      const place = chooseLocale(locales, known) - 1;
      const language = locales[place] === defaultLocale ? undefined : locales[place];
      return { ...shows[place]!.show(asked), language };
    },
  };
}

import type { CampaignContent, Platform } from '../../domain/campaigns/content.ts';
import { chooseLanguage, hasLocales, languageAttribute, makeContentIn } from '../../domain/locales/localize-content.ts';
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

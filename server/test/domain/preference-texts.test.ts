import { describe, expect, test } from 'vitest';
import { choosePreferenceLanguage, preferenceLanguages, preferenceTexts } from '../../src/domain/preference-texts.ts';

describe('choosePreferenceLanguage', () => {
  test.each([
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['de-AT,de;q=0.9,en;q=0.8', 'de'],
    ['FR-ca', 'fr'],
    // What the page does not speak is passed over.
    ['ja, sv;q=0.9, es;q=0.5, en;q=0.4', 'es'],
    ['en;q=0.1, nl;q=0.9', 'nl'],
    // Of equal ones the first.
    ['pt, it', 'pt'],
    ['*', 'en'],
    // A range with quality 0 is refused by the person.
    ['de;q=0', 'en'],
    ['de;q=0, it;q=0.1', 'it'],
    ['de;q=high, !!, ;q=1', 'en'],
    ['toString, constructor, __proto__', 'en'],
    [`${'xx,'.repeat(10_000)}de`, 'en'],
  ])('chooses for %j the language %s', (header, language) => {
    expect(choosePreferenceLanguage(header)).toBe(language);
  });
});

describe('the texts of the preference page', () => {
  test('name the button to press as the button is named, and differ between the languages', () => {
    for (const language of preferenceLanguages) {
      const { save, unreadable, title } = preferenceTexts[language];
      expect([language, unreadable.includes(save), title('Shop & Co').endsWith(' Shop & Co')]).toEqual([
        language,
        true,
        true,
      ]);
    }
    for (const name of ['choose', 'saved', 'expired', 'invalid', 'unreadable', 'tooMany'] as const)
      expect(new Set(preferenceLanguages.map((language) => preferenceTexts[language][name])).size).toBe(
        preferenceLanguages.length,
      );
  });
});

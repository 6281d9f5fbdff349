import type { CampaignBody } from '@carillon/client';
import { readAt, writeAt } from './campaign-body.ts';
import type { Platform } from './campaign-body.ts';

type Content = Record<string, unknown>;

export type PreviewedContent = {
  /** The content that can be rendered now. */
  content: Content;
  /** What a placeholder stands for: "a title", "an address". */
  missing: string[];
};

const texts = [
  { path: 'basic_details.title', words: 'a title', placeholder: 'Title' },
  { path: 'basic_details.message', words: 'a message', placeholder: 'Message' },
];

const placeholders: Record<Platform, typeof texts> = {
  ANDROID: texts,
  IOS: texts,
  WEB: [
    ...texts,
    { path: 'basic_details.redirect_url', words: 'an address', placeholder: 'https://example.com/' },
    { path: 'advanced.icon_url', words: 'an icon', placeholder: 'https://example.com/icon.png' },
  ],
};

/** Members that are valid together only. */
const pairs = [
  ['basic_details.default_click_action', 'basic_details.default_click_action_value'],
  ['basic_details.rich_media_type', 'basic_details.rich_media_value'],
] as const;

/**
 * Returns a platform's content as far as it can be rendered: without the members that have a fault or are half filled in, and
 * with placeholders for the required ones. So the phone stays while a field is empty, and no request is sent in vain.
 *
 * @param faulty the paths of the members with a fault, below the content
 */
export function previewedContent(
  sent: unknown,
  { platform, faulty }: { platform: Platform; faulty: readonly string[] },
): PreviewedContent {
  let content = (sent ?? {}) as Content;
  const isFaulty = (path: string) => faulty.some((one) => one === path || one.startsWith(`${path}.`));
  const at = (path: string) => readAt(content as CampaignBody, path);
  const write = (path: string, value: unknown) => (content = writeAt(content as CampaignBody, path, value) as Content);
  const keep = (list: string, isWhole: (item: Content) => boolean) => {
    const items = at(list);
    if (Array.isArray(items))
      write(
        list,
        items.filter((item, index) => isWhole(item as Content) && !isFaulty(`${list}[${index}]`)),
      );
  };
  keep('buttons', isWholeButton);
  keep('basic_details.key_value_pairs', ({ key, value }) => isFilled(key) && isFilled(value));
  for (const [one, other] of pairs)
    if (!isFilled(at(one)) || !isFilled(at(other)) || isFaulty(one) || isFaulty(other)) {
      write(one, undefined);
      write(other, undefined);
    }
  if (isFaulty('template_backup') || !hasTexts(at('template_backup'))) write('template_backup', undefined);
  for (const path of faulty) if (!/^(buttons|template_backup)|\[/.test(path)) write(path, undefined);
  const open = placeholders[platform].filter(({ path }) => !isFilled(at(path)));
  for (const { path, placeholder } of open) write(path, placeholder);
  return { content, missing: open.map(({ words }) => words) };
}

function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function isWholeButton(button: Content): boolean {
  if (button.button_category !== undefined) return isFilled(button.button_category);
  return isFilled(button.btn_name) && (button.click_action_type === 'snooze' || isFilled(button.click_action_value));
}

function hasTexts(fallback: unknown): boolean {
  const details = (fallback as { basic_details?: Content } | undefined)?.basic_details;
  return isFilled(details?.title) && isFilled(details?.message);
}

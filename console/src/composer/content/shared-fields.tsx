import { Stack, TextInput } from '@mantine/core';
import { platformPath, textAt } from '../campaign-body.ts';
import type { Platform } from '../campaign-body.ts';
import { useCampaignForm } from '../campaign-form.ts';
import { PictureTools } from '../pictures/picture-tools.tsx';

/** The picture and the link of every platform, typed once. The fields of a platform show them, and may differ. */
export function SharedFields({ chosen }: { chosen: readonly Platform[] }) {
  const form = useCampaignForm();
  const { body, write } = form;
  const at = (platform: Platform, name: string) => `${platformPath(form, platform)}.basic_details.${name}`;
  /** The value that most readers see: that of the first platform which has one. */
  const valueOf = (nameOn: Record<Platform, string>) =>
    chosen.map((platform) => textAt(body, at(platform, nameOn[platform]))).find((value) => value !== '') ?? '';
  const changeEach = (changesOn: (platform: Platform) => Record<string, unknown>) =>
    write(
      Object.fromEntries(
        chosen.flatMap((platform) =>
          Object.entries(changesOn(platform)).map(([name, value]) => [at(platform, name), value]),
        ),
      ),
    );
  return (
    <Stack gap="sm">
      <TextInput
        label="Image on every platform"
        placeholder="https://…/image.jpg"
        value={valueOf(imageNames)}
        onChange={({ currentTarget: { value } }) => changeEach((platform) => imageOn(platform, value || undefined))}
      />
      <PictureTools
        label="every platform"
        notice="long"
        value={valueOf(imageNames)}
        onPicked={(url) => changeEach((platform) => (isShownOn(platform, url) ? imageOn(platform, url) : {}))}
      />
      <TextInput
        label="Link on every platform"
        description="A deep link of the app, or an address. Browsers open addresses only"
        placeholder="shop://offers or https://…"
        value={valueOf(linkNames)}
        onChange={({ currentTarget: { value } }) => changeEach((platform) => linkOn(platform, value || undefined))}
      />
    </Stack>
  );
}

const imageNames = { ANDROID: 'image_url', IOS: 'rich_media_value', WEB: 'image_url' } as const;
const linkNames = {
  ANDROID: 'default_click_action_value',
  IOS: 'default_click_action_value',
  WEB: 'redirect_url',
} as const;

function imageOn(platform: Platform, url: string | undefined): Record<string, unknown> {
  if (platform !== 'IOS') return { image_url: url };
  return { rich_media_type: url === undefined ? undefined : 'Image', rich_media_value: url };
}

/** Browsers show pictures of https addresses only, which a sandbox may not have. */
function isShownOn(platform: Platform, url: string): boolean {
  return platform !== 'WEB' || url.startsWith('https:');
}

/** A browser cannot open the scheme of an app, so it keeps the address that it has. */
function linkOn(platform: Platform, link: string | undefined): Record<string, unknown> {
  if (platform === 'WEB') return link === undefined || /^https?:/i.test(link) ? { redirect_url: link } : {};
  return {
    default_click_action: link === undefined ? undefined : 'DEEPLINKING',
    default_click_action_value: link,
  };
}

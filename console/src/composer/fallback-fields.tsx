import { Checkbox, Stack, Text } from '@mantine/core';
import { readAt } from './body-path.ts';
import { useCampaignForm } from './campaign-form.ts';
import { ClickActionFields } from './click-action-fields.tsx';
import { newContent, platformPath } from './new-campaign.ts';
import type { Platform } from './new-campaign.ts';
import { ShownTexts } from './shown-texts.tsx';
import { WebAddressFields } from './web-fields.tsx';

/** What somebody sees instead of whom too little is known for the texts above. */
export function FallbackFields({ platform }: { platform: Platform }) {
  const { body, write } = useCampaignForm();
  const base = platformPath(body, platform);
  const path = `${base}.template_backup`;
  const hasFallback = readAt(body, path) !== undefined;
  return (
    <Stack gap="sm" role="group" aria-label="Fallback">
      <Checkbox
        label="Has a fallback"
        description="Shown to people for whom a text above cannot be made; without one they get nothing"
        checked={hasFallback}
        onChange={({ currentTarget: { checked } }) => write({ [path]: checked ? begun() : undefined })}
      />
      {hasFallback && (
        <Stack gap="sm" pl="md" style={{ borderLeft: '3px solid var(--mantine-color-default-border)' }}>
          <Text size="sm" fw={600}>
            Fallback
          </Text>
          <ShownTexts paths={[path]} />
          {platform === 'WEB' ? <WebAddressFields base={path} /> : <ClickActionFields base={path} />}
        </Stack>
      )}
    </Stack>
  );

  /** A browser's notification needs its addresses; the ones above serve, unless they are personal too. */
  function begun(): Record<string, unknown> {
    if (platform !== 'WEB') return newContent(platform);
    const of = (name: string) => readAt(body, `${base}.${name}`);
    return {
      ...newContent(platform),
      basic_details: { redirect_url: of('basic_details.redirect_url') ?? '' },
      advanced: { icon_image_type: 'ICON_URL', icon_url: of('advanced.icon_url') ?? '' },
    };
  }
}

import { Card, Checkbox, Grid, Stack, Tabs, Text } from '@mantine/core';
import { useState } from 'react';
import { platformNames } from '../../parts/text/platform-names.ts';
import { newContent, platformPath, platformsOf, readAt } from '../campaign-body.ts';
import type { Platform } from '../campaign-body.ts';
import { visibleFaults, useCampaignForm } from '../campaign-form.ts';
import type { CampaignForm } from '../campaign-form.ts';
import { FlagField, PartFaults } from '../form-fields.tsx';
import { Previews } from '../previews.tsx';
import { PictureField } from '../pictures/picture-field.tsx';
import { AndroidFields, IosFields } from './platform-fields.tsx';
import { ClickActionFields } from './click-action-fields.tsx';
import { SharedFields } from './shared-fields.tsx';
import { ShownTexts, TemplateField } from './template-field.tsx';
import { VariantCard } from './variant-card.tsx';
import { pushPath } from './variants.ts';

/** The content step: texts for all platforms or for each, and the options of each platform. */
export function ContentStep() {
  const { body, shown } = useCampaignForm();
  const chosen = platformsOf(body);
  if (chosen.length === 0) return <Text>First choose a platform under “Audience”.</Text>;
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack gap="lg">
          <VariantCard />
          <Texts key={`${shown.locale} ${shown.variation}`} chosen={chosen} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Previews />
      </Grid.Col>
    </Grid>
  );
}

const containers = [
  'campaign_content',
  ...['locales', 'variation_details', 'variation_details.no_of_variations', 'content', 'content.default'].map(
    (name) => `campaign_content.${name}`,
  ),
];

function Texts({ chosen }: { chosen: Platform[] }) {
  const form = useCampaignForm();
  const { body, write } = form;
  const [isShared, setShared] = useState(() => areShared(form, chosen));
  const [opened, open] = useState<Platform>(chosen[0]!);
  const paths = chosen.map((platform) => platformPath(form, platform));
  const share = (next: boolean) => {
    setShared(next);
    if (!next) return;
    const of = (name: string) => readAt(body, `${paths[0]!}.basic_details.${name}`);
    write(
      Object.fromEntries(
        paths.flatMap((path) => ['title', 'message'].map((name) => [`${path}.basic_details.${name}`, of(name)])),
      ),
    );
  };
  const shown = chosen.includes(opened) ? opened : chosen[0]!;
  return (
    <Stack gap="lg">
      <PartFaults paths={[...containers, pushPath(body, form.shown), ...paths]} />
      <Card withBorder>
        <Stack gap="sm">
          {chosen.length > 1 && (
            <Checkbox
              label="Same title and message on every platform"
              checked={isShared}
              onChange={({ currentTarget: { checked } }) => share(checked)}
            />
          )}
          {(isShared || chosen.length === 1) && <ShownTexts paths={paths} />}
          {isShared && chosen.length > 1 && <SharedFields chosen={chosen} />}
          {!isShared && chosen.length > 1 && <Text size="sm">Each platform has its own title and message below.</Text>}
        </Stack>
      </Card>
      <Card withBorder>
        <Tabs value={shown} onChange={(next) => open(next as Platform)} keepMounted={false}>
          <Tabs.List mb="md">
            {chosen.map((platform) => (
              <Tabs.Tab key={platform} value={platform}>
                {platformNames[platform]}
                <FaultMark form={form} path={platformPath(form, platform)} />
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {chosen.map((platform) => (
            <Tabs.Panel key={platform} value={platform}>
              <Stack gap="sm">
                {!isShared && chosen.length > 1 && <ShownTexts paths={[platformPath(form, platform)]} />}
                <FieldsOf platform={platform} withButtons={!isShared || chosen.length === 1} />
                <FallbackFields platform={platform} />
              </Stack>
            </Tabs.Panel>
          ))}
        </Tabs>
      </Card>
    </Stack>
  );
}

function FaultMark({ form, path }: { form: CampaignForm; path: string }) {
  const count = visibleFaults(form).filter(({ field }) => field.startsWith(path)).length;
  return count === 0 ? null : (
    <Text span size="xs" ml={6} fw={600}>
      {count} to fix
    </Text>
  );
}

function FieldsOf({ platform, withButtons }: { platform: Platform; withButtons: boolean }) {
  switch (platform) {
    case 'ANDROID':
      return <AndroidFields withButtons={withButtons} />;
    case 'IOS':
      return <IosFields />;
    case 'WEB':
      return <WebFields />;
  }
}

function areShared(form: CampaignForm, chosen: Platform[]): boolean {
  const textOf = (platform: Platform, name: string) =>
    readAt(form.body, `${platformPath(form, platform)}.basic_details.${name}`) ?? '';
  return ['title', 'message'].every((name) =>
    chosen.every((platform) => textOf(platform, name) === textOf(chosen[0]!, name)),
  );
}

/** The fallback for users without the attributes that the texts need. */
function FallbackFields({ platform }: { platform: Platform }) {
  const form = useCampaignForm();
  const { body, write } = form;
  const base = platformPath(form, platform);
  const path = `${base}.template_backup`;
  const hasFallback = readAt(body, path) !== undefined;
  return (
    <Stack gap="sm" role="group" aria-label="Fallback">
      <Checkbox
        label="Use a fallback"
        description="Shown to people for whom a text above cannot be rendered; without it they get nothing"
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

  /** Returns the initial fallback. A web notification requires addresses, so it starts with those of the texts above. */
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

function WebFields() {
  const base = platformPath(useCampaignForm(), 'WEB');
  return (
    <>
      <WebAddressFields base={base} />
      <PictureField path={`${base}.basic_details.image_url`} label="Image" of="Web" description="https only" />
      <FlagField path={`${base}.basic_details.auto_dismiss_notification`} label="Close automatically after 8 seconds" />
    </>
  );
}

/** The fields that a web notification requires. */
function WebAddressFields({ base }: { base: string }) {
  return (
    <>
      <TemplateField
        path={`${base}.basic_details.redirect_url`}
        label="A click opens"
        placeholder="https://…"
        required
      />
      <TemplateField
        path={`${base}.advanced.icon_url`}
        label="Icon"
        description="A square picture; the image if it is not another one"
        placeholder="https://…/icon.png"
        required
      />
    </>
  );
}

import { Stack, TextInput } from '@mantine/core';
import { platformPath } from '../campaign-body.ts';
import type { Platform } from '../campaign-body.ts';
import { useCampaignForm, useFault } from '../campaign-form.ts';
import { TextField } from '../form-fields.tsx';
import { PictureTools } from '../pictures/picture-tools.tsx';
import { AndroidButtons } from './android-buttons.tsx';
import { imageOn, isOfApp, isShownOn, linkOn, sharedValue } from './shared-values.ts';
import type { SharedName } from './shared-values.ts';

/** The picture, the link and the buttons, typed once. The fields of a platform show them, and may differ. */
export function SharedFields({ chosen }: { chosen: readonly Platform[] }) {
  const form = useCampaignForm();
  const { body, write } = form;
  const places = chosen.map((platform) => ({ body, platform, path: platformPath(form, platform) }));
  /** The value that most readers see: that of the first platform which has one. */
  const valueOf = (name: SharedName) =>
    places.map((place) => sharedValue(place, name)).find((value) => value !== '') ?? '';
  const changeEach = (changesOn: (place: (typeof places)[number]) => Record<string, unknown>) =>
    write(Object.assign({}, ...places.map(changesOn)) as Record<string, unknown>);
  const image = valueOf('image');
  const link = valueOf('link');
  const web = places.find(({ platform }) => platform === 'WEB');
  const android = places.find(({ platform }) => platform === 'ANDROID');
  const iconFault = useFault(`${web?.path}.advanced.icon_url`);
  const addressFault = useFault(`${web?.path}.basic_details.redirect_url`);
  return (
    <Stack gap="sm">
      <TextInput
        label="Image on every platform"
        placeholder="https://…/image.jpg"
        {...(web !== undefined && { description: 'Also the icon of the web notification, which needs one' })}
        {...(iconFault !== undefined && { error: `Icon of the web notification: ${iconFault}` })}
        value={image}
        onChange={({ currentTarget: { value } }) => changeEach((place) => imageOn(place, value || undefined))}
      />
      <PictureTools
        label="every platform"
        notice="long"
        value={image}
        onPicked={(url) => changeEach((place) => (isShownOn(place.platform, url) ? imageOn(place, url) : {}))}
      />
      <TextInput
        label="Link on every platform"
        description={
          web === undefined
            ? 'A deep link of the app, or an address'
            : 'A deep link of the app, or an address. Browsers open addresses only'
        }
        placeholder="shop://offers or https://…"
        withAsterisk={web !== undefined}
        {...(link === '' && addressFault !== undefined && { error: addressFault })}
        value={link}
        onChange={({ currentTarget: { value } }) =>
          changeEach((place) => linkOn(place, { link: value || undefined, before: link }))
        }
      />
      {web !== undefined && isOfApp(link) && (
        <TextField
          path={`${web.path}.basic_details.redirect_url`}
          label="Address for browsers"
          placeholder="https://…"
          required
        />
      )}
      {android !== undefined && <AndroidButtons base={android.path} />}
    </Stack>
  );
}

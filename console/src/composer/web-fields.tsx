import { useCampaignForm } from './campaign-form.ts';
import { FlagField } from './form-fields.tsx';
import { platformPath } from './new-campaign.ts';
import { TemplateField } from './template-field.tsx';

export function WebFields() {
  const { body } = useCampaignForm();
  const base = platformPath(body, 'WEB');
  return (
    <>
      <WebAddressFields base={base} />
      <TemplateField
        path={`${base}.basic_details.image_url`}
        label="Image"
        description="https only"
        placeholder="https://…/image.jpg"
      />
      <FlagField path={`${base}.basic_details.auto_dismiss_notification`} label="Goes away by itself after 8 seconds" />
    </>
  );
}

/** What a notification of a browser cannot be without. */
export function WebAddressFields({ base }: { base: string }) {
  return (
    <>
      <TemplateField
        path={`${base}.basic_details.redirect_url`}
        label="A click opens"
        placeholder="https://…"
        required
      />
      <TemplateField path={`${base}.advanced.icon_url`} label="Icon" placeholder="https://…/icon.png" required />
    </>
  );
}

import { TemplateField } from './template-field.tsx';

/** Title and message, of one platform or of several at once. */
export function ShownTexts({ paths }: { paths: string[] }) {
  const at = (name: string) => paths.map((path) => `${path}.basic_details.${name}`);
  return (
    <>
      <TemplateField path={at('title')} label="Title" required />
      <TemplateField path={at('message')} label="Message" required isLong />
    </>
  );
}

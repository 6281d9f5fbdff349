import { Notice } from '../parts/notice.tsx';
import { sentence, toldFaults, useCampaignForm } from './campaign-form.ts';

/** What is wrong with a part as a whole, which no field of the step stands for. */
export function PartFaults({ paths }: { paths: string[] }) {
  const form = useCampaignForm();
  const faults = toldFaults(form).filter(({ field }) => paths.includes(field));
  if (faults.length === 0) return null;
  return (
    <Notice tone="error">
      {faults.map(({ field, issue }) => (
        <div key={`${field} ${issue}`}>
          {sentence(issue)} (<code>{field}</code>).
        </div>
      ))}
    </Notice>
  );
}

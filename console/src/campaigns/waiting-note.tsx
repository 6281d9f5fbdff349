import type { CampaignResults } from '../api/generated/campaign-answers.ts';
import { Notice } from '../parts/notice.tsx';
import { platformNames } from '../parts/platform-names.ts';
import { Time } from '../parts/time.tsx';
import { DeliveryCount } from './delivery-count.tsx';

/** Who waits, for what, and until when. */
export function WaitingNote({ waiting }: Pick<CampaignResults, 'waiting'>) {
  if (waiting.length === 0) return null;
  return (
    <Notice tone="warning">
      {waiting.map(({ platform, code, devices, attempts, cause, nextAt }) => (
        <div key={`${platform} ${code}`}>
          <DeliveryCount count={devices} of={{ platform, outcome: 'WAITING', code }} />{' '}
          {devices === 1 ? 'device waits' : 'devices wait'} ({platformNames[platform]}): {cause}
          {attempts > 0 && `, try ${attempts}`}, next at <Time at={nextAt} />
        </div>
      ))}
    </Notice>
  );
}

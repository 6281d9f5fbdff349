import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { CampaignAction, CampaignProgress } from '../api/generated/campaign-answers.ts';
import { consoleClient } from '../console.ts';
import { ButtonLink } from '../parts/links.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { NameButton } from '../parts/forms/name-button.tsx';
import { showToast } from '../parts/toast/toast-list.ts';
import { useMay } from '../session/use-session.ts';
import { countDevices, notDelivered } from './report/figures.ts';
import { formatMinute } from '../parts/text/format-time.ts';

type CampaignActionsProps = {
  workspaceId: string;
  id: string;
  name: string;
  channel: string;
  mayEdit: boolean;
  progress: CampaignProgress;
};

// The state may have changed since the page was opened.
const editable = ['DRAFT', 'SCHEDULED', 'ACTIVE', 'PAUSED'];

const labels: Record<CampaignAction, string> = { pause: 'Pause', resume: 'Resume', stop: 'Stop' };

const done: Record<CampaignAction, string> = { pause: 'paused', resume: 'resumed', stop: 'stopped' };
/** The reverse action. A stopped campaign cannot be restarted. */
const opposites: Partial<Record<CampaignAction, CampaignAction>> = { pause: 'resume', resume: 'pause' };

/** The actions that the campaign's state allows, each with its effect. */
export function CampaignActions({ workspaceId, id, name, channel, mayEdit, progress }: CampaignActionsProps) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  if (!useMay('campaigns.write')) return null;
  const renew = () => queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[2] === id });
  return (
    <>
      {mayEdit && editable.includes(progress.status) && (
        <ButtonLink
          to="/w/$workspaceId/campaigns/$campaignId/edit"
          params={{ workspaceId, campaignId: id }}
          search={{}}
        >
          Edit
        </ButtonLink>
      )}
      {mayEdit && progress.status === 'SCHEDULED' && progress.openRuns === 0 && (
        <ConfirmButton
          label="Back to draft"
          color="accent"
          title={`Make “${name}” a draft again?`}
          hits="Nothing was sent yet. The draft keeps everything; it is sent only if you send or schedule it again."
          onConfirmed={async () => {
            await consoleClient.composer.recall({ workspaceId, id });
            showToast({ text: `“${name}” is a draft again` });
            await queries.invalidateQueries({
              predicate: ({ queryKey }) => queryKey[2] === id || queryKey[0] === 'campaigns',
            });
          }}
        />
      )}
      {progress.actions.map((action) => (
        <ConfirmButton
          key={action}
          label={labels[action]}
          color={action === 'stop' ? 'red.9' : 'accent'}
          title={`${labels[action]} “${name}”?`}
          hits={describe(action, progress)}
          onConfirmed={async () => {
            const change = async (to: CampaignAction) => {
              const next = await consoleClient.campaigns.change({ workspaceId, id, action: to });
              queries.setQueryData(['campaign-progress', workspaceId, id], next);
              await renew();
            };
            await change(action);
            const back = opposites[action];
            showToast({
              text: `“${name}” is ${done[action]}`,
              ...(back && { undo: () => change(back), undone: `“${name}” is ${done[back]}` }),
            });
          }}
        />
      ))}
      {channel === 'PUSH' && (
        <ConfirmButton
          label="Duplicate"
          color="accent"
          title={`Duplicate “${name}”?`}
          hits={`A draft “${name} (copy)” is created with the same content, audience and goals. Nothing is sent.`}
          onConfirmed={async () => {
            const draft = await consoleClient.campaigns.clone({ workspaceId, id });
            showToast({ text: `“${name} (copy)” is a draft` });
            await navigate({
              to: '/w/$workspaceId/campaigns/$campaignId/edit',
              params: { workspaceId, campaignId: draft.id },
              search: {},
            });
          }}
        />
      )}
      {channel === 'PUSH' && (
        <NameButton
          label="Save as template"
          title={`Save “${name}” as a template`}
          field="Name of the template"
          initial={name}
          onNamed={async (template) => {
            await consoleClient.templates.create({ workspaceId, id, name: template });
            await queries.invalidateQueries({ queryKey: ['templates', workspaceId] });
            showToast({ text: `“${template}” is saved as a template` });
          }}
        />
      )}
    </>
  );
}

function describe(action: CampaignAction, progress: CampaignProgress): string {
  const done = countDevices(progress, ['ACCEPTED', ...notDelivered]);
  const number = (count: number) => count.toLocaleString('en');
  const { reachableDevices } = progress;
  const summary =
    progress.openRuns > 0
      ? reachableDevices === null
        ? `${number(done)} sent so far; the audience is being counted.`
        : `${number(done)} of ${number(reachableDevices)} devices have been processed; ${number(Math.max(0, reachableDevices - done))} remain.`
      : progress.nextAt === null
        ? 'Nothing is being sent right now.'
        : `Nothing is being sent right now; the next occurrence is due on ${formatMinute(progress.nextAt, 'UTC')}.`;
  switch (action) {
    case 'pause':
      return `${summary} The rest waits until you resume; messages whose time to live ends in the meantime are not sent.`;
    case 'resume':
      return `${summary} It continues with the next occurrence, or with what it was sending.`;
    case 'stop':
      return `${summary} The rest is never sent, and a stopped campaign cannot be restarted.`;
  }
}

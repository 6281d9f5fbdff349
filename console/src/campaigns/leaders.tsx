import { Group, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { CampaignFigures } from '../api/generated/campaign-figures.ts';
import { consoleClient } from '../console.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Notice } from '../parts/notice.tsx';
import { Time } from '../parts/time.tsx';
import { showToast } from '../parts/toast-list.ts';
import { useMay } from '../session/use-session.ts';
import { percentText } from './figure-text.ts';

const route = getRouteApi('/w/$workspaceId/campaigns/$campaignId');
// Those in which somebody is still to be sent to.
const open = ['SCHEDULED', 'SENDING', 'ACTIVE', 'PAUSED'];

type LeadersProps = { figures: CampaignFigures; status: string };

/** Which variation is the best; none is called so while the figures do not say it with 95 %. */
export function Leaders({ figures: { leaders, winner, all }, status }: LeadersProps) {
  const mayName = useMay('campaigns.write') && open.includes(status) && !winner.isLearned;
  const best = leaders.filter(({ isBest }) => isBest);
  const so = open.includes(status) ? ' so far' : '';
  const does = (measure: string) =>
    measure === 'CLICKS' ? 'is clicked the most' : `leads to “${all.goals[0]?.name ?? 'the goal'}” the most`;
  return (
    <Stack gap="sm">
      {winner.variation !== null && <Named winner={winner} mayTakeBack={mayName} />}
      {best.map(({ measure, variation, bestPercent }) => (
        <Notice key={measure} tone="good" title={`Variation ${variation} ${does(measure)}${so}`}>
          <Group justify="space-between" gap="sm">
            <span>With {percentText(bestPercent)} it is the best of them.</span>
            {mayName && winner.variation !== variation && <SendToRest variation={variation} />}
          </Group>
        </Notice>
      ))}
      {best.length === 0 && (
        <Notice tone="note" title={`No variation is ahead${so}`}>
          {leaders
            .map(
              ({ measure, variation, bestPercent }) =>
                `By ${measure === 'CLICKS' ? 'clicks' : 'the goal'} variation ${variation} is the best with ${percentText(bestPercent)}; 95 % are needed.`,
            )
            .join(' ')}
        </Notice>
      )}
    </Stack>
  );
}

function useNameWinner() {
  const { workspaceId, campaignId: id } = route.useParams();
  const queries = useQueryClient();
  return async (variation: number | null) => {
    await consoleClient.campaigns.nameWinner({ workspaceId, id, variation });
    await queries.invalidateQueries({ queryKey: ['campaign-figures', workspaceId, id] });
  };
}

function SendToRest({ variation }: { variation: number }) {
  const name = useNameWinner();
  return (
    <ConfirmButton
      label="Send to rest"
      color="accent"
      size="xs"
      title={`Send variation ${variation} to the rest?`}
      hits="Everybody who was not sent to yet gets it, in this run and in later ones. What was sent stays."
      onConfirmed={async () => {
        await name(variation);
        showToast({
          text: `The rest gets variation ${variation}`,
          undo: () => name(null),
          undone: 'The shares decide again',
        });
      }}
    />
  );
}

function Named({ winner, mayTakeBack }: { winner: CampaignFigures['winner']; mayTakeBack: boolean }) {
  const name = useNameWinner();
  return (
    <Notice tone="note" title={`The rest gets variation ${winner.variation}`}>
      <Group justify="space-between" gap="sm">
        <span>
          Chosen by {winner.namedBy}
          {winner.namedAt !== null && (
            <>
              , <Time at={winner.namedAt} />
            </>
          )}
          .
        </span>
        {mayTakeBack && (
          <ConfirmButton
            label="Take back"
            size="xs"
            title="Let the shares decide again?"
            hits="Whoever was not sent to yet gets the variation of their share."
            onConfirmed={() => name(null)}
          />
        )}
      </Group>
    </Notice>
  );
}

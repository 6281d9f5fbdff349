import { Badge, Card, Group, Stack, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { CampaignReport } from '../../api/generated/campaign-answers.ts';
import { Copyable } from '../../parts/copyable.tsx';
import { curlOf, RequestBehind } from '../../parts/curl.tsx';
import { DataTable } from '../../parts/lists/data-table.tsx';
import { FactsTable } from '../../parts/lists/facts-table.tsx';
import type { Fact } from '../../parts/lists/facts-table.tsx';
import { RouteLink } from '../../parts/links.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { Ago } from '../../parts/text/time.tsx';
import { describeSchedule } from './describe-schedule.ts';
import { countText } from './figures.ts';
import { CampaignAudience } from './report-links.tsx';
import { members } from './sent-messages.ts';

const route = getRouteApi('/w/$workspaceId/campaigns/$campaignId');

/** The campaign's settings, its versions, the API call that creates it, and its ids. */
export function SettingsTab({ report: { campaign, request, versions } }: { report: CampaignReport }) {
  const { workspaceId } = route.useParams();
  const facts: Fact[] = [
    ['Audience', <CampaignAudience key="audience" campaign={campaign} />],
    ['Schedule', describeSchedule(request)],
    ...describeControls(request),
    [
      'Tags',
      campaign.tags.length === 0 ? (
        'None'
      ) : (
        <Group key="tags" gap={4}>
          {campaign.tags.map((tag) => (
            <Badge key={tag}>{tag}</Badge>
          ))}
        </Group>
      ),
    ],
    [
      'Created',
      <>
        <Ago at={campaign.createdAt} /> by {campaign.createdBy}
      </>,
    ],
    ['Changed', <Ago key="changed" at={campaign.updatedAt} />],
    ['Campaign id', <Copyable key="id" text={campaign.id} label="campaign id" />],
    ...(campaign.segmentId === null
      ? []
      : [['Segment id', <Copyable key="segment" text={campaign.segmentId} label="segment id" />] as Fact]),
  ];
  return (
    <Stack gap="lg">
      <Card withBorder>
        <FactsTable facts={facts} />
      </Card>
      {versions.length > 0 && <Versions versions={versions} />}
      <RequestBehind curl={curlOf({ method: 'POST', path: '/v5/campaigns', workspaceId, body: request })}>
        This creates the same campaign as a draft; publish it with <code>PATCH /v5/campaigns/…/status</code>.
      </RequestBehind>
    </Stack>
  );
}

function Versions({ versions }: Pick<CampaignReport, 'versions'>) {
  const { workspaceId } = route.useParams();
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Versions
      </Title>
      <DataTable
        label="Versions"
        rows={versions}
        keyOf={({ id }) => id}
        columns={[
          {
            key: 'version',
            title: 'Version',
            cell: ({ id, versionNumber }) => (
              <RouteLink
                to="/w/$workspaceId/campaigns/$campaignId"
                params={{ workspaceId, campaignId: id }}
                search={{}}
              >
                {String(versionNumber ?? 1)}
              </RouteLink>
            ),
          },
          { key: 'status', title: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
          { key: 'created', title: 'Created', cell: ({ createdAt }) => <Ago at={createdAt} /> },
          { key: 'by', title: 'By', cell: ({ createdBy }) => createdBy },
        ]}
      />
    </section>
  );
}

type Members = Record<string, unknown>;

/** Describes delivery and goals of a V5 body. Settings that are not set are left out. */
function describeControls(body: Members): [string, string][] {
  const controls = members(body.delivery_controls);
  const limit = members(body.campaign_audience_limit);
  const groups = members(body.control_group_details);
  const goals = members(body.conversion_goal_details);
  const passes = [
    controls.bypass_dnd === true ? 'quiet hours' : '',
    controls.ignore_frequency_capping === true ? 'frequency caps' : '',
    controls.ignore_global_minimum_delay === true ? 'the minimum delay' : '',
  ].filter((word) => word !== '');
  const rate = Number(controls.campaign_throttle_rpm ?? 0);
  const names = (Array.isArray(goals.goals) ? goals.goals : []).map(members);
  const facts: [string, string][] = [
    ['Speed', rate > 0 ? `At most ${countText(rate)} devices a minute` : 'As fast as the providers accept messages'],
    ['Limits', passes.length === 0 ? 'Keeps quiet hours, caps and the minimum delay' : `Ignores ${passes.join(', ')}`],
    [
      'Goals',
      names.length === 0
        ? 'None'
        : names.map((goal) => `${String(goal.goal_name)} (${String(goal.goal_event_name)})`).join(', '),
    ],
  ];
  const { topic } = members(body.advanced);
  if (typeof topic === 'string' && topic !== '') facts.push(['Topic', topic]);
  if (groups.is_campaign_control_group_enabled === true)
    facts.push(['Control group', `${String(groups.campaign_control_group_percentage ?? 0)} % of the audience`]);
  if (limit.limit !== undefined)
    facts.push([
      'Audience limit',
      `${countText(Number(limit.limit))} people ${limit.frequency === 'INSTANCE' ? 'in each run' : 'in all'}`,
    ]);
  return facts;
}

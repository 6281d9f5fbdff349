import { Type } from 'typebox';
import type { TObject, TSchema } from 'typebox';
import { maxProposalNoteCharacters } from '../../domain/limits/campaigns.ts';
import { instantPattern } from '../../domain/timing/iso-time.ts';
import { consoleApi } from '../console/access.ts';
import { closed, id, workspaceId } from '../console/requests.ts';
import { described } from '../console/shape-parts.ts';

export type ToolArguments = Readonly<Record<string, string>>;
/** Arguments that are objects or lists. The routes check what is in them. */
export type ToolDocuments = Readonly<Record<string, object>>;

/** A call of a route of the console, which checks the permission and makes the answer. */
type RouteCall = {
  path?: Record<string, string>;
  query?: Record<string, string | undefined>;
  body?: object;
};

export type ConsoleTool = {
  name: string;
  title: string;
  /** Only text from this file: a description must never contain stored data. */
  description: string;
  input: TObject;
  route: { method: 'GET' | 'POST' | 'PATCH'; url: string };
  call(args: ToolArguments, documents: ToolDocuments): RouteCall;
  /** Returns the cursor of the next page from the answer. */
  next?(answer: Record<string, unknown>, args: ToolArguments): string | null;
  /** The list of the answer that is cut into pages here, because the route returns all of it. */
  paged?: string;
};

export const perPage = 50;
const campaignsPerPage = 15;

const workspace = described(workspaceId, 'Id of the workspace, from list_workspaces.');
const campaign = described(id, 'Id of the campaign, from search_campaigns: 24 hexadecimal digits.');
const word = (description: string, maxLength = 200) => Type.String({ minLength: 1, maxLength, description });
const cursorOf = (pattern: string) =>
  Type.Optional(Type.String({ pattern, description: 'The next_cursor of the previous page.' }));
const input = (members: Record<string, TSchema>): TObject => Type.Object(members, closed);
const route = (path: string) => ({ method: 'GET', url: `${consoleApi}/${path}` }) as const;
const ofWorkspace = ({ workspace_id }: ToolArguments) => ({ workspaceId: workspace_id });

/** The tools that read what the console shows. Each calls the console's own route, so permissions, numbers and words are the same. */
const readingTools: readonly ConsoleTool[] = [
  {
    name: 'list_workspaces',
    title: 'List workspaces',
    description: 'Lists the workspaces that the account of this token can see, with its roles and permissions in each.',
    input: input({}),
    route: route('session'),
    call: () => ({}),
  },
  {
    name: 'whats_wrong',
    title: 'What is wrong now',
    description:
      'Returns the overview of a workspace: a verdict with the current problems and what to do about them, sends in progress, paused and failed runs, outcomes of the last hour, state of the providers and use of the limits.',
    input: input({ workspace_id: workspace }),
    route: route('overview'),
    call: (args) => ({ query: ofWorkspace(args) }),
  },
  {
    name: 'explain_delivery',
    title: 'Why did a user (not) get a campaign',
    description:
      'Explains for each run of a campaign, and each device of the user, why the user received the campaign or did not.',
    input: input({
      workspace_id: workspace,
      campaign_id: campaign,
      customer_id: word('Customer id of the user, as the application named it.', 512),
      run_id: Type.Optional(described(id, 'A single run; otherwise the newest 20.')),
    }),
    route: route('explain'),
    call: (args) => ({
      query: {
        ...ofWorkspace(args),
        campaignId: args.campaign_id,
        customerId: args.customer_id,
        runId: args.run_id,
      },
    }),
  },
  {
    name: 'search_campaigns',
    title: 'Search campaigns',
    description:
      'Lists campaigns, newest first, with their status and main figures. Filters by a part of the name, a status or a tag.',
    input: input({
      workspace_id: workspace,
      name: Type.Optional(word('A part of the name, in any case.')),
      status: Type.Optional(word('A status such as DRAFT, SCHEDULED, SENDING, SENT, PAUSED, STOPPED or FAILED.', 40)),
      tag: Type.Optional(word('A tag.')),
      cursor: cursorOf('^[1-9][0-9]{0,5}$'),
    }),
    route: { method: 'POST', url: `${consoleApi}/campaigns/search` },
    call: ({ name, status, tag, cursor, ...args }) => ({
      query: ofWorkspace(args),
      body: {
        limit: campaignsPerPage,
        page: Number(cursor ?? '1'),
        campaign_fields: {
          ...(name === undefined ? {} : { name }),
          ...(status === undefined ? {} : { status: [status] }),
          ...(tag === undefined ? {} : { tags: [tag] }),
        },
      },
    }),
    next: ({ campaigns }, { cursor = '1' }) =>
      Array.isArray(campaigns) && campaigns.length === campaignsPerPage ? String(Number(cursor) + 1) : null,
  },
  {
    name: 'read_campaign',
    title: 'Read a campaign',
    description:
      'Returns the report of a campaign: content, audience, schedule, status and what happened to its messages.',
    input: input({ workspace_id: workspace, campaign_id: campaign }),
    route: route('campaigns/:id'),
    call: ({ campaign_id, ...args }) => ({ path: { id: campaign_id! }, query: ofWorkspace(args) }),
  },
  {
    name: 'campaign_figures',
    title: 'Figures of a campaign',
    description:
      'Returns the statistics of a campaign by platform, variation and locale: attempted, accepted, failed, shown, clicked, conversions, revenue and control groups, with intervals.',
    input: input({ workspace_id: workspace, campaign_id: campaign }),
    route: route('campaigns/:id/figures'),
    call: ({ campaign_id, ...args }) => ({ path: { id: campaign_id! }, query: ofWorkspace(args) }),
  },
  {
    name: 'list_segments',
    title: 'List segments',
    description: 'Lists the segments of a workspace with their state and number of users.',
    input: input({ workspace_id: workspace, cursor: cursorOf('^[1-9][0-9]{0,5}$') }),
    route: route('segments'),
    call: (args) => ({ query: ofWorkspace(args) }),
    paged: 'segments',
  },
  {
    name: 'read_segment',
    title: 'Read a segment',
    description: 'Returns a segment with its filter or its file operations and counts.',
    input: input({ workspace_id: workspace, segment_id: described(id, 'Id of the segment, from list_segments.') }),
    route: route('segments/:id'),
    call: ({ segment_id, ...args }) => ({ path: { id: segment_id! }, query: ofWorkspace(args) }),
  },
  {
    name: 'find_user',
    title: 'Find a user',
    description: 'Finds users by customer id, e-mail address, mobile number, device id or another identifier.',
    input: input({ workspace_id: workspace, text: word('The identifier.', 512) }),
    route: route('people'),
    call: ({ text, ...args }) => ({ query: { ...ofWorkspace(args), q: text } }),
  },
  {
    name: 'read_user',
    title: 'Read a user',
    description: 'Returns a user with attributes, devices, segments and the newest messages.',
    input: input({ workspace_id: workspace, user_id: described(id, 'The id that find_user returned.') }),
    route: route('people/:id'),
    call: ({ user_id, ...args }) => ({ path: { id: user_id! }, query: ofWorkspace(args) }),
  },
  {
    name: 'recent_api_errors',
    title: 'Recent API errors',
    description:
      'Lists the rejected calls of the API, newest first, with the error, its private detail and what to do about it.',
    input: input({
      workspace_id: workspace,
      path: Type.Optional(word('Only calls of this path, such as /v1/customer.')),
      cursor: cursorOf(`^${instantPattern}~[0-9a-f]{24}$`),
    }),
    route: route('calls'),
    call: ({ path, cursor, ...args }) => ({ query: { ...ofWorkspace(args), only: 'refused', path, after: cursor } }),
    next: ({ next }) => (typeof next === 'string' ? next : null),
  },
];

const draft = described(id, 'Id of a draft: of create_draft, or of search_campaigns with the status DRAFT.');
const document = (description: string) => Type.Object({}, { additionalProperties: true, description });
const note = Type.String({
  minLength: 1,
  maxLength: maxProposalNoteCharacters,
  description: 'Why you propose it, for the person who decides.',
});
const changing = (method: 'POST' | 'PATCH', path: string) => ({ method, url: `${consoleApi}/${path}` }) as const;

/**
 * The tools that change drafts and propose. None of them sends anything: a proposal is a row that a person decides about in the console
 * (decision 0103). They need a token that may propose.
 */
export const proposingTools: readonly ConsoleTool[] = [
  {
    name: 'check_campaign',
    title: 'Check a campaign',
    description:
      'Checks the body of a campaign without storing it: errors by field, the next times it would be sent, its audience in words, warnings. Use it before create_draft.',
    input: input({
      workspace_id: workspace,
      campaign: document('The body of POST /v5/campaigns; read_docs_page "campaigns" describes it.'),
    }),
    route: changing('POST', 'composer/check'),
    call: (args, { campaign: body }) => ({ query: ofWorkspace(args), body: body! }),
  },
  {
    name: 'count_audience',
    title: 'Count an audience',
    description: 'Counts the users and devices that a campaign would reach if it started now.',
    input: input({
      workspace_id: workspace,
      campaign: document('The body of POST /v5/campaigns, at least its audience and platforms.'),
    }),
    route: changing('POST', 'composer/audience'),
    call: (args, { campaign: body }) => ({ query: ofWorkspace(args), body: body! }),
  },
  {
    name: 'create_draft',
    title: 'Create a draft',
    description: 'Creates a draft of a campaign. Nothing is sent; see propose_publish.',
    input: input({
      workspace_id: workspace,
      campaign: document('The body of POST /v5/campaigns. It may be incomplete.'),
    }),
    route: changing('POST', 'campaigns'),
    call: (args, { campaign: body }) => ({ query: ofWorkspace(args), body: body! }),
  },
  {
    name: 'change_draft',
    title: 'Change a draft',
    description:
      'Merges changes into a draft. Only drafts can be changed. What was proposed before must be proposed again.',
    input: input({
      workspace_id: workspace,
      campaign_id: draft,
      changes: document('The members to change, as a merge patch (RFC 7396): null removes a member.'),
    }),
    route: changing('PATCH', 'campaigns/:id'),
    call: ({ campaign_id, ...args }, { changes }) => ({
      path: { id: campaign_id! },
      query: ofWorkspace(args),
      body: changes!,
    }),
  },
  {
    name: 'propose_publish',
    title: 'Propose to publish a draft',
    description:
      'Asks a person to publish a draft as it is now. Nothing is sent until a person approves it in the console. A change of the draft ends the proposal.',
    input: input({ workspace_id: workspace, campaign_id: draft, note }),
    route: changing('POST', 'campaigns/:id/proposals'),
    call: ({ campaign_id, note: text, ...args }) => ({
      path: { id: campaign_id! },
      query: ofWorkspace(args),
      body: { note: text },
    }),
  },
  {
    name: 'propose_test',
    title: 'Propose a test',
    description: 'Asks a person to send a draft to a few users as a test. Nothing is sent until a person approves it.',
    input: input({
      workspace_id: workspace,
      campaign_id: draft,
      customer_ids: Type.Array(Type.String(), { description: 'Customer ids of 1 to 10 users.' }),
      note,
    }),
    route: changing('POST', 'campaigns/:id/proposals'),
    call: ({ campaign_id, note: text, ...args }, { customer_ids: customerIds }) => ({
      path: { id: campaign_id! },
      query: ofWorkspace(args),
      body: { note: text, customerIds },
    }),
  },
  {
    name: 'list_proposals',
    title: 'List proposals',
    description: 'Lists what agents proposed, with the decision and its reason. Those that wait come first.',
    input: input({ workspace_id: workspace, cursor: cursorOf('^[1-9][0-9]{0,5}$') }),
    route: route('proposals'),
    call: (args) => ({ query: ofWorkspace(args) }),
    paged: 'proposals',
  },
];

export const consoleTools: readonly ConsoleTool[] = [...readingTools, ...proposingTools];

/** True if the tool changes something. Checking and counting store nothing. */
export function isChanging({ name }: Pick<ConsoleTool, 'name'>): boolean {
  return /^(create|change|propose)_/.test(name);
}

/** The routes of the console that an agent may call, as `GET /console/api/overview`. The guard of the console opens no other to one. */
export const agentRoutes: ReadonlyMap<string, 'read' | 'propose'> = new Map(
  consoleTools.map((tool) => [`${tool.route.method} ${tool.route.url}`, isChanging(tool) ? 'propose' : 'read']),
);

export const docsTools = [
  {
    name: 'search_docs',
    title: 'Search the documentation',
    description: 'Searches the documentation of this version of Carillon. Returns sections, the best first.',
    input: input({ text: word('What to search for, in English.') }),
  },
  {
    name: 'read_docs_page',
    title: 'Read a page of the documentation',
    description: 'Returns a page of the documentation as Markdown, in parts of 16,000 characters.',
    input: input({
      page: Type.String({
        pattern: '^[a-z0-9][a-z0-9/-]{0,150}$',
        description: 'Address of the page, from search_docs, such as "guides/first-push" or "console".',
      }),
      cursor: cursorOf('^[1-9][0-9]{0,6}$'),
    }),
  },
] as const;

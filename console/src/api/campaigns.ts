import { addressOf } from './console-caller.ts';
import type { ConsoleCaller, Key } from './console-caller.ts';
import type { CampaignAction, CampaignProgress } from './generated/campaign-answers.ts';
import type { Attribution } from './generated/campaign-figures.ts';
import type { CalendarView } from './generated/campaigns.ts';

/** The body of `POST /v5/campaigns/search`. */
export type CampaignSearchBody = {
  limit: number;
  page: number;
  include_child_campaigns?: boolean;
  include_archive_campaigns?: boolean;
  campaign_fields?: {
    ids?: string[];
    name?: string;
    status?: string[];
    channels?: string[];
    campaign_delivery_type?: string[];
    created_by?: string[];
    created_date?: { from_date?: string; to_date?: string };
    tags?: string[];
    version_number?: number;
  };
};

type Following = { onProgress: (progress: CampaignProgress) => void; signal: AbortSignal };

const reconnectMilliseconds = 2000;

export function makeCampaignCalls({ ask, call }: ConsoleCaller) {
  const of = ({ workspaceId, id }: Key) => ({ params: { id }, query: { workspaceId } });
  return {
    /** Returns what the V5 search returns for that body, with figures. `order` is ours: V5 lists the newest first. */
    search: async (workspaceId: string, body: CampaignSearchBody, order?: 'newest' | 'oldest') =>
      (await ask('POST campaigns/search', { query: { workspaceId, order }, body })).campaigns,
    read: (key: Key) => ask('GET campaigns/:id', of(key)),
    readProgress: (key: Key) => ask('GET campaigns/:id/progress', of(key)),
    readResults: (key: Key) => ask('GET campaigns/:id/results', of(key)),
    /** Returns the planned sends of a month or week; without `date`, of the current one. */
    readCalendar: ({
      workspaceId,
      view,
      date,
    }: {
      workspaceId: string;
      view: CalendarView;
      date?: string | undefined;
    }) => ask('GET calendar', { query: { workspaceId, view, date } }),
    /** Returns the campaign's statistics over all its runs. */
    readFigures: ({ attribution, ...key }: Key & { attribution: Attribution }) =>
      ask('GET campaigns/:id/figures', {
        params: { id: key.id },
        query: { workspaceId: key.workspaceId, attribution },
      }),
    /** Sends this variation to every user who has not received the campaign yet; null restores the shares. */
    nameWinner: ({ variation, ...key }: Key & { variation: number | null }) =>
      ask('PUT campaigns/:id/winner', { ...of(key), body: { variation } }),
    /** The address of the same numbers as CSV. */
    figureFileUrl: ({ workspaceId, id, attribution }: Key & { attribution: Attribution }) =>
      addressOf(`campaigns/${id}/figures.csv`, { workspaceId, attribution }),
    readTimeline: (key: Key) => ask('GET campaigns/:id/timeline', of(key)),
    /** Newest first; pages from 1. */
    listRuns: ({ workspaceId, id, page }: Key & { page: number }) =>
      ask('GET campaigns/:id/runs', { params: { id }, query: { workspaceId, page: String(page) } }),
    change: ({ action, ...key }: Key & { action: CampaignAction }) => ask(`POST campaigns/:id/${action}`, of(key)),
    /** Creates a draft with the same parts. */
    clone: (key: Key) => ask('POST campaigns/:id/clone', of(key)),
    /**
     * Calls back after each change of a number, until the campaign ends or `signal` is aborted. Reconnects by itself.
     */
    async follow({ workspaceId, id }: Key, { onProgress, signal }: Following): Promise<void> {
      while (!signal.aborted) {
        try {
          const answer = await call(addressOf(`campaigns/${id}/progress/events`, { workspaceId }), { signal });
          for await (const { event, data } of readEventStream(answer.body!)) {
            if (event === 'end') return;
            if (event === 'progress') onProgress(JSON.parse(data) as CampaignProgress);
          }
        } catch (error) {
          if (signal.aborted) return;
          // The server will not accept a retry: there is no session or no such campaign.
          if ((error as { status?: number }).status !== undefined && (error as { status: number }).status < 500)
            throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, reconnectMilliseconds));
      }
    },
  };
}

export type StreamedEvent = { event: string; data: string };

/** Reads server-sent events as they arrive (WHATWG HTML, 9.2), as far as this project's server uses them. */
async function* readEventStream(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamedEvent> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) {
        const event = parseBlock(block);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Returns undefined for a comment, which only keeps the connection alive. */
function parseBlock(block: string): StreamedEvent | undefined {
  const lines = block.split('\n');
  const valuesOf = (name: string): string[] =>
    lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, ''));
  const data = valuesOf('data');
  return data.length === 0 ? undefined : { event: valuesOf('event').at(-1) ?? 'message', data: data.join('\n') };
}

import type { CampaignBody } from '@carillon/client';

/** `a.b[0].c` → its steps. Names of a campaign's members hold neither dots nor brackets. */
function stepsOf(path: string): (string | number)[] {
  return path.split('.').flatMap((name) => {
    const [member, ...indexes] = name.split('[');
    return [member!, ...indexes.map((index) => Number(index.replace(']', '')))];
  });
}

/** The member of a campaign that the server calls by this path; undefined where there is none. */
export function readAt(body: CampaignBody, path: string): unknown {
  return stepsOf(path).reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[step] : undefined,
    body,
  );
}

export function textAt(body: CampaignBody, path: string): string {
  const value = readAt(body, path);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

export function listAt<Item>(body: CampaignBody, path: string): Item[] {
  const value = readAt(body, path);
  return Array.isArray(value) ? (value as Item[]) : [];
}

/** The same campaign with that member changed; undefined takes it away. */
export function writeAt(body: CampaignBody, path: string, value: unknown): CampaignBody {
  return write(body, { steps: stepsOf(path), value }) as CampaignBody;
}

function write(target: unknown, { steps, value }: { steps: (string | number)[]; value: unknown }): unknown {
  const [step, ...rest] = steps;
  if (step === undefined) return value;
  if (typeof step === 'number') {
    const items = Array.isArray(target) ? [...(target as unknown[])] : [];
    items[step] = write(items[step], { steps: rest, value });
    return items.filter((item) => item !== undefined);
  }
  const members = { ...(target as Record<string, unknown> | undefined) };
  const written = write(members[step], { steps: rest, value });
  if (written === undefined) delete members[step];
  else members[step] = written;
  return members;
}

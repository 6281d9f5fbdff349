import { Button, Card, Grid, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState, useEffect } from 'react';
import { consoleClient } from '../../console.ts';
import { ButtonLink } from '../../parts/links.tsx';
import { Failure } from '../../parts/failure.tsx';
import { draftKey } from '../../parts/forms/drafts.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { showToast } from '../../parts/toast/toast-list.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import { FilterEditor } from './filter-editor.tsx';
import { FilterSummary, useFilterAnswers } from './filter-summary.tsx';
import { fromFilters, newTrees, toFilters } from './filter-tree.ts';
import type { BuiltTrees } from './filter-tree.ts';

/** Creates or changes a segment of users who match filters. */
export function FilterPage() {
  const { id: workspaceId } = useWorkspace();
  const { segmentId } = useParams({ strict: false });
  return segmentId === undefined ? (
    <Builder key={workspaceId} first={{ name: '', trees: newTrees() }} segmentId={undefined} />
  ) : (
    <Existing key={segmentId} segmentId={segmentId} />
  );
}

function Existing({ segmentId }: { segmentId: string }) {
  const { id: workspaceId } = useWorkspace();
  const segment = useQuery({
    // Not the cached segment of its page: edits must start from what is stored now.
    queryKey: ['built-segment', workspaceId, segmentId],
    queryFn: () => consoleClient.segments.read({ workspaceId, id: segmentId }),
    staleTime: 0,
    gcTime: 0,
  });
  return (
    <Loaded query={segment}>
      {({ name, filters, state }) =>
        filters === null || state === 'ARCHIVED' ? (
          <PageHeader
            title={`“${name}” has no filters to change`}
            about={filters === null ? 'It is made from files, or by a partner.' : 'It is archived. Unarchive it first.'}
          />
        ) : (
          <Builder first={{ name, trees: fromFilters(filters) }} segmentId={segmentId} />
        )
      }
    </Loaded>
  );
}

type Built = { name: string; trees: BuiltTrees };

function Builder({ first, segmentId }: { first: Built; segmentId: string | undefined }) {
  const { id: workspaceId } = useWorkspace();
  const draft = useDraft(draftKey({ kind: 'filter', workspaceId, id: segmentId ?? 'new' }), first);
  const { name, trees } = draft.value;
  const answers = useFilterAnswers({ trees, segmentId });
  // Missing values are shown after the first attempt to save.
  const [isFaultShown, showFault] = useState(false);
  const save = useSave({ first, segmentId, onSaved: draft.clear });
  const isNameMissing = isFaultShown && name.trim() === '';
  return (
    <Stack gap="lg">
      <PageHeader
        title={segmentId === undefined ? 'New filter segment' : `Change “${first.name}”`}
        about="Everyone who matches at send time, recalculated for each campaign."
      />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          showFault(true);
          if (answers.isGood && name.trim() !== '') save.mutate({ name: name.trim(), trees });
        }}
      >
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, md: 8 }}>
            <Stack gap="lg">
              {draft.isRestored && (
                <Group gap="xs" role="status">
                  <Text size="sm">Your draft in this browser is shown.</Text>
                  <Button size="compact-sm" variant="default" onClick={draft.discard}>
                    Discard draft
                  </Button>
                </Group>
              )}
              <Card withBorder>
                <Stack gap="lg">
                  <TextInput
                    label="Name"
                    withAsterisk
                    maxLength={256}
                    maw={420}
                    value={name}
                    {...(isNameMissing ? { error: 'A name is missing' } : {})}
                    onChange={({ currentTarget: { value } }) => draft.set({ name: value, trees })}
                  />
                  <FilterEditor
                    trees={trees}
                    fault={isFaultShown ? answers.fault : undefined}
                    onChanged={(next) => draft.set({ name, trees: next })}
                  />
                </Stack>
              </Card>
              {save.error !== null && <Failure error={save.error} what="Not saved" />}
              <Group justify="flex-end">
                <Leave segmentId={segmentId} />
                <Button type="submit" loading={save.isPending}>
                  {segmentId === undefined ? 'Create segment' : 'Save changes'}
                </Button>
              </Group>
            </Stack>
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 4 }}>
            <div style={{ position: 'sticky', top: 72 }}>
              <FilterSummary answers={answers} trees={trees} />
            </div>
          </Grid.Col>
        </Grid>
      </form>
    </Stack>
  );
}

function Leave({ segmentId }: { segmentId: string | undefined }) {
  const { id: workspaceId } = useWorkspace();
  return segmentId === undefined ? (
    <ButtonLink to="/w/$workspaceId/segments" params={{ workspaceId }} search={{}}>
      Cancel
    </ButtonLink>
  ) : (
    <ButtonLink to="/w/$workspaceId/segments/$segmentId" params={{ workspaceId, segmentId }}>
      Cancel
    </ButtonLink>
  );
}

type Saving = { first: Built; segmentId: string | undefined; onSaved: () => void };

function useSave({ first, segmentId, onSaved }: Saving) {
  const { id: workspaceId } = useWorkspace();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const renew = () =>
    queries.invalidateQueries({ predicate: ({ queryKey }) => /^(segment|filter)/.test(String(queryKey[0])) });
  const store = async ({ name, trees }: Built) => {
    const filters = toFilters(trees);
    const { id } =
      segmentId === undefined
        ? await consoleClient.segments.createFilter({ workspaceId, name, filters })
        : await consoleClient.segments.changeFilter({ workspaceId, id: segmentId, name, filters });
    await renew();
    return id;
  };
  return useMutation({
    mutationFn: store,
    async onSuccess(id, { name }) {
      onSaved();
      showToast(
        segmentId === undefined
          ? { text: `“${name}” is created` }
          : { text: `“${name}” is saved`, undo: () => store(first), undone: 'Its filters are as before' },
      );
      await navigate({ to: '/w/$workspaceId/segments/$segmentId', params: { workspaceId, segmentId: id } });
    },
  });
}

type Draft<Value> = {
  value: Value;
  set: (next: Value) => void;
  /** True if the filters come from an unsaved draft. */
  isRestored: boolean;
  /** Restores the initial filters. */
  discard: () => void;
  /** Deletes the draft after the segment was stored. */
  clear: () => void;
};

/** Keeps the filters in this browser until the user saves or discards them, so that a reload loses nothing. */
function useDraft<Value>(key: string, first: Value): Draft<Value> {
  const [kept] = useState(() => readDraft<Value>(key));
  const [value, setValue] = useState(kept ?? first);
  const [isRestored, setRestored] = useState(kept !== undefined);
  const [isCleared, setCleared] = useState(false);
  const isFirst = JSON.stringify(value) === JSON.stringify(first);
  useEffect(() => {
    if (isFirst || isCleared) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  }, [key, value, isFirst, isCleared]);
  return {
    value,
    set: setValue,
    isRestored,
    discard() {
      setValue(first);
      setRestored(false);
    },
    clear() {
      localStorage.removeItem(key);
      setCleared(true);
    },
  };
}

function readDraft<Value>(key: string): Value | undefined {
  try {
    const text = localStorage.getItem(key);
    return text === null ? undefined : (JSON.parse(text) as Value);
  } catch {
    // A draft of another version of the console has another shape.
    return undefined;
  }
}

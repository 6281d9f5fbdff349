import { ActionIcon, Button, Divider, Group, Popover, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconBookmark, IconTrash } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ViewedScreen } from '../../api/console-client.ts';
import { consoleClient } from '../../console.ts';
import { formatAddressSearch, parseAddressSearch } from '../../shell/address-search.ts';
import type { AddressSearch } from '../../shell/address-search.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import { Failure } from '../failure.tsx';
import { Loaded } from '../loaded.tsx';
import { showToast } from '../toast/toast-list.ts';

export type ViewLink = {
  /** The saved part of the address. */
  search: AddressSearch;
  children: string;
  onClick: () => void;
};

type SavedViewsProps = {
  screen: ViewedScreen;
  /** The search parameters that a view keeps: not the page, nor the opened object. */
  search: Record<string, unknown>;
  /** The link to the screen with those parameters. */
  linkOf: (link: ViewLink) => ReactNode;
};

/** Saved filters, order and columns of a list. The server stores them for the signed-in user. */
export function SavedViews(props: SavedViewsProps) {
  const [isOpen, popover] = useDisclosure(false);
  return (
    <Popover
      opened={isOpen}
      onChange={(opened) => (opened ? popover.open() : popover.close())}
      position="bottom-end"
      width={300}
      withinPortal={false}
      trapFocus
    >
      <Popover.Target>
        <Button
          variant="default"
          size="xs"
          onClick={popover.toggle}
          leftSection={<IconBookmark size={14} stroke={1.6} aria-hidden />}
        >
          Saved views
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Saved views">
        <Stack gap="sm">
          <ViewList {...props} onChosen={popover.close} />
          <Divider />
          <SaveForm {...props} />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

function ViewList({ screen, linkOf, onChosen }: SavedViewsProps & { onChosen: () => void }) {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const key = ['views', workspaceId, screen];
  const views = useQuery({ queryKey: key, queryFn: () => consoleClient.views.list({ workspaceId, screen }) });
  const remove = useMutation({
    mutationFn: (id: string) => consoleClient.views.remove({ workspaceId, screen, id }),
    onSuccess: (_nothing, id) => {
      const view = views.data?.find((one) => one.id === id);
      showToast({
        text: `View “${view?.name ?? ''}” is deleted`,
        undo: async () => {
          if (view) await consoleClient.views.save({ workspaceId, screen, name: view.name, search: view.search });
          await queries.invalidateQueries({ queryKey: key });
        },
      });
      return queries.invalidateQueries({ queryKey: key });
    },
  });
  return (
    <Loaded query={views} waiting={<Text size="sm">Loading</Text>}>
      {(list) =>
        list.length === 0 ? (
          <Text size="sm" c="dimmed">
            Save what you see now, to come back to it with one click.
          </Text>
        ) : (
          <Stack gap={4}>
            {list.map(({ id, name, search }) => (
              <Group key={id} justify="space-between" wrap="nowrap">
                <span style={{ overflowWrap: 'anywhere' }}>
                  {linkOf({ search: parseAddressSearch(search), children: name, onClick: onChosen })}
                </span>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size="sm"
                  aria-label={`Delete view ${name}`}
                  onClick={() => remove.mutate(id)}
                >
                  <IconTrash size={14} stroke={1.6} aria-hidden />
                </ActionIcon>
              </Group>
            ))}
            {remove.error !== null && <Failure error={remove.error} />}
          </Stack>
        )
      }
    </Loaded>
  );
}

function SaveForm({ screen, search }: SavedViewsProps) {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: (name: string) =>
      consoleClient.views.save({ workspaceId, screen, name, search: formatAddressSearch(search).slice(1) }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['views', workspaceId, screen] }),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        const name = String(new FormData(form).get('view') ?? '').trim();
        if (name !== '') save.mutate(name, { onSuccess: () => form.reset() });
      }}
    >
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <TextInput
          name="view"
          size="xs"
          label="Name of this view"
          maxLength={100}
          required
          autoComplete="off"
          style={{ flex: 1 }}
        />
        <Button type="submit" size="xs" loading={save.isPending}>
          Save
        </Button>
      </Group>
      {save.error !== null && <Failure error={save.error} />}
    </form>
  );
}

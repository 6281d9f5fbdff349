import { Button, Group, Modal, Stack, Text, UnstyledButton } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import type { Picture, PictureList } from '../../api/generated/pictures.ts';
import { consoleClient } from '../../console.ts';
import { ConfirmButton } from '../../parts/forms/confirm-button.tsx';
import { formatBytes } from '../../parts/text/format-bytes.ts';
import { Ago } from '../../parts/text/time.tsx';
import { useWorkspace } from '../../shell/workspace.ts';
import classes from './picture-tools.module.css';

type PictureChoiceProps = {
  list: PictureList;
  isOpen: boolean;
  onClose: () => void;
  onPicked: (url: string) => void;
};

/** The pictures that were uploaded before, to pick or to remove. */
export function PictureChoice({ list, isOpen, onClose, onPicked }: PictureChoiceProps) {
  const { id: workspaceId } = useWorkspace();
  const pages = useInfiniteQuery({
    queryKey: ['pictures', workspaceId, 'pages'],
    queryFn: ({ pageParam }) => consoleClient.pictures.list({ workspaceId, before: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next,
    enabled: isOpen,
  });
  const pictures = pages.data?.pages.flatMap((page) => page.pictures) ?? list.pictures;
  return (
    // Without the header of the component library, which would be a second banner landmark.
    <Modal.Root opened={isOpen} onClose={onClose} size="lg" transitionProps={{ duration: 0 }}>
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body>
          <Stack>
            <Group justify="space-between">
              <Modal.Title fw={600}>Uploaded pictures</Modal.Title>
              <Modal.CloseButton aria-label="Close" />
            </Group>
            {pictures.length === 0 && <Text size="sm">There are none any more.</Text>}
            <div className={classes.tiles}>
              {pictures.map((picture) => (
                <Tile key={picture.id} picture={picture} onPicked={onPicked} />
              ))}
            </div>
            {pages.hasNextPage && (
              <Group justify="center">
                <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
                  Older
                </Button>
              </Group>
            )}
            <Text size="xs" c="dimmed">
              {formatBytes(list.usedBytes)} of {formatBytes(list.maxBytes)} used.
            </Text>
          </Stack>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

function Tile({ picture, onPicked }: { picture: Picture; onPicked: (url: string) => void }) {
  const { id: workspaceId } = useWorkspace();
  const queryClient = useQueryClient();
  const { id, url, width, height } = picture;
  const size = `${width} × ${height}`;
  return (
    <div>
      <UnstyledButton
        className={classes.tile}
        onClick={() => onPicked(url)}
        aria-label={`Use the picture of ${size} by ${picture.createdBy}`}
      >
        <img src={url} alt="" loading="lazy" />
      </UnstyledButton>
      <Group justify="space-between" mt={4} wrap="nowrap" gap={4}>
        <Text size="xs" truncate>
          <Ago at={picture.createdAt} />
        </Text>
        <ConfirmButton
          label="Remove"
          ariaLabel={`Remove the picture of ${size} by ${picture.createdBy}`}
          size="compact-xs"
          title="Remove this picture?"
          hits="Messages that are on phones already may lose it. Templates and campaigns that still send keep theirs: a picture that they contain cannot be removed."
          onConfirmed={async () => {
            await consoleClient.pictures.remove({ workspaceId, id });
            await queryClient.invalidateQueries({ queryKey: ['pictures', workspaceId] });
          }}
        />
      </Group>
    </div>
  );
}

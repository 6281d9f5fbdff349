import { Box, Button, FileButton, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { DragEvent } from 'react';
import type { Picture, PictureList } from '../../api/generated/pictures.ts';
import { consoleClient } from '../../console.ts';
import { failureText } from '../../parts/failure.tsx';
import { Notice } from '../../parts/notice.tsx';
import { formatBytes } from '../../parts/text/format-bytes.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import { PictureChoice } from './picture-choice.tsx';
import classes from './picture-tools.module.css';

type PictureToolsProps = {
  /** The label of the field that gets the address. */
  label: string;
  value: string;
  /** `short` where another part of the page has the long form. */
  notice: 'long' | 'short';
  onPicked: (url: string) => void;
};

const maxFileBytes = 10 * 1024 * 1024;
const types = 'image/jpeg,image/png,image/webp';

export const picturesQuery = (workspaceId: string) => ({
  queryKey: ['pictures', workspaceId],
  queryFn: () => consoleClient.pictures.list({ workspaceId }),
});

/** Uploads a picture that is chosen or dropped, or picks one that was uploaded before, for the field above. */
export function PictureTools({ label, value, notice, onPicked }: PictureToolsProps) {
  const { id: workspaceId } = useWorkspace();
  const queryClient = useQueryClient();
  const list = useQuery(picturesQuery(workspaceId));
  const [isChoosing, choosing] = useDisclosure(false);
  const [isOver, setOver] = useState(false);
  const upload = useMutation({
    mutationFn: async (file: File): Promise<Picture> => {
      if (file.size > maxFileBytes) throw new TooLargeError();
      return consoleClient.pictures.upload({ workspaceId, file });
    },
    onSuccess(picture) {
      void queryClient.invalidateQueries({ queryKey: ['pictures', workspaceId] });
      onPicked(picture.url);
    },
  });
  const mayUpload = list.data?.mayUpload ?? true;
  const send = (file: File | null | undefined) => {
    if (file && mayUpload && !upload.isPending) upload.mutate(file);
  };
  const over = (event: DragEvent, isInside: boolean) => {
    if (!event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    setOver(isInside);
  };
  const shown = list.data?.pictures.find(({ url }) => url === value);
  return (
    <Stack gap={6}>
      <Box
        className={classes.zone}
        role="group"
        aria-label={`Upload for ${label}`}
        {...(isOver && mayUpload ? { 'data-over': true } : {})}
        onDragEnter={(event) => over(event, true)}
        onDragOver={(event) => over(event, true)}
        onDragLeave={(event) => over(event, event.currentTarget.contains(event.relatedTarget as Node | null))}
        onDrop={(event) => {
          over(event, false);
          send(event.dataTransfer.files[0]);
        }}
      >
        <Group gap="xs">
          {shown && <img className={classes.thumbnail} src={shown.url} alt="" />}
          <FileButton accept={types} onChange={send} disabled={!mayUpload}>
            {(props) => (
              <Button
                {...props}
                size="compact-sm"
                variant="default"
                loading={upload.isPending}
                disabled={!mayUpload}
                aria-label={`Upload picture for ${label}`}
              >
                Upload picture
              </Button>
            )}
          </FileButton>
          {(list.data?.pictures.length ?? 0) > 0 && (
            <Button
              size="compact-sm"
              variant="default"
              onClick={choosing.open}
              aria-label={`Choose uploaded for ${label}`}
            >
              Choose uploaded
            </Button>
          )}
          <Text size="xs" c="dimmed">
            {shown ? describe(shown) : mayUpload ? 'or drop one here: JPEG, PNG or WebP, up to 10 MB' : ''}
          </Text>
        </Group>
      </Box>
      <div aria-live="polite">
        {upload.error !== null && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {upload.error instanceof TooLargeError ? 'The file has more than 10 MB.' : failureText(upload.error)}
          </Text>
        )}
      </div>
      {list.data && (!mayUpload || shown) && <AddressNotice list={list.data} notice={notice} />}
      {list.data && (
        <PictureChoice
          list={list.data}
          isOpen={isChoosing}
          onClose={choosing.close}
          onPicked={(url) => {
            choosing.close();
            onPicked(url);
          }}
        />
      )}
    </Stack>
  );
}

class TooLargeError extends Error {}

function describe({ width, height, bytes }: Picture): string {
  return `${width} × ${height}, ${formatBytes(bytes)}`;
}

type AddressNoticeProps = { list: PictureList; notice: PictureToolsProps['notice'] };

/** Says what keeps phones from loading uploaded pictures. */
function AddressNotice({ list: { fault, mayUpload }, notice }: AddressNoticeProps) {
  if (fault === null) return null;
  if (notice === 'short')
    return (
      <Text size="xs">{mayUpload ? 'Phones cannot load this picture.' : 'Pictures cannot be uploaded here.'}</Text>
    );
  return <Notice tone={mayUpload ? 'warning' : 'note'}>{mayUpload ? loadedNowhere[fault] : notUploaded}</Notice>;
}

const loadedNowhere = {
  NO_PUBLIC_URL:
    'Only this machine can load this picture: the public address of this installation (CARILLON_PUBLIC_URL) is not set. Browsers need https.',
  NOT_HTTPS:
    'Phones and browsers show pictures from https addresses only, and the public address of this installation (CARILLON_PUBLIC_URL) is not https.',
};
const notUploaded =
  'Pictures cannot be uploaded: the public address of this installation (CARILLON_PUBLIC_URL) is not set, so phones could not load them.';

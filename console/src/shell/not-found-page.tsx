import { Stack, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { PageHeader } from '../parts/page-header.tsx';
import { RouteLink } from '../parts/links.tsx';

/** The page of an unknown address. Inside a workspace the navigation stays visible. */
export function NotFoundPage() {
  const { workspaceId } = useParams({ strict: false });
  return (
    <Stack gap="sm" p={workspaceId === undefined ? 'xl' : 0}>
      <PageHeader title="Page not found" about="The address is mistyped, or the page has moved." />
      <Text size="md">
        {workspaceId === undefined ? (
          <RouteLink to="/">Go to the overview</RouteLink>
        ) : (
          <>
            <RouteLink to="/w/$workspaceId" params={{ workspaceId }}>
              Go to the overview
            </RouteLink>
            , or search with Ctrl K for a screen, a campaign, a segment, a user or an id.
          </>
        )}
      </Text>
    </Stack>
  );
}

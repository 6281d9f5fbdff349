import type { AndroidPayload } from '../../domain/campaigns/android-payload.ts';
import type { OwnContent } from '../../domain/campaigns/content-texts.ts';
import { platforms } from '../../domain/campaigns/content.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import { languagesOf, makeContentIn } from '../../domain/locales/localize-content.ts';
import type { PushCommand } from '../../domain/push/push-command.ts';

/** How much a provider would be handed of a content, and the most it takes. */
export type MeasureContent = (
  shown: { workspaceId: string; androidPayload: AndroidPayload } & {
    [P in Platform]: { platform: P; content: OwnContent[P] };
  }[Platform],
) => { bytes: number; most: number };

type Measured = { measure: MeasureContent; workspaceId: string; androidPayload: AndroidPayload };

/** Languages in which a message is too large as it stands: whoever reads them gets nothing. */
export function warnOfSizes({ content }: Pick<PushCommand, 'content'>, { measure, ...workspace }: Measured): string[] {
  const contentIn = makeContentIn(content);
  return platforms.flatMap((platform) =>
    languagesOf(content, platform).flatMap((language) => {
      const shown = { ...workspace, platform, content: contentIn(platform, language) };
      const { bytes, most } = measure(shown as Parameters<MeasureContent>[0]);
      return bytes > most ? [`payload.locales.${language}.${platform} makes ${bytes} bytes where ${most} fit`] : [];
    }),
  );
}

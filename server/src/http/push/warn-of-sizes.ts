import type { AndroidPayload } from '../../domain/campaigns/android-payload.ts';
import type { OwnContent } from '../../domain/campaigns/content-texts.ts';
import { platforms } from '../../domain/campaigns/content.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import { languagesOf, makeContentIn } from '../../domain/locales/localize-content.ts';
import type { PushCommand } from '../../domain/push/push-command.ts';

/** How much a provider is sent of a content, the most it accepts, and the most that every browser accepts. */
export type MeasureContent = (
  shown: { workspaceId: string; androidPayload: AndroidPayload } & {
    [P in Platform]: { platform: P; content: OwnContent[P] };
  }[Platform],
) => { bytes: number; most: number; maxEverywhere: number };

type Measured = { measure: MeasureContent; workspaceId: string; androidPayload: AndroidPayload };

/**
 * Names the texts of a push that are too large as they stand, so that their devices would get nothing: those for everybody,
 * the fallback, and those of each language.
 */
export function warnOfSizes({ content }: Pick<PushCommand, 'content'>, { measure, ...workspace }: Measured): string[] {
  const contentIn = makeContentIn(content);
  return platforms.flatMap((platform) => {
    const given = content[platform];
    if (given === undefined) return [];
    const shown: [path: string, content: OwnContent[Platform]][] = [
      [`payload.${platform}`, contentIn(platform, undefined)],
      ...(given.fallback === undefined
        ? []
        : [[`payload.${platform}.fallback`, given.fallback] as [string, OwnContent[Platform]]]),
      ...languagesOf(content, platform).map((language): [string, OwnContent[Platform]] => [
        `payload.locales.${language}.${platform}`,
        contentIn(platform, language),
      ]),
    ];
    return shown.flatMap(([path, own]) => {
      if (isSurelySmall(own)) return [];
      const sizes = measure({ ...workspace, platform, content: own } as Parameters<MeasureContent>[0]);
      const warning = describe(sizes);
      return warning === undefined ? [] : [`${path} ${warning}`];
    });
  });
}

function describe({ bytes, most, maxEverywhere }: ReturnType<MeasureContent>): string | undefined {
  if (bytes > most) return `makes ${bytes} bytes where ${most} fit`;
  // Only browsers have a service that takes less than the others.
  return bytes > maxEverywhere ? `makes ${bytes} bytes where ${maxEverywhere} fit for Firefox on Android` : undefined;
}

/** Under the least that any provider accepts. */
const smallBytes = 2_900;
/** More than a message adds to its content: ids, the report token, names of members (some 500 bytes). */
const addedBytes = 1_500;

/**
 * True for a content that fits whatever is made of it. Measuring composes a message, some 50 microseconds, and nearly all
 * pushes are short. Android may get each text twice, and a browser the page's address once more, percent-encoded.
 */
function isSurelySmall(content: OwnContent[Platform]): boolean {
  const encodedBytes = 'redirectUrl' in content ? 3 * Buffer.byteLength(content.redirectUrl) : 0;
  return 2 * Buffer.byteLength(JSON.stringify(content)) + encodedBytes + addedBytes <= smallBytes;
}

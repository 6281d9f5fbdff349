import { relative } from 'node:path';
import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/**
 * The files that take longest under FULL=1, the longest first, and then those that take longest in `npm test`. A run lists its slowest
 * files.
 */
export const longFiles: readonly string[] = [
  'server/test/docs-site.test.ts',
  'server/test/experiments/figures.test.ts',
  'server/test/console/screens.test.ts',
  'server/test/testing/testing.test.ts',
  'server/test/tenants/wall.test.ts',
  'server/test/console/campaign-pages.test.ts',
  'server/test/console/operation-pages.test.ts',
  'server/test/sdk/swift.test.ts',
  'server/test/console/composer-page.test.ts',
  'server/test/console/walks.test.ts',
  'client/test/conformance.test.ts',
  'server/test/torture/torture.test.ts',
  'server/test/start/environments.test.ts',
  'server/test/console/segment-pages.test.ts',
  'server/test/deploy/image.test.ts',
  'server/test/console/account-pages.test.ts',
  'server/test/pictures/upload-page.test.ts',
  'client/test/packed.test.ts',
  'server/test/sdk/kotlin.test.ts',
  'server/test/pictures/prepare-picture.test.ts',
  'server/test/console/user-pages.test.ts',
  'client/test/generated-clients.test.ts',
  'server/test/console/hostile-calls.test.ts',
  'server/test/nodes/upgrade.test.ts',
  'server/test/engine/fan-out/provider-evidence.test.ts',
  'server/test/release-clients.test.ts',
  'client/test/python.test.ts',
  'server/test/http/shapes-and-readers.test.ts',
  'server/test/console/apps-page.test.ts',
  'server/test/backup/restores.test.ts',
  'server/test/segments/file-segment.test.ts',
  'server/test/engine/fan-out/turns.test.ts',
  'client/test/mock.test.ts',
  'server/test/cli/workspace-commands.test.ts',
  'server/test/engine/fan-out/fan-out.test.ts',
  'server/test/start/start.test.ts',
  'server/test/engine/delivery/foreign-implementations.test.ts',
  'server/test/engine/fan-out/queue.test.ts',
  'server/test/console/statement-plans.test.ts',
  'server/test/deploy/helm.test.ts',
  'server/test/data/merge.test.ts',
  'server/test/console/api.test.ts',
  'server/test/storage/statement-plans.test.ts',
  'server/test/tokens/nodes.test.ts',
  'server/test/sdk/conformance.test.ts',
  'server/test/tenants/other-workspace.test.ts',
  'server/test/sandbox/clock-and-faults.test.ts',
  'client/test/every-operation.test.ts',
  'server/test/console/console-page.test.ts',
  'server/test/engine/fan-out/cut-audiences.test.ts',
  'server/test/experiments/learning.test.ts',
  'server/test/backup/backup.test.ts',
  'server/test/campaigns/campaigns.test.ts',
  'server/test/cli/campaign-commands.test.ts',
  'server/test/engine/fan-out/named-runs.test.ts',
  'server/test/console/workspace-roles.test.ts',
  'server/test/simulation/simulation.test.ts',
  'server/test/start/database.test.ts',
  'server/test/console/sign-in.test.ts',
  'server/test/import/import-kinds.test.ts',
  'server/test/console/accounts.test.ts',
  'server/test/sandbox/sandbox.test.ts',
  'server/test/credentials/credentials.test.ts',
  'server/test/backup/first-migration.test.ts',
  'server/test/cli/node-commands.test.ts',
  'server/test/segments/action-filter.test.ts',
  'server/test/engine/delivery/http2/hostile-server.test.ts',
  'server/test/start/settings.test.ts',
  'server/test/triggers/triggered-campaigns.test.ts',
  'server/test/storage/distribution-rules.test.ts',
  'server/test/console/campaigns.test.ts',
  'server/test/explain/explain.test.ts',
];

/**
 * Starts the long files first, so that no worker begins one when the others have nothing left. The runner knows how long files took only
 * if it has run on this clone before; otherwise it starts the largest first, and many files that wait for browsers and compilers are
 * small.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const index = longFiles.indexOf(relative(this.ctx.config.root, moduleId));
      return index === -1 ? longFiles.length : index;
    };
    return sorted.toSorted((left, right) => rankOf(left) - rankOf(right));
  }
}

import { readReportFigures } from '../app/stats/read-campaign-stats.ts';
import type { ReadReport } from '../engine/report-files/write-report-files.ts';
import { presentFigures } from '../http/stats/present-figures.ts';
import type { Database } from '../storage/database.ts';

/** The lines of a report file: what the statistics answer of each campaign, in the same members. */
export function makeReadReport(database: Database): ReadReport {
  return async function* readReport(asked) {
    for await (const campaign of readReportFigures({ database }, asked)) {
      const { id, name, deliveryType } = campaign;
      const named = { campaign_id: id, campaign_name: name, campaign_delivery_type: deliveryType };
      yield `${JSON.stringify({ ...named, ...presentFigures(campaign, asked) })}\n`;
    }
  };
}

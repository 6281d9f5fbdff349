import { expect, test } from 'vitest';
import { ServiceError } from '../../src/domain/errors.ts';
import type { ErrorName } from '../../src/domain/errors.ts';
import { campaignV1Errors } from '../../src/http/campaigns/v1-answers.ts';
import { campaignV5Errors } from '../../src/http/campaigns/v5-answers.ts';
import { dataErrors } from '../../src/http/data/answers.ts';
import { defaultErrorStatuses, describeDefaultError } from '../../src/http/route/errors.ts';
import { filterSegmentErrors } from '../../src/http/segments/answers.ts';

const families = [filterSegmentErrors, campaignV1Errors, campaignV5Errors, dataErrors];

test("the console tells what a family of the API refuses with that family's status", () => {
  const told = families
    .flatMap((family) => Object.entries(family).map(([name, { status }]) => ({ name: name as ErrorName, status })))
    .filter(({ name }) => defaultErrorStatuses[name] === undefined)
    .map(({ name, status }) => ({ name, status, shown: describeDefaultError(new ServiceError(name)).status }))
    .filter(({ shown }) => shown !== 500);
  expect(new Set(told.map(({ name }) => name)).size).toBe(16);
  for (const { name, status, shown } of told) expect(shown, name).toBe(status);
});

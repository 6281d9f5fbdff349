import { syncCohort } from '../../app/segments/cohorts.ts';
import type { SyncCohortCommand } from '../../app/segments/cohorts.ts';
import { maxDataBodyBytes } from '../../domain/limits/users.ts';
import { isStorableText } from '../../domain/storable-text.ts';
import { choice, list, part, readWith, required, requiredId, requiredText, text } from '../../fields/combinators.ts';
import { reading, schemaOf } from '../../fields/field.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import { dataAnswer, dataError, dataErrors, presentAccepted, presentDataError } from '../data/answers.ts';
import { readData } from '../data/parse-data.ts';
import { requestHeaders } from '../openapi/shapes.ts';
import { keyCallerOf, makeRequireApiKey } from '../route/auth.ts';
import type { KeyCaller } from '../route/auth.ts';
import { addRoutes, makeRequestId, route } from '../route/route.ts';
import type { Body, RouteDialect } from '../route/route.ts';
import type { RouteFamily } from '../server/build-server.ts';
import { clientNotFound } from './answers.ts';
import type { SegmentRouteDependencies } from './answers.ts';

/** POST /v1/integrations/cohortsync (fact 2.4): updates a partner's segment without files. */
export function cohortRoutes(deps: SegmentRouteDependencies): RouteFamily {
  const { vendorHeaders } = deps;
  return async (server) =>
    addRoutes(server, [
      route(makeCohortDialect(deps), {
        method: 'POST',
        url: '/v1/integrations/cohortsync',
        operationId: 'syncCohort',
        summary: "Add members to a partner's segment, or remove them",
        body: cohortBody,
        maxBodyBytes: maxDataBodyBytes,
        answers: { 200: dataAnswer },
        refuses: [409, 429],
        async admit({ request, workspaceId }) {
          const appKey = vendorHeaders.read(request.headers, '*-appkey');
          if (appKey !== workspaceId) throw clientNotFound(vendorHeaders, vendorHeaders.spell('SVC-APPKEY'));
        },
        read: ({ body }) => parseCohort(body),
        async handle({ input, workspaceId, actor }) {
          await syncCohort(deps, { ...input, workspaceId, actor });
          return presentAccepted({ requestId: makeRequestId() });
        },
      }),
    ]);
}

/** Makes the dialect: errors of the data family, with the scope of segments and without the data family's limits. */
function makeCohortDialect(deps: SegmentRouteDependencies): RouteDialect<KeyCaller> {
  const requireKey = makeRequireApiKey(deps, 'segmentation', {
    missing: 'DATA_CREDENTIALS_MISSING',
    invalid: 'DATA_CREDENTIALS_INVALID',
    notCovering: 'SCOPE_MISSING',
  });
  return {
    tag: 'Segments',
    credentials: ['dataKey', 'bearer'],
    headers: { '*-APPKEY': requestHeaders.appKey },
    refusals: { errors: dataErrors, shape: dataError, codeOf: (name) => dataErrors[name]?.type },
    vendorHeaders: deps.vendorHeaders,
    onRequest: [requireKey],
    callerOf: keyCallerOf,
    presentError: presentDataError,
  };
}

const maxCohortTextCharacters = 256;

const cohortText = { ...requiredText(), read: readCohortText };

const parameterMembers = {
  cohort_name: { ...requiredText(), read: readCohortName },
  cohort_id: cohortText,
  cohort_description: readWith(text(), (parameters, name) =>
    // Forms send an empty text for a field that was left empty.
    parameters.get(name) === undefined || parameters.get(name) === '' ? undefined : readCohortText(parameters, name),
  ),
  members: readWith(required(list(part({ uid: requiredId() }), { max: Infinity })), readMemberIds),
};

const cohortMembers = {
  action: required(choice(['add_members', 'remove_members'])),
  partner: cohortText,
  parameters: required(part(parameterMembers)),
};

const cohortBody = schemaOf(cohortMembers, { title: 'CohortRequest' });

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID (fact 2.4: the errors of the data family) */
function parseCohort(body: Body): Omit<SyncCohortCommand, 'workspaceId' | 'actor'> {
  return readData(body, (sent) => {
    const action = cohortMembers.action.read(sent, 'action')!;
    sent.requires('parameters');
    // The faults of this body do not name `parameters`.
    const read = reading(sent.over(sent.part('parameters').members), parameterMembers);
    const cohortName = read('cohort_name');
    read('cohort_description');
    const partner = cohortMembers.partner.read(sent, 'partner');
    return { action, partner, cohortId: read('cohort_id'), cohortName, members: read('members') ?? [] };
  });
}

function readCohortText(part: RequestReader, name: string): string {
  const value = part.get(name);
  if (value === undefined || value === '') part.missing(name);
  else if (typeof value !== 'string' || value.length > maxCohortTextCharacters)
    part.invalid(name, `must be a text of at most ${maxCohortTextCharacters} characters`);
  else if (!value.isWellFormed() || /[\u0000-\u001f\u007f]/.test(value))
    part.invalid(name, 'must be one line of well-formed Unicode');
  return typeof value === 'string' ? value : '';
}

function readCohortName(parameters: RequestReader, name: string): string {
  const cohortName = readCohortText(parameters, name).trim();
  if (cohortName === '' || cohortName.startsWith('.') || /[|*?\\:<>=$"]/.test(cohortName))
    parameters.invalid(name, 'must not start with . nor contain | * ? \\ : < > = $ "');
  return cohortName;
}

function readMemberIds(parameters: RequestReader, name: string): string[] {
  parameters.requires(name);
  const ids = parameters.list(name, Infinity).map((member) => toText((member as { uid?: unknown } | null)?.uid));
  if (ids.every(isMemberId)) return ids;
  parameters.invalid(name, "must hold objects with a text 'uid'");
  return [];
}

/** Partners that keep ids as numbers send them so. */
function toText(uid: unknown): unknown {
  return Number.isSafeInteger(uid) ? String(uid) : uid;
}

function isMemberId(uid: unknown): uid is string {
  return typeof uid === 'string' && uid !== '' && uid.length <= 512 && isStorableText(uid);
}

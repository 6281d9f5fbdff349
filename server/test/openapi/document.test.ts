import { createConfig, lintFromString } from '@redocly/openapi-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { describePublicRoutes } from '../../../scripts/list-routes.ts';
import type { OpenApiDocument, RegisteredRoute } from '../../../scripts/list-routes.ts';
import { gatewayErrors } from '../../src/http/route/gateway-errors.ts';
import { campaignV1Errors } from '../../src/http/campaigns/v1-answers.ts';
import { campaignV5Errors } from '../../src/http/campaigns/v5-answers.ts';
import { dataErrors } from '../../src/http/data/answers.ts';
import { Type } from 'typebox';
import { convertTo30 } from '../../src/http/openapi/convert-to-30.ts';
import { buildDocument } from '../../src/http/openapi/document.ts';
import examples from '../../src/http/openapi/examples.json' with { type: 'json' };
import { memberDescriptions } from '../../src/http/openapi/member-descriptions.ts';
import { named } from '../../src/http/openapi/shapes.ts';
import { pushErrors } from '../../src/http/push/answers.ts';
import { filterSegmentErrors, segmentErrors } from '../../src/http/segments/answers.ts';
import { statsErrors } from '../../src/http/stats/stats.ts';
import { tokenErrors } from '../../src/http/tokens.ts';
import { shownSignature } from './settle-values.ts';

let document: OpenApiDocument;
let routes: RegisteredRoute[];
let operations: [name: string, OpenApiDocument['paths'][string][string]][];
beforeAll(async () => {
  ({ document, routes } = await describePublicRoutes());
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
  ) as typeof operations;
});

test('the rules that Redocly recommends, examples that fit their shapes among them, find nothing but a redirect that has no other reply', async () => {
  const rules = { 'no-invalid-parameter-examples': 'error', 'no-invalid-schema-examples': 'error' } as const;
  const config = await createConfig({ extends: ['recommended'], rules });
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: '/openapi.json', config });
  const told = problems.map(({ ruleId, message, location: [at] }) => `${ruleId} ${at?.pointer}: ${message}`);
  expect(told).toEqual([
    // A click is answered with 302 and nothing else.
    'operation-2xx-response #/paths/~1v1~1click~1{token}/get/responses: Operation must have at least one `2XX` response.',
  ]);
});

test('a status that a reply and a refusal share is described with both: 503 of /readyz', () => {
  const { content } = document.paths['/readyz']!.get!.responses['503']! as {
    content: Record<string, { schema: unknown }>;
  };
  const refOf = (name: string) => ({ schema: { $ref: `#/components/schemas/${name}` } });
  expect(content).toMatchObject({ 'application/json': refOf('Health'), 'application/problem+json': refOf('Problem') });
});

describe('routes and operations', () => {
  // A page's files and what it asks for itself; a stream.
  const undescribed = [
    'GET /docs/migration-v1-v5.md',
    'GET /sandbox/browser/page.css',
    'GET /sandbox/browser/page.js',
    'GET /sandbox/browser/settings',
    'GET /sandbox/browser/subscribe-browser.js',
    'GET /sandbox/carillon-service-worker.js',
    'GET /sandbox/inbox/events',
    'GET /v1/app/installations/{id}/inbox/events',
  ];
  const isRefusal = ({ method, path }: RegisteredRoute) =>
    method !== 'GET' && path === '/v1/app/installations/{id}/inbox/events';

  // Other addresses of the routes for Segment's libraries.
  const isShort = (path: string) => /^\/segment\/v1\/(?:[a-z]|import)$/.test(path);

  test('every route is an operation and every operation is a route; what is in no document is listed here', () => {
    const shown = routes.filter(({ isHidden, method }) => !isHidden && method !== 'HEAD');
    const namesOf = (some: RegisteredRoute[]) => some.map(({ method, path }) => `${method} ${path}`).sort();
    expect(namesOf(shown)).toEqual(operations.map(([name]) => name).sort());
    // Other methods of a path that is described are refused.
    const elsewhere = routes.filter(({ path, isHidden }) => isHidden && document.paths[path] === undefined);
    const others = namesOf(elsewhere.filter((one) => one.method !== 'HEAD' && !isShort(one.path) && !isRefusal(one)));
    expect([...new Set(others)]).toEqual(undescribed);
    const short = elsewhere.filter(({ method, path }) => method === 'POST' && isShort(path));
    expect(short.map(({ path }) => path.split('/').at(-1))).toEqual(['i', 't', 'p', 's', 'g', 'a', 'b', 'import']);
  });

  test('every operation has a name of its own that is an identifier', () => {
    const ids = operations.map(([, { operationId }]) => operationId!);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z0-9]*$/);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(70);
  });

  test('every operation and every callback has an example, and every example belongs to one', () => {
    const callbacks = Object.values(document.webhooks).flatMap((path) => Object.values(path as object));
    const ids = [...operations.map(([, operation]) => operation), ...callbacks].map(({ operationId }) => operationId);
    expect(Object.keys(examples).sort()).toEqual(ids.sort());
  });

  test('a push of the document has the signature that its key gives', () => {
    const { parameters, body } = examples.sendPushV21;
    expect(parameters['X-*-PushAPI-Signature']).toBe(shownSignature(body.campaignName));
    expect(examples.sendPushV2.body.signature).toBe(shownSignature(examples.sendPushV2.body.campaignName));
  });

  test('every body that is JSON, of a request or a reply, is a named shape or one of several named ones', () => {
    const isNamed = (schema: { $ref?: string; oneOf?: object[] }): boolean =>
      schema.$ref !== undefined || (schema.oneOf ?? []).some(isNamed);
    const bodies = operations.flatMap(([name, { requestBody, responses }]) => [
      ...Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => ({ at: name, type, schema })),
      ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
        Object.entries(content).map(([type, { schema }]) => ({ at: `${name} ${status}`, type, schema })),
      ),
    ]);
    expect(bodies.length).toBeGreaterThan(500);
    const unnamed = bodies.filter(({ type, schema }) => !isNamed(schema) && type !== 'text/html');
    expect(unnamed.map(({ at }) => at)).toEqual([]);
  });
});

describe('refusals', () => {
  test('whatever may come with a body, wanted or not, says that it refuses one too large or of no known type', () => {
    const silent = operations
      .filter(([name]) => !name.startsWith('GET '))
      .flatMap(([name, { responses }]) =>
        ['413', '415'].filter((status) => !(status in responses)).map((status) => `${name}: ${status}`),
      );
    expect(silent).toEqual([]);
  });

  test.each([
    ['Tokens', tokenErrors],
    ['Push', pushErrors],
    ['Data', dataErrors],
    ['Segments', segmentErrors],
    ['Segments', filterSegmentErrors],
    ['Campaigns', campaignV1Errors],
    ['Campaigns', campaignV5Errors],
    ['Statistics', statsErrors],
    ['Campaigns', gatewayErrors],
  ])('%s: each error of the table is named at its status by an operation', (tag, errors) => {
    const told = new Set(
      operations
        .filter(([, operation]) => (operation as { tags?: string[] }).tags?.includes(tag))
        .flatMap(([, { responses }]) =>
          Object.entries(responses).flatMap(([status, { description }]) =>
            [...description.matchAll(/\b[A-Z][A-Z0-9_]+\b/g)].map(([name]) => `${status} ${name}`),
          ),
        ),
    );
    const missing = Object.entries(errors as Record<string, { status: number }>)
      .map(([name, { status }]) => [status, name] as const)
      // What is no refusal on the wire is a Fail of 200; another method is another operation.
      .filter(([status]) => status !== 200 && status !== 405)
      .map(([status, name]) => `${status} ${name}`)
      .filter((name) => !told.has(name));
    expect(missing).toEqual([]);
  });

  test('429 and 503 say how long to wait, 401 which credentials are asked for', () => {
    for (const [name, { responses }] of operations)
      for (const [status, response] of Object.entries(responses)) {
        const headers = Object.keys((response as { headers?: object }).headers ?? {});
        // /readyz says of itself with 503 that it cannot work.
        const asked =
          status === '401'
            ? 'WWW-Authenticate'
            : ['429', '503'].includes(status) && name !== 'GET /readyz'
              ? 'Retry-After'
              : '';
        if (asked !== '') expect(headers, `${name} ${status}`).toContain(asked);
      }
  });
});

describe('shapes with names', () => {
  const documentOf = (shapes: object[]) => buildDocument({ paths: { '/': { shapes } } }, { headerPrefix: 'acme' });

  test('two different shapes of one name are refused when the document is made', () => {
    const one = named('Thing', Type.Object({ size: Type.Integer() }));
    const other = named('Thing', Type.Object({ size: Type.String() }));
    expect(() => documentOf([one, other])).toThrow('two different shapes are named Thing');
  });

  test('what is said of a shape in one place stays there, and alternatives are told apart by their word', () => {
    const [ok, no] = ['Success', 'Fail'].map((status) =>
      named(status, Type.Object({ status: Type.Literal(status) }, { description: 'First said' })),
    );
    const again = { ...ok, description: 'Said here' };
    const { paths, components } = documentOf([Type.Union([ok!, no!]), again]) as any;
    const ref = (name: string) => `#/components/schemas/${name}`;
    expect(paths['/'].shapes).toEqual([
      {
        oneOf: [{ $ref: ref('Success') }, { $ref: ref('Fail') }],
        discriminator: { propertyName: 'status', mapping: { Success: ref('Success'), Fail: ref('Fail') } },
      },
      { $ref: ref('Success'), description: 'Said here' },
    ]);
    expect(Object.keys(components.schemas)).toEqual(['Fail', 'Success']);
  });

  test('header names have the abbreviation of the installation', () => {
    const parameter = { in: 'header', name: 'X-*-APPKEY', schema: { type: 'string' } };
    const { paths } = documentOf([parameter, { headers: { '*-DBNAME': {} } }]) as any;
    expect(paths['/'].shapes).toEqual([{ ...parameter, name: 'X-ACME-APPKEY' }, { headers: { 'ACME-DBNAME': {} } }]);
  });

  test('descriptions have it in the names of headers and attributes, and examples are left alone', () => {
    const shape = { type: 'string', description: 'As X-SVC-APPKEY or svc_gaid', example: 'svc_gaid' };
    const { paths } = documentOf([shape]) as any;
    expect(paths['/'].shapes).toEqual([{ ...shape, description: 'As X-ACME-APPKEY or acme_gaid' }]);
  });
});

describe('what generators of clients need', () => {
  type Part = { [member: string]: any };

  /** Every schema of the document, with its place. */
  function* listSchemas(value: unknown, at: string): Generator<{ at: string; schema: Part }> {
    if (value === null || typeof value !== 'object') return;
    if (!Array.isArray(value)) yield { at, schema: value as Part };
    for (const [name, member] of Object.entries(value))
      if (name !== 'example' && name !== 'examples') yield* listSchemas(member, `${at}/${name}`);
  }
  const shapes = () => (document.components as Part).schemas as Record<string, Part>;

  test('every member of every shape, and every parameter, is described', () => {
    const isDescribed = ({ description, $ref }: Part): boolean =>
      typeof description === 'string' || ($ref && isDescribed(shapes()[$ref.split('/').at(-1)]!));
    let count = 0;
    const silent = [...listSchemas(document.components.schemas, ''), ...listSchemas(document.paths, '')]
      .filter(({ schema, at }) => schema.properties && !at.endsWith('/properties'))
      .flatMap(({ at, schema }) =>
        Object.entries(schema.properties as Record<string, Part>).flatMap(([name, member]) => {
          count += 1;
          return isDescribed(member) ? [] : [`${at}.${name}`];
        }),
      );
    for (const [name, { parameters = [] }] of operations as [string, Part][])
      for (const parameter of parameters)
        if (!isDescribed(parameter) && !isDescribed(parameter.schema)) silent.push(`${name} ${parameter.name}`);
    expect(silent).toEqual([]);
    expect(count).toBeGreaterThan(1_800);
  });

  test('every entry of the list of descriptions is used', () => {
    const described = JSON.stringify(document);
    const unused = Object.entries(memberDescriptions).filter(([, text]) => !described.includes(JSON.stringify(text)));
    expect(unused.map(([key]) => key)).toEqual([]);
  });

  test('no shape has both named members and typed others, which TypeScript cannot express', () => {
    const mixed = [...listSchemas(document, '')].filter(
      ({ schema: { properties, additionalProperties } }) =>
        properties &&
        additionalProperties &&
        typeof additionalProperties === 'object' &&
        'type' in additionalProperties,
    );
    expect(mixed.map(({ at }) => at)).toEqual([]);
  });

  test('the audience and the delivery of a push decide which members it must have', () => {
    expect(shapes().PushRequestV21!.discriminator.propertyName).toBe('targetAudience');
    expect(Object.keys(shapes().PushRequestV21!.discriminator.mapping)).toEqual([
      'All Users',
      'Custom Segment',
      'User',
    ]);
    const toUsers = shapes().PushToUsersV21!;
    expect(toUsers.required).toContain('targetUserAttributes');
    expect(toUsers.properties.targetAudience.enum).toEqual(['User']);
    expect(Object.keys(toUsers.properties)).not.toContain('customSegmentName');
    expect(shapes().PushDelivery!.discriminator.propertyName).toBe('type');
    expect(shapes().PushDeliveryLater!.required).toEqual(['type', 'date', 'time']);
    expect(Object.keys(shapes().PushDeliverySoon!.properties)).toEqual(['type']);
  });

  test('words of states, channels and types are enums, in requests and replies', () => {
    const members = [...listSchemas(document.components.schemas, '')].filter(
      ({ at, schema }) =>
        /properties\/(channel|campaign_delivery_type|trigger_delay_type|delivery_type|comparisonParameter)$/.test(at) &&
        schema.type === 'string',
    );
    expect(members.length).toBeGreaterThan(12);
    expect(members.filter(({ schema }) => !schema.enum).map(({ at }) => at)).toEqual([]);
  });

  test('documents v2.1 before v2', () => {
    const paths = Object.keys(document.paths).filter((path) => path.endsWith('/sendpush'));
    expect(paths).toEqual(['/v2.1/transaction/sendpush', '/v2/transaction/sendpush']);
  });

  test('the copy in OpenAPI 3.0 is valid, and has every operation and shape', async () => {
    const copy = convertTo30(document as never) as Part;
    const config = await createConfig({ rules: { struct: 'error', 'no-unresolved-refs': 'error' } });
    const problems = await lintFromString({ source: JSON.stringify(copy), absoluteRef: '/openapi-3.0.json', config });
    expect(problems.map(({ message, location: [at] }) => `${at?.pointer}: ${message}`)).toEqual([]);
    expect(copy.openapi).toBe('3.0.3');
    expect(Object.keys(copy.paths)).toEqual(Object.keys(document.paths));
    expect(Object.keys(copy.components.schemas)).toEqual(Object.keys(shapes()));
    const beyond = [...listSchemas(copy.components.schemas, ''), ...listSchemas(copy.paths, '')].filter(
      ({ at, schema: { type, $ref, ...beside } }) =>
        Array.isArray(type) ||
        type === 'null' ||
        (!at.endsWith('/properties') && 'const' in beside) ||
        (typeof $ref === 'string' && Object.keys(beside).length > 0),
    );
    expect(beyond.map(({ at }) => at)).toEqual([]);
  });
});

test('an installation with another abbreviation has it in every name and example of its document', async () => {
  const { document: ofAcme } = await describePublicRoutes({ headerPrefix: 'Acme' });
  const words = JSON.stringify(ofAcme);
  // What is taken in the neutral spelling, too: the sentence that says so, and three attributes of a device.
  const neutral = ['`SVC`', '"svc_push_opted"', '"svc_push_provisional_opted"', '"svc_gaid"'];
  const found = words.match(/[`"\w-]*svc(?!\.example)[`"\w-]*/gi) ?? [];
  expect(found.filter((word) => !neutral.includes(word))).toEqual([]);
  for (const word of ['X-ACME-Warning', '"acme_gaid"', '"acme_request_id"', 'NOTIFICATION_CLICKED_ACME', '"acme_tag"'])
    expect(words).toContain(word);
});

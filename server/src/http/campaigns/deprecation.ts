import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';

const guideUrl = '/docs/migration-v1-v5.md';

/** 2026-01-01T00:00:00Z, the year of the first release: V1 was there for existing clients only from the beginning. */
const deprecatedAtSeconds = 1_767_225_600;

/**
 * Says that V1 is deprecated (RFC 9745) and where the way to V5 is described (RFC 9745 §3). There is no Sunset (RFC
 * 8594): no end of V1 is planned.
 */
export function announceDeprecation(reply: FastifyReply): void {
  reply.header('deprecation', `@${deprecatedAtSeconds}`);
  reply.header('link', `<${guideUrl}>; rel="deprecation"; type="text/markdown"`);
}

/** The guide at the address that the header names. */
export function migrationGuideRoute(server: FastifyInstance, file: string): void {
  server.get(guideUrl, { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/markdown; charset=utf-8').send(await readFile(file, 'utf8')),
  );
}

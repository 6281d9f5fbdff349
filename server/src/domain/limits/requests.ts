// Requests

/**
 * Body of a request to a route without its own limit (fault 3.5).
 * Unit: bytes per request. Exceeded: BODY_TOO_LARGE.
 */
export const maxBodyBytes = 1024 * 1024;

/**
 * Members of a JSON body, of all its objects together (fault 3.5).
 * Unit: members per request. Exceeded: BODY_MALFORMED.
 */
export const maxJsonMembers = 5_000;

/**
 * Nesting depth of objects and lists in a JSON body (fault 3.5).
 * Unit: levels per request. Exceeded: BODY_MALFORMED.
 */
export const maxJsonLevels = 32;

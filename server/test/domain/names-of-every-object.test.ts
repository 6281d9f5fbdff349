import { expect, test } from 'vitest';
import { parseDeviceAttributes } from '../../src/domain/users/device-attributes.ts';
import { identifierOf } from '../../src/domain/users/users.ts';
import { parseFaults } from '../../src/domain/sandbox/faults.ts';

// Members that every object of JavaScript has: a table that is looked up by a caller's word has them too.
const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '__defineGetter__'];

test.each(names)('does not treat %s as a standard identifier, a platform or a provider fault', (name) => {
  expect(identifierOf(name, { isCustom: false })).toBeUndefined();
  expect(parseDeviceAttributes({ platform: name, push_id: 'a' }, [])).toMatchObject({
    fault: { attribute: 'platform' },
  });
  expect(() => parseFaults(JSON.parse(`{"fcm":{"${name}":1}}`))).toThrow();
});

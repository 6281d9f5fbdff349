import { expect, test } from 'vitest';
import { parseHmsKey } from '../../src/domain/providers/hms.ts';

const key = { clientId: '104729811', clientSecret: 'c0ffee'.repeat(8) };

test('an OAuth client of Huawei is that of a project or of an app', () => {
  expect(parseHmsKey({ ...key, projectId: '388421841222125673' })).toEqual({
    ...key,
    ...{ provider: 'hms', owner: { kind: 'project', id: '388421841222125673' }, simulated: false },
  });
  expect(parseHmsKey({ ...key, huaweiAppId: '104729811' }).owner).toEqual({ kind: 'app', id: '104729811' });
});

test.each([
  ['neither of them', {}, 'The id of the project or of the app'],
  ['both of them', { projectId: '1', huaweiAppId: '2' }, 'one of the two'],
  ['a client id that is no number', { projectId: '1', clientId: 'client' }, 'client id must be a number'],
  ['a project whose id is a path', { projectId: '../1' }, 'project id must be a number'],
  ['a secret with a line break', { projectId: '1', clientSecret: 'secret\nsecret' }, 'no secret of Huawei'],
])('%s is refused, without a word of the secret', (_name, given, words) => {
  const parse = () => parseHmsKey({ ...key, ...given });
  expect(parse).toThrow(words.replace('The id', 'the id'));
  expect(parse).not.toThrow(key.clientSecret);
});

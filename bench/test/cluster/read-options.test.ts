import { describe, expect, test } from 'vitest';
import { settings } from '../../../server/src/start/settings-table.ts';
import { OptionError, readOptions, usage } from '../../src/cluster/read-options.ts';

describe('options of npm run simulate', () => {
  test('without any, four workers of the default settings send to a million devices', () => {
    const command = readOptions([]);
    expect(command).toMatchObject({ kind: 'simulate', format: 'text' });
    if (command.kind !== 'simulate') throw new Error(command.kind);
    expect(command.scenarios).toHaveLength(1);
    expect(command.scenarios[0]).toMatchObject({
      ...{ devices: 1_000_000, nodes: 4, seed: 1, database: { kind: 'single', cores: 8 } },
      parallelChunks: settings.workerChunks.default,
      windowDevices: settings.windowDevices.default,
      connectionsPerNode: settings.databaseConnections.default,
    });
  });

  test('several numbers of devices are several simulations; values are replaced', () => {
    const command = readOptions(['--devices', '1000,20000', '--database-workers', '8', '--set', 'streams.IOS=500']);
    if (command.kind !== 'simulate') throw new Error(command.kind);
    expect(command.scenarios.map(({ devices }) => devices)).toEqual([1_000, 20_000]);
    expect(command.scenarios[0]!.database).toMatchObject({ kind: 'citus', workers: 8, shards: 32 });
    expect([...command.replaced]).toEqual([['streams.IOS', 500]]);
  });

  test.each([
    [['--devices', '0'], /--devices is a whole number from 1 to 10000000000, not 0/],
    [['--devices', '1e6'], /--devices is a whole number/],
    [['--devices', '1000,'], /--devices is a whole number/],
    [['--nodes', '-4'], /--nodes|-4/],
    [['--nodes', '1001'], /--nodes is a whole number from 1 to 1000, not 1001/],
    [['--chunks', '17'], /--chunks is a whole number from 1 to 16, not 17/],
    [['--window', '1001'], /--window is a whole number from 1 to 1000/],
    [['--seed', 'x'], /--seed is a whole number/],
    [['--mix', '60,40'], /--mix is three numbers that make 100/],
    [['--mix', '60,35,6'], /--mix is three numbers that make 100/],
    [['--providers', 'none'], /--providers is real or unlimited, not none/],
    [['--retry', '1'], /--retry is a share from 0 to 0.9, not 1/],
    [['--gone', '-0.1'], /--gone|-0.1/],
    [['--database-workers', '8', '--shards', '4'], /--shards 4 leaves some of 8 database workers without one/],
    [['--set', 'speed=9'], /--set knows no speed; it knows .*flushMilliseconds/],
    [['--set', 'flushMilliseconds'], /--set takes name=number, not flushMilliseconds/],
    [['--measure', '--devices', '5'], /--measure stands alone/],
    [['--validate', '--measure'], /stands alone/],
    [['--fast'], /--fast/],
    [['100000'], /100000/],
  ] as const)('%j is refused, and why is said', (words, message) => {
    expect(() => readOptions(words)).toThrow(OptionError);
    expect(() => readOptions(words)).toThrow(message);
  });

  test('help names every option that is read', () => {
    expect(readOptions(['--help'])).toEqual({ kind: 'help' });
    for (const name of ['devices', 'nodes', 'seed', 'crashes', 'database-workers', 'set', 'measure', 'validate'])
      expect(usage).toContain(`--${name} `);
  });
});

import { Command } from 'commander';
import { expect, it } from 'vitest';
import { addAgentsFlag } from '../../../src/cli/options.js';

function parsed(...args: string[]) {
  const command = addAgentsFlag(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  return command.parse(args, { from: 'user' }).opts();
}

it('SC-3 CL-5 --agents takes a number, a file, or both', () => {
  const number = parsed('--agents', '4');
  expect(number['parallel']).toBe(4);
  expect(number['agents']).toBeFalsy();
  expect(parsed('--agents', 'ci agents.yaml')).toEqual({ agents: 'ci agents.yaml' });
  expect(parsed('--agents', '4x.yaml', '--agents', '2')).toEqual({ agents: '4x.yaml', parallel: 2 });
});

it.each(['0', '-1', '3.5', '', ' ', 'Infinity', '99999999999999999999'])(
  'SC-3 CL-5 --agents rejects a value that is neither: %j',
  (value) => {
    expect(() => parsed(`--agents=${value}`)).toThrow(/whole number/);
  },
);

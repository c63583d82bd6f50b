import { expect, it } from 'vitest';
import { environment, withEnvironment } from '../../src/environment.js';
import { git } from '../../src/workspace/git.js';

it('CL-15 a library run’s programs get its environment, even with several runs at once', async () => {
  const named = (name: string) =>
    withEnvironment(
      {
        PATH: process.env['PATH'],
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'user.name',
        GIT_CONFIG_VALUE_0: name,
      },
      () => git('/', ['config', 'user.name']),
    );
  expect(await Promise.all([named('ann'), named('bob')])).toEqual(['ann\n', 'bob\n']);
  expect(environment()).toBe(process.env);
});

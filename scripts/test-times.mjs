// A reporter of vitest: writes how often tests passed and failed, and how long each took, as JSON into the file that SELF_HEAL_TEST_TIMES names. A file's
// time includes imports and hooks, which vitest's own JSON leaves out: some files run Playwright in `beforeAll`.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { root } from './setup.mjs';

// oxlint-disable-next-line import/no-default-export -- vitest takes a reporter from it
export default class TestTimes {
  /** @param {readonly import('vitest/node').TestModule[]} modules */
  onTestRunEnd(modules) {
    const tests = modules.flatMap(({ moduleId, children }) =>
      [...children.allTests()].map((test) => ({
        file: path.relative(root, moduleId),
        title: test.name,
        state: test.result().state,
        duration: test.diagnostic()?.duration ?? 0,
      })),
    );
    const count = (state) => tests.filter((test) => test.state === state).length;
    const broken = modules.filter(
      (module) => module.state() === 'failed' && module.errors().length > 0,
    ).length;
    writeFileSync(
      process.env.SELF_HEAL_TEST_TIMES ?? '',
      JSON.stringify({
        passed: count('passed'),
        failed: count('failed') + broken,
        tests,
        seconds: modules.map((module) => [
          path.relative(root, module.moduleId),
          secondsOf(module.diagnostic()),
        ]),
      }),
    );
  }
}

/** @param {import('vitest/node').ModuleDiagnostic} times */
function secondsOf({ collectDuration, setupDuration, duration }) {
  return (collectDuration + setupDuration + duration) / 1000;
}

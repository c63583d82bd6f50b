import type { FullProject, Suite, TestCase } from '@playwright/test/reporter';
import { determineOutcome } from './test-data.js';

/** If there were more ids in total, each failure of a setup project lists one dependent test instead of all. */
const MAX_REPEATED_IDS = 20_000;

/**
 * Returns, for each failing test, the ids that reproduce its conditions: its whole serial group, the tests that a failing `beforeAll` kept from
 * running, and the tests that depend on a setup or teardown project, which `--last-failed` does not select by itself.
 */
export function listRerunIds(root: Suite): Record<string, string[]> {
  const tests = root.allTests();
  const failing = tests.filter((test) => determineOutcome(test) === 'unexpected');
  const listGroupIds = (test: TestCase) => (findSerialGroup(test)?.allTests() ?? []).map(({ id }) => id);
  const ids = new Map(failing.map((test) => [test.id, new Set([test.id, ...listGroupIds(test)])]));
  for (const [victim, culprit] of pairAbandonedTests(tests, failing)) ids.get(culprit.id)?.add(victim.id);
  addDependents(tests, failing, ids);
  return Object.fromEntries([...ids].map(([id, again]) => [id, [...again]]));
}

/** `parallelMode` is private; Playwright 1.50 to 1.65 have it. Without it, a serial test is re-run alone. */
function findSerialGroup(test: TestCase): Suite | undefined {
  return listAncestors(test).findLast((suite) => Reflect.get(suite, '_parallelMode') === 'serial');
}

/** Returns the test ids of each serial group, which Playwright's own reports do not contain. */
export function listSerialGroups(root: Suite): string[][] {
  const groups = new Set(root.allTests().flatMap((test) => findSerialGroup(test) ?? []));
  return [...groups].map((group) => group.allTests().map(({ id }) => id));
}

function listAncestors(test: TestCase): Suite[] {
  const suites: Suite[] = [];
  for (let suite: Suite | undefined = test.parent; suite; suite = suite.parent) suites.push(suite);
  return suites;
}

/** Pairs each test that Playwright abandoned without a worker with the failing test nearest to it in the file. */
function pairAbandonedTests(
  tests: readonly TestCase[],
  failing: readonly TestCase[],
): [TestCase, TestCase][] {
  const culprits = new Map<Suite, TestCase>();
  for (const test of failing) {
    for (const suite of listSuitesWithinFile(test)) if (!culprits.has(suite)) culprits.set(suite, test);
  }
  const abandoned = tests.filter((test) => test.results.length > 0 && determineOutcome(test) === 'not-run');
  return abandoned.flatMap((test) => {
    const nearest = listSuitesWithinFile(test).find((suite) => culprits.has(suite));
    const culprit = nearest && culprits.get(nearest);
    return culprit ? [[test, culprit] as [TestCase, TestCase]] : [];
  });
}

function listSuitesWithinFile(test: TestCase): Suite[] {
  return listAncestors(test).filter((suite) => suite.type === 'describe' || suite.type === 'file');
}

function addDependents(
  tests: readonly TestCase[],
  failing: readonly TestCase[],
  ids: ReadonlyMap<string, Set<string>>,
): void {
  const projects = groupByProject(tests);
  for (const [project, failingTests] of groupByProject(failing)) {
    let needed = findDependentTests(project, projects);
    if (needed.length * failingTests.length > MAX_REPEATED_IDS) needed = needed.slice(0, 1);
    for (const test of failingTests) for (const { id } of needed) ids.get(test.id)?.add(id);
  }
}

function groupByProject(tests: readonly TestCase[]): Map<FullProject, TestCase[]> {
  const projects = new Map<FullProject, TestCase[]>();
  for (const test of tests) {
    const project = test.parent.project();
    if (!project) continue;
    const projectTests = projects.get(project);
    if (projectTests) projectTests.push(test);
    else projects.set(project, [test]);
  }
  return projects;
}

/** Returns the tests that a failing setup kept from running. If there are none, one dependent test is enough to select the project. */
function findDependentTests(
  project: FullProject,
  projects: ReadonlyMap<FullProject, TestCase[]>,
): TestCase[] {
  const all = [...projects.keys()];
  const setUps = all.filter((other) => other === project || other.teardown === project.name);
  const dependents = all.filter((other) => setUps.some((setUp) => dependsOn(other, setUp.name, all)));
  const tests = dependents.flatMap((dependent) => projects.get(dependent) ?? []);
  const notRun = tests.filter((test) => test.results.length === 0 && determineOutcome(test) === 'not-run');
  return notRun.length > 0 ? notRun : tests.slice(0, 1);
}

function dependsOn(project: FullProject, name: string, all: readonly FullProject[]): boolean {
  // Terminates, because Playwright rejects circular dependencies.
  return project.dependencies.some(
    (direct) => direct === name || all.some((other) => other.name === direct && dependsOn(other, name, all)),
  );
}

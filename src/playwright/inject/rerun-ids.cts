import type { FullProject, Suite, TestCase } from '@playwright/test/reporter';

const { outcomeOf } = require('./test-outcome.cjs') as import('./test-outcome.cjs').Api;

/** Above so many ids in all, the failures of a set-up project share its dependents instead of repeating them. */
const maxRepeatedIds = 20_000;

/**
 * The ids that run each failing test again under the conditions that it failed in: a serial group as a whole; the tests
 * that a failing `beforeAll` took with it; for a test of a set-up or teardown project what depends on it, since
 * `--last-failed` does not select such a project for itself.
 */
function rerunIds(root: Suite): Record<string, string[]> {
  const tests = root.allTests();
  const failing = tests.filter((test) => outcomeOf(test) === 'unexpected');
  const ids = new Map(failing.map((test) => [test.id, new Set(withSerialGroup(test))]));
  for (const [victim, culprit] of victims(tests, failing)) ids.get(culprit.id)?.add(victim.id);
  addDependents(tests, failing, ids);
  return Object.fromEntries([...ids].map(([id, again]) => [id, [...again]]));
}

function withSerialGroup(test: TestCase): string[] {
  return [test.id, ...(serialGroupOf(test)?.allTests() ?? []).map((one) => one.id)];
}

/** `parallelMode` is private; Playwright 1.50 to 1.65 have it. Without it a serial test runs again alone. */
function serialGroupOf(test: TestCase): Suite | undefined {
  return ancestors(test).findLast((suite) => Reflect.get(suite, '_parallelMode') === 'serial');
}

/** The ids of each serial group: reports of Playwright's own do not tell of them. */
function serialGroups(root: Suite): string[][] {
  const groups = new Set(root.allTests().flatMap((test) => serialGroupOf(test) ?? []));
  return [...groups].map((group) => group.allTests().map(({ id }) => id));
}

function ancestors(test: TestCase): Suite[] {
  const suites: Suite[] = [];
  for (let suite: Suite | undefined = test.parent; suite; suite = suite.parent) suites.push(suite);
  return suites;
}

/** Tests that were given up unrun (no worker had them) because of a failing test near them, each with that test. */
function victims(tests: readonly TestCase[], failing: readonly TestCase[]): [TestCase, TestCase][] {
  const culprits = new Map<Suite, TestCase>();
  for (const test of failing) {
    for (const suite of withinFile(test)) if (!culprits.has(suite)) culprits.set(suite, test);
  }
  const givenUp = tests.filter((test) => test.results.length > 0 && outcomeOf(test) === 'not-run');
  return givenUp.flatMap((test) => {
    const nearest = withinFile(test).find((suite) => culprits.has(suite));
    const culprit = nearest && culprits.get(nearest);
    return culprit ? [[test, culprit] as [TestCase, TestCase]] : [];
  });
}

function withinFile(test: TestCase): Suite[] {
  return ancestors(test).filter((suite) => suite.type === 'describe' || suite.type === 'file');
}

function addDependents(
  tests: readonly TestCase[],
  failing: readonly TestCase[],
  ids: ReadonlyMap<string, Set<string>>,
): void {
  const projects = testsByProject(tests);
  for (const [project, own] of testsByProject(failing)) {
    let needed = testsThatNeed(project, projects);
    if (needed.length * own.length > maxRepeatedIds) needed = needed.slice(0, 1);
    for (const test of own) for (const { id } of needed) ids.get(test.id)?.add(id);
  }
}

function testsByProject(tests: readonly TestCase[]): Map<FullProject, TestCase[]> {
  const projects = new Map<FullProject, TestCase[]>();
  for (const test of tests) {
    const project = test.parent.project();
    if (!project) continue;
    const own = projects.get(project);
    if (own) own.push(test);
    else projects.set(project, [test]);
  }
  return projects;
}

/** What a failing set-up kept from running; one test where that, or the project's being a teardown, calls for one. */
function testsThatNeed(project: FullProject, projects: ReadonlyMap<FullProject, TestCase[]>): TestCase[] {
  const all = [...projects.keys()];
  const setUps = all.filter((one) => one === project || one.teardown === project.name);
  const dependents = all.filter((one) => setUps.some((setUp) => dependsOn(one, setUp.name, all)));
  const tests = dependents.flatMap((one) => projects.get(one) ?? []);
  const unrun = tests.filter((test) => test.results.length === 0 && outcomeOf(test) === 'not-run');
  return unrun.length > 0 ? unrun : tests.slice(0, 1);
}

function dependsOn(project: FullProject, name: string, all: readonly FullProject[]): boolean {
  // Playwright refuses a config whose dependencies go in a circle.
  return project.dependencies.some(
    (direct) => direct === name || all.some((one) => one.name === direct && dependsOn(one, name, all)),
  );
}

const api = { rerunIds, serialGroups };
module.exports = api;
export type Api = typeof api;

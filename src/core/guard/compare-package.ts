import type { Violation } from './violation.js';

/** The parts of a package.json that decide how tests run; null for a file that is no JSON. */
export interface PackageParts {
  readonly scripts: Readonly<Record<string, string>>;
  /** Versions of Playwright's packages, by name. */
  readonly playwright: Readonly<Record<string, string>>;
}

/** How tests are started, and by which Playwright, is not an agent's to change; other scripts and packages are. */
export function comparePackage(
  file: string,
  before: PackageParts | null,
  after: PackageParts | null,
): Violation[] {
  if (!before) return [];
  const now = after ?? { scripts: {}, playwright: {} };
  const scripts = changed(before.scripts, now.scripts).filter(
    (name) => isTestScript(name, before.scripts[name]) || isTestScript(name, now.scripts[name]),
  );
  const versions = changed(before.playwright, now.playwright);
  return [
    ...scripts.map((name) =>
      violation(file, {
        name,
        parts: [before.scripts, now.scripts],
        says: `the script ${name} starts tests`,
      }),
    ),
    ...versions.map((name) =>
      violation(file, {
        name,
        parts: [before.playwright, now.playwright],
        says: `another version of ${name} is another judge`,
      }),
    ),
  ];
}

function isTestScript(name: string, command = ''): boolean {
  return (
    /(?:^|[:-])(?:pre|post)?(?:test|e2e|playwright)(?:$|[:-])/.test(name) || /\bplaywright\b/.test(command)
  );
}

function changed(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => before[name] !== after[name],
  );
}

interface Change {
  readonly name: string;
  readonly parts: readonly Readonly<Record<string, string>>[];
  readonly says: string;
}

function violation(file: string, { name, parts: [old = {}, now = {}], says }: Change): Violation {
  return {
    rule: 'package-changed',
    file,
    line: null,
    before: old[name] ?? null,
    after: now[name] ?? null,
    says,
  };
}

import type { Violation } from '../../core/guard/violation.js';
import type { FileEdit } from '../edit.js';
import { type Rule, violationOf } from '../rules.js';

type Texts = Readonly<Record<string, string>>;

/** The parts of a package.json that decide how tests run. */
interface Parts {
  readonly scripts: Texts;
  /** Versions of Playwright's packages, and what takes the place of one, by name. */
  readonly playwright: Texts;
}

/** How tests are started, and by which Playwright, is not an agent's to change; other packages are, and scripts that do as much. */
export function judgePackage({ path: file, before, after }: FileEdit): Violation[] {
  const old = before && partsOf(before.text ?? '');
  if (!old || !/(?:^|\/)package\.json$/.test(file)) return [];
  const now = partsOf(after?.text ?? '') ?? { scripts: {}, playwright: {} };
  const found = (rule: Rule, name: string, [from, to]: readonly [Texts, Texts]) =>
    violationOf(rule, { file, before: from[name] ?? null, after: to[name] ?? null, detail: name });
  const scripts = [old.scripts, now.scripts] as const;
  const versions = [old.playwright, now.playwright] as const;
  return [
    ...changed(...scripts).flatMap((name) => {
      const [from, to] = scripts.map((one) => one[name]);
      if (isTestScript(name, from) || isTestScript(name, to))
        return [found('package-changed', name, scripts)];
      return isLoosened(from, to) ? [found('compiler-loosened', name, scripts)] : [];
    }),
    ...changed(...versions).map((name) => found('package-changed', name, versions)),
  ];
}

function isTestScript(name: string, command = ''): boolean {
  return (
    /(?:^|[:-])(?:pre|post)?(?:test|e2e|playwright)(?:$|[:-])/.test(name) || /\bplaywright\b/.test(command)
  );
}

/** A script that cannot fail any more, or leaves out a program that it ran before. */
function isLoosened(before = '', after = ''): boolean {
  const forgiving =
    /\|\|\s*(?:true|:|exit 0|echo)|;\s*(?:true|exit 0)\s*$|--noEmitOnError[= ]false|--transpile-?only|--skipLibCheck|--no-verify/i;
  if (after === '') return false;
  return (
    (forgiving.test(after) && !forgiving.test(before)) ||
    programs(before).some((one) => !programs(after).includes(one))
  );
}

function programs(command: string): string[] {
  return command.split(/&&|\|\||[;|&]/).flatMap((one) => /^\s*(?:\w+=\S*\s+)*(\S+)/.exec(one)?.[1] ?? []);
}

function changed(before: Texts, after: Texts): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => before[name] !== after[name],
  );
}

function partsOf(text: string): Parts | null {
  try {
    const value = JSON.parse(text) as Record<string, Record<string, string> | undefined>;
    const versions = { ...value['peerDependencies'], ...value['devDependencies'], ...value['dependencies'] };
    // What takes the place of a package, wherever it is asked for: npm's, yarn's and pnpm's words for it.
    const replaced = ['overrides', 'resolutions', 'pnpm'].map(
      (key) => [key, JSON.stringify(value[key] ?? '')] as const,
    );
    const playwright = Object.fromEntries([
      ...Object.entries(versions).filter(([name]) =>
        /^(?:@playwright\/test|playwright(?:-core)?)$/.test(name),
      ),
      ...replaced.filter(([, one]) => /["/>](?:test|playwright(?:-core)?)(?:@[^"]*)?":/.test(one)),
      ['imports', JSON.stringify(value['imports'] ?? '')] as const,
    ]);
    return { scripts: value['scripts'] ?? {}, playwright };
  } catch {
    return null;
  }
}

import path from 'node:path';
import type { Command } from 'commander';
import { exitCodes } from '../model/exit-codes.js';
import { createAction, print } from './end-command.js';
import { configFlag } from './options.js';
import { compareWithGit, createNoBaseProblem } from '../workspace/git-trees.js';
import type { GuardFindings, Strength, TestDifference } from '../guard/findings.js';
import { listFindings, guardWorkingTree } from '../guard/guard-working-tree.js';
import { counted } from '../format.js';
import type { Problem } from '../problem.js';

const explanation = `
Compares the tests in the working tree, including uncommitted changes, with
those at the base. Lists each test that is weaker, different or new, with its
lines before (-) and after (+), and then locators that changed.
Exit codes: ${exitCodes.green} no test is weaker, ${exitCodes.red} a test is (with --strict: or different),
            ${exitCodes.usage} there is nothing to compare with`;

/** `self-heal guard`: judges how the changes in the working tree affect the tests, without running them (HN-3, HN-4). */
export function define(command: Command): Command {
  return command
    .option('--base <ref>', 'the commit to compare with (default: where the branch left the default branch)')
    .option('--strict', 'also exit with 1 if a test does something different, or a protected file changed')
    .option(...configFlag)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', explanation)
    .action(createAction(runGuardCommand));
}

/** The flags of `self-heal guard`. */
interface GuardOptions {
  readonly base?: string;
  readonly config?: string;
  readonly json?: boolean;
  readonly strict?: boolean;
}

/** Runs `self-heal guard`: judges the changes and prints the findings. */
async function runGuardCommand(options: GuardOptions): Promise<number | Problem> {
  const cwd = process.cwd();
  const comparison = await compareWithGit(cwd, options.base ?? null);
  if ('kind' in comparison) return createNoBaseProblem(comparison);
  const { root, base, changes } = comparison;
  const warn = (message: string) => void process.stderr.write(`self-heal: ${message}\n`);
  const findings = await guardWorkingTree(comparison, { cwd, config: options.config ?? null, warn });
  const failingFindings = listFindings(findings, options.strict ?? false);
  if (options.json) print({ schemaVersion: 1, base, findings: failingFindings, ...toJson(findings) });
  else printFindings(findings, { cwd, root, changedFiles: changes.length });
  return failingFindings.length > 0 ? exitCodes.red : exitCodes.green;
}

function toJson({ differences, locatorChanges, cut }: GuardFindings): object {
  const files = cut.map(({ file, why }) => ({ file, why }));
  return { tests: differences, locators: locatorChanges, protected: files };
}

const strengths: readonly Strength[] = ['weaker', 'different', 'new'];

/** How many lines to print of each side of a difference. */
const MAX_LINES = 12;

const rankByStrength = ({ strength }: TestDifference) => strengths.indexOf(strength);

/** Prints the differences by test, the weaker ones first. */
function printFindings(
  findings: GuardFindings,
  { cwd, root, changedFiles }: { cwd: string; root: string; changedFiles: number },
): void {
  const { violations, differences, locatorChanges, cut } = findings;
  const formatPosition = ({ file, line }: { file: string; line: number | null }) =>
    `${path.relative(cwd, path.join(root, file))}${line === null ? '' : `:${line}`}`;
  const lines = violations.map(
    (violation) => `${formatPosition(violation)} ${violation.rule}: ${violation.says}`,
  );
  for (const difference of differences.toSorted((a, b) => rankByStrength(a) - rankByStrength(b))) {
    lines.push(
      `${formatPosition(difference)} ${difference.strength}: ${difference.test}${difference.why === null ? '' : ` (${difference.why})`}`,
    );
    // People read a new test in its file.
    if (difference.strength === 'new') continue;
    const formatExcerpt = (sign: string, excerptLines: readonly string[]) => {
      const hidden = excerptLines.length - MAX_LINES;
      return [
        ...excerptLines.slice(0, MAX_LINES),
        ...(hidden > 0 ? [`… ${counted(hidden, 'more line')}`] : []),
      ].map((line) => `  ${sign} ${line}`);
    };
    lines.push(...formatExcerpt('-', difference.before), ...formatExcerpt('+', difference.after));
  }
  for (const change of locatorChanges)
    lines.push(`${formatPosition(change)} locator: ${change.old} → ${change.now}`);
  for (const { file, why } of cut) lines.push(`${formatPosition({ file, line: null })} protected: ${why}`);
  for (const line of lines) process.stdout.write(`${line}\n`);
  const counts = strengths.flatMap((strength) => {
    const tests = differences.filter((difference) => difference.strength === strength);
    const { size } = new Set(tests.map(({ test }) => test));
    return size > 0 ? `${counted(size, 'test')} ${strength}` : [];
  });
  const noTestChanged =
    changedFiles === 0 ? 'nothing has changed' : `${counted(changedFiles, 'file')} changed, but no test`;
  process.stderr.write(`self-heal: ${counts.join(', ') || noTestChanged}\n`);
}

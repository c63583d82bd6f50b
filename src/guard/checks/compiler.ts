import type { Violation } from '../../core/guard/violation.js';
import { constantOf, nameOf, nodeIn, nodesIn, parseSource, type SyntaxNode, visit } from '../code/syntax.js';
import type { FileEdit } from '../edit.js';
import { type Rule, violationOf } from '../rules.js';

/** Settings of build tools that let errors pass. */
const forgiving =
  /\b(?:ignoreBuildErrors|ignoreDuringBuilds|transpileOnly|skipTypeCheck|allowBuildErrors)\b['"]?\s*:\s*true\b/g;
const silencing = /(?:\/\/|\/\*|<!--)[\s*]*@ts-(?:nocheck|ignore|expect-error)\b/g;
const strictness =
  /^(?:strict\w*|no[A-Z]\w*|alwaysStrict|exactOptionalPropertyTypes|useUnknownInCatchVariables|forceConsistentCasingInFileNames|checkJs)$/;

/** A compiler that checks less hides an error instead of fixing it: `@ts-ignore`, `ignoreBuildErrors`, `"strict": false`. */
export function judgeCompiler(
  { path: file, before, after }: FileEdit,
  imports: ReadonlySet<string>,
): Violation[] {
  if (!after?.text) return [];
  const [old, now] = [before?.text ?? '', after.text];
  if (/(?:^|\/)[jt]sconfig[\w.-]*\.json$/.test(file))
    return judgeSettings(file, { old: settingsOf(old), now: settingsOf(now) }, imports);
  return [forgiving, silencing].flatMap((pattern) => {
    const found = [...now.matchAll(pattern)];
    const last = found.at(-1);
    if (!last || found.length <= [...old.matchAll(pattern)].length) return [];
    const line = now.slice(0, last.index).split('\n').length;
    return [
      violationOf('compiler-loosened', {
        file,
        line,
        after: last[0],
        detail: last[0].replace(/^[/*<!\s-]+/, ''),
      }),
    ];
  });
}

type Settings = ReadonlyMap<string, string> | null;

function judgeSettings(
  file: string,
  { old, now }: { old: Settings; now: Settings },
  imports: ReadonlySet<string>,
): Violation[] {
  if (!now) return [violationOf('compiler-loosened', { file, detail: 'it cannot be read any more' })];
  const names = [...new Set([...(old?.keys() ?? []), ...now.keys()])];
  return names.flatMap((name) => {
    const [from, to] = [old?.get(name), now.get(name)];
    if (from === to) return [];
    if (name.startsWith('compilerOptions.paths.'))
      return judgeAlias(name.slice('compilerOptions.paths.'.length), { from, to }, imports).map((rule) =>
        violationOf(rule, { file, before: from ?? null, after: to ?? null, detail: name }),
      );
    const option = name.replace(/^compilerOptions\./, '');
    const isLooser =
      (strictness.test(option) &&
        (option === 'noEmit'
          ? false
          : option === 'noEmitOnError' || option === 'noCheck'
            ? option === 'noCheck'
              ? to === 'true'
              : from === 'true'
            : old !== null && from === 'true')) ||
      (strictness.test(option) && to === 'false') ||
      (/^skip(?:Default)?LibCheck$/.test(option) && to === 'true') ||
      (/^(?:exclude|include|files)$/.test(option) && old !== null) ||
      (option === 'extends' && from !== undefined);
    return isLooser
      ? [violationOf('compiler-loosened', { file, before: from ?? null, after: to ?? null, detail: option })]
      : [];
  });
}

/** An alias leads the tests to another module where they import by it; a new one with a sign of its own (`@/*`) takes the place of none. */
function judgeAlias(
  alias: string,
  { from, to }: { from: string | undefined; to: string | undefined },
  imports: ReadonlySet<string>,
): Rule[] {
  const [start = '', end] = alias.split('*');
  const isUsed = [...imports].some((one) =>
    end === undefined ? one === alias : !one.startsWith('.') && one.startsWith(start) && one.endsWith(end),
  );
  const takesPlace = from !== undefined || !/^[@~#]/.test(alias) || alias.startsWith('@playwright/');
  const isPlaywright = to !== undefined && /^(?:@playwright\/test|playwright(?:-core)?|\*)$/.test(alias);
  if (isPlaywright) return ['expect-replaced'];
  return isUsed && takesPlace ? ['module-shadowed'] : [];
}

/** `compilerOptions.strict: true` …: JSON with comments is an expression of JavaScript. */
function settingsOf(text: string): Map<string, string> | null {
  if (text.trim() === '') return null;
  const source = parseSource('settings.js', `(${text})`);
  const found = new Map<string, string>();
  if (!source) return null;
  const walk = (node: SyntaxNode, path: string): void => {
    if (node.type !== 'ObjectExpression') {
      const value = constantOf(node);
      found.set(
        path,
        value === undefined ? source.text.slice(node.start, node.end).replaceAll(/\s+/g, '') : String(value),
      );
      return;
    }
    for (const one of nodesIn(node, 'properties')) {
      const value = nodeIn(one, 'value');
      if (value)
        walk(
          value,
          path === '' ? (nameOf(nodeIn(one, 'key')) ?? '') : `${path}.${nameOf(nodeIn(one, 'key')) ?? ''}`,
        );
    }
  };
  visit(source.program, (node) => {
    const only = node.type === 'ExpressionStatement' ? nodeIn(node, 'expression') : null;
    const inner = only?.type === 'ParenthesizedExpression' ? nodeIn(only, 'expression') : only;
    if (inner) walk(inner, '');
  });
  return found;
}

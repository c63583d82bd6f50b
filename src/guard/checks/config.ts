import type { Violation } from '../../core/guard/violation.js';
import { partOf } from '../../code/exports.js';
import { nameOf } from '../../code/expressions.js';
import { printCode } from '../../code/print.js';
import type { Located, Project } from '../../code/scope.js';
import { type Place, placeOf } from '../../code/source-file.js';
import { exported, resolve } from '../../code/sources.js';
import { nodeIn, nodesIn, type SyntaxNode } from '../../code/syntax.js';
import { violationOf } from '../rules.js';

/** One setting of the Playwright config. */
interface Setting extends Place {
  readonly value: string;
}

/** Settings that affect how a run is executed and shown, not what it checks. */
const harmless =
  /(?:^|\.)(?:outputDir|metadata|quiet|reportSlowTests|workers|fullyParallel|use\.(?:trace|video|screenshot|testIdAttribute))(?:\.|$)/;

/** Settings that may be lowered, with Playwright's defaults; time-outs are in milliseconds. */
const lowered: readonly (readonly [pattern: RegExp, fallback: number])[] = [
  [/(?:^|\.)expect\.timeout$/, 5000],
  [/(?:^|\.)(?:actionTimeout|navigationTimeout|globalTimeout)$/, Infinity],
  [/^webServer(?:\..*)?\.timeout$/, 60_000],
  [/(?:^|\.)timeout$/, 30_000],
  [/(?:^|\.)retries$|(?:maxDiffPixels|maxDiffPixelRatio|threshold)$/, 0],
];

/** Judges changes to the Playwright config: only a lower limit, and settings that do not affect what is checked, are allowed (HN-3). */
export function compareConfig(config: string, before: Project, after: Project): Violation[] {
  const [olds, news] = [settingsIn(config, before), settingsIn(config, after)];
  return [...new Set([...olds.keys(), ...news.keys()])].flatMap((path) => {
    const [old, now] = [olds.get(path), news.get(path)];
    if (harmless.test(path) || old?.value === now?.value || isKnownReporter(path, now)) return [];
    const limit = lowered.find(([pattern]) => pattern.test(path));
    if (limit && isLowered(old, now, limit[1])) return [];
    const { file = '', line = null } = now ?? old ?? {};
    const [was, is] = [old?.source ?? null, now?.source ?? null];
    return [
      violationOf('config-changed', { file, line, before: was, after: is, detail: path || 'as a whole' }),
    ];
  });
}

/**
 * Returns the settings of a config by dotted name, such as `use.actionTimeout`, with projects by their names. As in JavaScript, the last
 * one of a name counts.
 */
function settingsIn(config: string, { files }: Project): ReadonlyMap<string, Setting> {
  const found = new Map<string, Setting>();
  const add = (given: Located, path: string): void => {
    const { node, scope } = resolve(given.node, given.scope);
    const parts = partsOf(node, /^(?:projects|webServer)$/.test(path));
    const value = () => printCode(node, { scope }).text;
    if (!parts) found.set(path, { value: value(), ...placeOf(given.scope.file, given.node) });
    const isList = node.type === 'ArrayExpression';
    for (const [index, part] of (parts ?? []).entries()) {
      const key = isList ? partOf(resolve(part, scope).node, 'name') : nodeIn(part, 'key');
      const name = nameOf(key) ?? (isList ? String(index) : '');
      // Spread properties count as if they were written here.
      const inside = nodeIn(part, 'value') ?? nodeIn(part, 'argument') ?? part;
      add({ node: isList ? part : inside, scope }, [path, name].filter(Boolean).join('.'));
    }
  };
  const file = files.get(config);
  const settings = file && exported('default', file);
  if (settings) add(settings, '');
  return found;
}

/** Returns the properties or elements of a nested setting; null for any other. */
function partsOf(node: SyntaxNode, isNamed: boolean): readonly SyntaxNode[] | null {
  if (node.type === 'ObjectExpression') return nodesIn(node, 'properties');
  if (node.type === 'ArrayExpression' && isNamed) return nodesIn(node, 'elements');
  return nameOf(nodeIn(node, 'callee')) === 'defineConfig' ? nodesIn(node, 'arguments') : null;
}

/** Whether the reporters are Playwright's own, which only report. A reporter from a file may do anything. */
function isKnownReporter(path: string, now: Setting | undefined): boolean {
  return path === 'reporter' && !/"[^"]*[./@][^"]*"/.test((now?.value ?? '').replaceAll(/: "[^"]*"/g, ''));
}

function isLowered(old: Setting | undefined, now: Setting | undefined, fallback: number): boolean {
  const [from = NaN, to = NaN] = [old, now].map((one) => {
    const amount = one ? Number(one.value) : fallback;
    // 0 means no limit for time-outs, and just 0 for the rest.
    return amount === 0 && fallback >= 5000 ? Infinity : amount;
  });
  return to <= from;
}

import { readFile } from 'node:fs/promises';
import { parseSource, type SourceFile } from '../../code/source-file.js';
import {
  getCallee,
  readName,
  getNode,
  getNodes,
  listNodes,
  getProperty,
  type SyntaxNode,
} from '../../code/syntax.js';
import { findExpect, createWebFirstCode } from '../../code/web-first.js';
import { type Replacement, applyReplacements } from '../../replacements.js';
import type { Cause } from '../../model/cause.js';
import type { FixerProposal } from './proposal.js';

/** Playwright's actions and assertions, which a test must await. */
const actionNames =
  /^(?:click|dblclick|fill|press|pressSequentially|type|check|uncheck|setChecked|selectOption|setInputFiles|hover|tap|focus|blur|clear|dragTo|goto|reload|goBack|goForward|waitFor|waitForURL|waitForLoadState|dispatchEvent|scrollIntoViewIfNeeded)$/;
const webFirstNames =
  /^to(?:Be(?:Attached|Checked|Disabled|Editable|Empty|Enabled|Focused|Hidden|InViewport|Visible)|ContainText|ContainClass|Have(?:Accessible\w+|Attribute|Class|Count|CSS|Id|JSProperty|Role|Text|Title|URL|Value|Values)|Pass)$/;

/**
 * Adds the waits that a flaky test lacks: awaits actions and web-first assertions, and replaces checks that do not wait with web-first assertions.
 * Returns null if no wait is missing.
 */
export async function addMissingWaits({
  lead: { failure },
}: Pick<Cause, 'lead'>): Promise<FixerProposal | null> {
  if (failure.scope === 'suite') return null;
  const { file, line } = failure.test.location;
  const source = parseSource(file, await readFile(file, 'utf8').catch(() => ''));
  const test = source && findTest(source, line);
  if (!source || !test) return null;
  const edits = listNodes(test).flatMap((node) => createWaits(node, source));
  if (edits.length === 0) return null;
  const after = applyReplacements(source.text, edits);
  const summary = `makes the test wait: ${edits.map(({ summary }) => summary).join(', ')}`;
  return { summary, files: [{ file, before: source.text, after }] };
}

interface Edit extends Replacement {
  readonly summary: string;
}

/** Finds the call that defines the test at a line: the outermost call with a function argument. */
function findTest(source: SourceFile, line: number): SyntaxNode | null {
  const call = listNodes(source.program).find(
    (node) =>
      node.type === 'CallExpression' &&
      source.lineAt(node.start) === line &&
      getNodes(node, 'arguments').some(({ type }) => /Function/.test(type)),
  );
  return call ?? null;
}

function createWaits(node: SyntaxNode, source: SourceFile): Edit[] {
  const call = node.type === 'ExpressionStatement' ? getNode(node, 'expression') : null;
  if (!call || call.type !== 'CallExpression') return [];
  const { start, end } = call;
  const name = getProperty(getCallee(call)) ?? '';
  const position = `line ${source.lineAt(start)}`;
  if (findExpect(call) ? webFirstNames.test(name) : actionNames.test(name) && findRootName(call) !== 'test')
    return [{ start, end: start, text: 'await ', summary: `${position} awaits ${name}` }];
  const text = createWebFirstCode(call, source);
  return text ? [{ start, end, text, summary: `${position} waits instead of checking once` }] : [];
}

function findRootName(node: SyntaxNode): string | null {
  const next = getNode(node, 'object') ?? getNode(node, 'callee');
  return next ? findRootName(next) : readName(node);
}

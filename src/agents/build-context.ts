import path from 'node:path';
import type { Attempt } from '../model/attempt.js';
import { type BlamedHunk, describeBlame, isNarrowedDown } from '../model/blame.js';
import type { Cause, DiagnosedFailure } from '../model/cause.js';
import { hasFailed, type SourceExcerpt } from '../model/evidence.js';
import { rateHunk } from '../diagnose/likelihood.js';
import { searchCode } from './search-code.js';
import { cutMiddle } from '../fenced.js';
import type { EarlierFix } from '../model/earlier-runs.js';
import type { Settings } from '../model/settings.js';
import type { AgentContext, ContextTest, PreviousAttempt } from './context.js';
import { listChanges } from './changes.js';
import { findRelevantCode } from './relevant-code.js';
import { createLastGreenLookup } from '../run/last-green.js';
import { listRecentCommits } from '../workspace/git.js';
import { isInside, relativePath } from '../paths.js';
import { isAtLeast } from '../playwright/find-playwright.js';
import { listStateFolder, readStateText, stateFolder } from '../state-folder.js';
import { traceFiles } from '../evidence/evidence-files.js';

const MAX_PATCH_CHARACTERS = 8000;

/** The input for a context. */
export interface ContextRequest {
  readonly settings: Settings;
  /** The project's root. */
  readonly root: string;
  readonly runId: string;
  /** The agent's copy, from which files are read because the project may contain the fix for another cause. Default: `root`. */
  readonly tree?: string;
  /** The run's folder, which holds the failures' folders and the patches of earlier attempts. */
  readonly runDir: string;
  /** The version of the project's Playwright. */
  readonly playwright: string;
  readonly cause: Cause;
  readonly attempt: number;
  /** All earlier attempts, starting with earlier runs. */
  readonly previousAttempts: readonly Attempt[];
  /** A person's answer (ME-7), or null. */
  readonly guidance: string | null;
  /** True if that answer allows changes to the tests. */
  readonly mayChangeTests: boolean;
  /** The fix for this failure in an earlier run, or null. */
  readonly earlierFix: EarlierFix | null;
  /** Why no run found the change that broke the test. */
  readonly noBlameReason?: string | undefined;
  /** True if self-heal edited a file in this run. The path is relative to the repository's root. */
  readonly isEdited?: (file: string) => boolean;
  /** `Redactor.clean`, for text from the project. */
  readonly clean: (text: string) => string;
}

/** Builds an agent's context (AG-2). Its trace is the masked one (EV-9). */
export async function buildContext(request: ContextRequest): Promise<AgentContext> {
  const { settings, root, tree = root, cause, runId, attempt } = request;
  const { lead, members } = cause;
  const { errors: _errors, sources: _sources, elements: _elements, ...others } = lead.evidence;
  const { rootDir: _root, workspaceDir: _workspace, ...evidence } = others;
  const folder = path.join(request.runDir, 'failures', String(lead.n));
  const files = listStateFolder(folder)
    .filter((name) => !internalFiles.has(name))
    .toSorted();
  const trace = files.includes(traceFiles.trace) ? path.join(folder, traceFiles.trace) : null;
  const { requests, handlers, named, relatedPositions } = await findRelevantCode(lead, { root, tree });
  const rate = rateHunk(lead, relatedPositions);
  const rateBlamedHunk = (hunk: BlamedHunk) => rate({ ...hunk, newStart: hunk.line });
  const hasNarrowBlame = cause.blame !== undefined && isNarrowedDown(cause.blame);
  const blame = hasNarrowBlame
    ? { ...cause.blame, hunks: cause.blame.hunks.toSorted((a, b) => rateBlamedHunk(b) - rateBlamedHunk(a)) }
    : null;
  const whyNoBlame = cause.blame && !hasNarrowBlame ? describeBlame(cause.blame) : request.noBlameReason;
  const test = createContextTest(lead, root);
  return {
    schemaVersion: 1,
    runId,
    causeId: cause.id,
    attempt,
    task: 'Fix this error so the test can pass',
    project: { name: settings.project, root },
    test,
    ...describeSetUp(lead, root),
    ...(lead.neededTests && lead.neededTests.length > 0 ? { needs: lead.neededTests } : {}),
    otherTests: members.flatMap((other) => (other === lead ? [] : (createContextTest(other, root) ?? []))),
    ...evidence,
    error: combineErrors(lead),
    diagnosis: lead.diagnosis,
    blame,
    ...(cause.flake ? { flake: cause.flake } : {}),
    ...(whyNoBlame === undefined || blame ? {} : { unblamed: whyNoBlame }),
    ...(requests.length > 0 ? { asked: requests, handlers } : {}),
    ...(await describeCustomElements(lead, tree)),
    changes: await listChanges({
      relatedPositions,
      blame,
      root,
      tree,
      lead,
      findLastGreen: createLastGreenLookup(root),
      isExcluded: request.isEdited ?? (() => false),
      clean: request.clean,
    }).catch(() => null),
    commits: await listRecentCommits(root, listNamedFiles(lead, root)),
    named,
    ...findSource(lead, test),
    trace,
    files,
    playwrightReadsTraces: isAtLeast(request.playwright, [1, 59]),
    guidance: request.guidance,
    testChanges: chooseTestChanges(request),
    earlierFix: request.earlierFix && {
      ...request.earlierFix,
      patch: readPatchText(request.earlierFix.patch, request),
    },
    previousAttempts: request.previousAttempts.map((attempt) => createPreviousAttempt(attempt, request)),
  };
}

/** Describes the page's custom elements: their definitions, and whether their shadow root is closed. */
async function describeCustomElements(
  { evidence }: DiagnosedFailure,
  tree: string,
): Promise<Pick<AgentContext, 'customElements'>> {
  const elements = (evidence.elements ?? []).filter(({ tag }) => tag.includes('-')).slice(0, 12);
  const tags = [...new Set(elements.map(({ tag }) => tag))];
  const notes = new Map(
    await Promise.all(tags.map(async (tag) => [tag, await describeDefinition(tag, tree)] as const)),
  );
  const lines = elements.map(({ tag, attributes, text }) => {
    const pairs = Object.entries(attributes).map(([name, value]) => ` ${name}="${value}"`);
    return `${`<${tag}${pairs.join('')}>${text}`.slice(0, 160)}${notes.get(tag) ?? ''}`;
  });
  return lines.length > 0 ? { customElements: [...new Set(lines)] } : {};
}

async function describeDefinition(tag: string, tree: string): Promise<string> {
  const [definition] = await searchCode(tree, `(define\\(|customElement\\(|tag: *)['"]${tag}['"]`);
  if (!definition) return '';
  const [closed] = await searchCode(tree, `mode: *['"]closed['"]`, { path: `:(literal)${definition.file}` });
  const position = `${definition.file}:${definition.line}`;
  return closed
    ? ` (${position}; closed shadow root, which locators cannot enter: ${closed.file}:${closed.line})`
    : ` (${position})`;
}

function chooseTestChanges({ mayChangeTests, cause, settings }: ContextRequest): AgentContext['testChanges'] {
  if (mayChangeTests) return 'anything';
  if (cause.flake) return 'waiting';
  if (cause.lead.diagnosis.category !== 'ui-error') return 'none';
  return settings.verify.intent === 'ask' ? 'asked' : 'locators';
}

/** Returns the lines around the source of the error, and around the test's call to it. */
function findSource(
  { evidence: { sources }, diagnosis: { facts } }: DiagnosedFailure,
  test: ContextTest | null,
): Pick<AgentContext, 'source' | 'call'> {
  const source = sources.find(({ at }) => at === facts.source) ?? null;
  const isInTest = ({ at }: SourceExcerpt) => test !== null && at.startsWith(`${test.file}:`);
  const call = source === null || isInTest(source) ? undefined : sources.find(isInTest);
  return { source, ...(call ? { call } : {}) };
}

/** Returns the project files of a failure: its test, and the sources of its error. */
function listNamedFiles({ failure, evidence }: DiagnosedFailure, root: string): string[] {
  const sources = evidence.sources.map(({ at }) => at.replace(/(?::\d+)+$/, ''));
  const test = failure.scope === 'test' ? [relativePath(root, failure.test.location.file)] : [];
  // Git rejects a path outside of its repository.
  return [...new Set([...sources, ...test])].filter((file) => isInside(root, path.resolve(root, file)));
}

/** Files in a failure's folder that are not evidence: self-heal's own, and the agent's task. */
const internalFiles: ReadonlySet<string> = new Set(['failure.json', 'context.json', 'prompt.md']);

/** Combines all errors of the failure, because the reason of a timeout is only in the second error. */
function combineErrors({ evidence, diagnosis }: DiagnosedFailure): AgentContext['error'] {
  const [first] = evidence.errors;
  return {
    type: diagnosis.facts.errorType,
    message: [...new Set(evidence.errors.map((error) => error.message))].join('\n\n'),
    stack: first?.stack ?? null,
    snippet: evidence.errors.find((error) => error.snippet)?.snippet ?? null,
    causes: evidence.errors.flatMap((error) => error.causes),
  };
}

function describeSetUp({ failure }: DiagnosedFailure, root: string): Pick<AgentContext, 'phase' | 'setUp'> {
  if (failure.scope === 'test') return failure.setUp ? { setUp: failure.setUp } : {};
  const { phase } = failure;
  if (!phase) return {};
  const at = phase.at && { ...phase.at, file: relativePath(root, phase.at.file) };
  return { phase: { ...phase, at, file: phase.file && relativePath(root, phase.file) } };
}

function createContextTest({ failure }: DiagnosedFailure, root: string): ContextTest | null {
  if (failure.scope === 'suite') return null;
  const { id, titlePath, location, project } = failure.test;
  const file = relativePath(root, location.file);
  return { id, name: titlePath.join(' › '), titlePath, file, line: location.line, project };
}

/**
 * Returns the text of a patch; null if its file was deleted, is on another machine, or is outside of the runs' folder: other machines write its path
 * into the shared store.
 */
function readPatchText(
  file: string | null,
  { runDir, runId, root, clean }: Pick<ContextRequest, 'runDir' | 'runId' | 'root' | 'clean'>,
): string | null {
  if (file === null) return null;
  // The folders of earlier runs are next to the final folder of this run.
  const dir = file.startsWith('../') ? stateFolder(root, 'runs', runId) : runDir;
  const patch = path.join(dir, file);
  if (!isInside(path.dirname(dir), patch)) return null;
  const text = readStateText(patch);
  return text === '' ? null : cutMiddle(clean(text), MAX_PATCH_CHARACTERS);
}

function createPreviousAttempt(attempt: Attempt, request: ContextRequest): PreviousAttempt {
  const { n, agent, exit, claim, files, cut, end } = attempt;
  const patch = readPatchText(attempt.patch, request);
  return { n, agent, exit, claim, files, ...(cut ? { cut } : {}), end, patch };
}

const MAX_MESSAGE_CHARACTERS = 1000;
const MAX_ENTRIES = 5;
const MAX_SERVER_CHARACTERS = 1000;

/** Shortens a context that was too long for the model (AG-7): keeps the error, the diagnosis, and the last few entries of everything else. */
export function reduceContext(context: AgentContext): AgentContext {
  const { error, console, network, serverOutput, previousAttempts, steps = [], serverLines = [] } = context;
  return {
    ...context,
    steps: steps.slice(-MAX_ENTRIES),
    serverLines: serverLines.slice(-MAX_ENTRIES),
    changes: null,
    error: { ...error, message: cutMiddle(error.message, MAX_MESSAGE_CHARACTERS), causes: [] },
    otherTests: context.otherTests.slice(0, MAX_ENTRIES),
    ariaSnapshot: null,
    console: console.slice(-MAX_ENTRIES),
    network: network
      .filter(hasFailed)
      .slice(-MAX_ENTRIES)
      .map((request) => ({ ...request, requestBody: null, responseBody: null })),
    serverOutput: serverOutput.slice(-MAX_SERVER_CHARACTERS),
    previousAttempts: previousAttempts.map((attempt) => ({ ...attempt, patch: null })),
    cut: [...context.cut, 'most of the evidence was removed because it was too long for the model'],
  };
}

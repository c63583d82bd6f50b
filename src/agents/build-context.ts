import path from 'node:path';
import type { Attempt } from '../model/attempt.js';
import type { Cause, DiagnosedFailure } from '../model/cause.js';
import { hasFailed, type NetworkEntry } from '../model/evidence.js';
import { chooseRelevantRequests } from '../diagnose/asserted.js';
import { handlerOf } from './handlers.js';
import { isOfApp, searchCode } from './search-code.js';
import { middleCut } from '../fenced.js';
import type { EarlierFix } from '../model/earlier-runs.js';
import type { Settings } from '../model/settings.js';
import type { AgentContext, ContextTest, PreviousAttempt } from './context.js';
import { changesFor } from './changes.js';
import { namedPlaces } from './named-places.js';
import { lastGreenStates } from '../run/last-green.js';
import { recentCommits } from '../workspace/git.js';
import { isInside, relativePath } from '../paths.js';
import { isAtLeast } from '../playwright/find-playwright.js';
import { listState, readStateText, stateFolder } from '../state-folder.js';
import { traceFiles } from '../evidence/evidence-files.js';

const MAX_PATCH_CHARACTERS = 8000;

/** What a context is built from. */
export interface ContextRequest {
  readonly settings: Settings;
  /** The project's root. */
  readonly root: string;
  readonly runId: string;
  /** The agent's copy, where files are read while the project holds the fix of another cause. Default: `root`. */
  readonly tree?: string;
  /** The run's folder, which holds the failures' folders and the patches of earlier attempts. */
  readonly runDir: string;
  /** The version of the project's Playwright. */
  readonly playwright: string;
  readonly cause: Cause;
  readonly attempt: number;
  /** All earlier attempts, those of earlier runs first. */
  readonly previousAttempts: readonly Attempt[];
  /** A person's answer (ME-7), or null. */
  readonly guidance: string | null;
  /** Whether that answer allows changes of the tests. */
  readonly testsAreOpen: boolean;
  /** The fix of this failure in an earlier run, or null. */
  readonly earlierFix: EarlierFix | null;
  /** Why runs have found no change that broke it. */
  readonly unblamed?: string | undefined;
  /** Whether self-heal edited a file in this run. The path is relative to the repository's root. */
  readonly isEdited?: (file: string) => boolean;
  /** `Redactor.clean`, for text that is read from the project. */
  readonly clean: (text: string) => string;
}

/** Builds the context that an agent is given (AG-2). The trace is the one without secrets (EV-9). */
export async function buildContext(request: ContextRequest): Promise<AgentContext> {
  const { settings, root, tree = root, cause, runId, attempt } = request;
  const { lead, members } = cause;
  const { errors: _errors, sources, elements: _elements, ...others } = lead.evidence;
  const { rootDir: _root, workspaceDir: _workspace, ...evidence } = others;
  const folder = path.join(request.runDir, 'failures', String(lead.n));
  const files = listState(folder)
    .filter((name) => !internalFiles.has(name))
    .toSorted();
  const trace = files.includes(traceFiles.trace) ? path.join(folder, traceFiles.trace) : null;
  const asked = askedIn(lead, root);
  const found = await Promise.all(asked.map((entry) => handlerOf(entry, tree).catch(() => null)));
  const handlers = found.filter((handler) => handler !== null);
  const tests = members.map((member) => ({ member, test: contextTest(member, root) }));
  return {
    schemaVersion: 1,
    runId,
    causeId: cause.id,
    attempt,
    task: 'Fix this error so the test can pass',
    project: { name: settings.project, root },
    test: contextTest(lead, root),
    ...setUpIn(lead, root),
    ...(lead.neededTests && lead.neededTests.length > 0 ? { needs: lead.neededTests } : {}),
    otherTests: tests.flatMap(({ member, test }) => (member === lead || !test ? [] : [test])),
    ...evidence,
    error: combinedError(lead),
    diagnosis: lead.diagnosis,
    blame: cause.blame ?? null,
    ...(cause.flake ? { flake: cause.flake } : {}),
    ...(request.unblamed === undefined || cause.blame ? {} : { unblamed: request.unblamed }),
    ...(asked.length > 0 ? { asked, handlers } : {}),
    ...(await customElementsIn(lead, tree)),
    changes: await changesFor({
      // The last request decides, the one before it only wrote.
      near: handlers.flatMap(({ at, calls }, n) =>
        [at, ...calls].map((place) => ({ at: place, weight: n === handlers.length - 1 ? 6 : 3 })),
      ),
      root,
      tree,
      lead,
      lastGreen: lastGreenStates(root),
      isLeftOut: request.isEdited ?? (() => false),
      clean: request.clean,
    }).catch(() => null),
    commits: await recentCommits(root, namedFiles(lead, root)),
    named: await namedPlaces(lead, { root, tree }),
    source: sources.find(({ at }) => at === lead.diagnosis.facts.source) ?? null,
    trace,
    files,
    playwrightReadsTraces: isAtLeast(request.playwright, [1, 59]),
    guidance: request.guidance,
    testChanges: testChangesOf(request),
    earlierFix: request.earlierFix && {
      ...request.earlierFix,
      patch: patchText(request.earlierFix.patch, request),
    },
    previousAttempts: request.previousAttempts.map((attempt) => previousAttempt(attempt, request)),
  };
}

/** Returns the requests that a failure is about, unless the line of the app that failed is known. */
function askedIn({ diagnosis, evidence, failure }: DiagnosedFailure, root: string): readonly NetworkEntry[] {
  const source = diagnosis.facts.source?.replace(/(?::\d+)+$/, '');
  const test = failure.scope === 'test' ? relativePath(root, failure.test.location.file) : null;
  const isKnown = source !== undefined && source !== test && isOfApp(source);
  return failure.scope === 'suite' || isKnown ? [] : chooseRelevantRequests(evidence, diagnosis.why);
}

/** Returns the page's custom elements with the places that define them, and whether nothing sees into them. */
async function customElementsIn(
  { evidence }: DiagnosedFailure,
  tree: string,
): Promise<Pick<AgentContext, 'customElements'>> {
  const elements = (evidence.elements ?? []).filter(({ tag }) => tag.includes('-')).slice(0, 12);
  const tags = [...new Set(elements.map(({ tag }) => tag))];
  const notes = new Map(
    await Promise.all(tags.map(async (tag) => [tag, await definitionOf(tag, tree)] as const)),
  );
  const lines = elements.map(({ tag, attributes, text }) => {
    const pairs = Object.entries(attributes).map(([name, value]) => ` ${name}="${value}"`);
    return `${`<${tag}${pairs.join('')}>${text}`.slice(0, 160)}${notes.get(tag) ?? ''}`;
  });
  return lines.length > 0 ? { customElements: [...new Set(lines)] } : {};
}

async function definitionOf(tag: string, tree: string): Promise<string> {
  const definitions = await searchCode(tree, [
    '-E',
    '-e',
    `(define\\(|customElement\\(|tag: *)['"]${tag}['"]`,
  ]);
  const [definition] = definitions;
  if (!definition) return '';
  const [closed] = await searchCode(
    tree,
    ['-E', '-e', `mode: *['"]closed['"]`],
    [`:(literal)${definition.file}`],
  );
  const place = `${definition.file}:${definition.line}`;
  return closed
    ? ` (${place}; closed shadow root, into which no locator sees: ${closed.file}:${closed.line})`
    : ` (${place})`;
}

function testChangesOf({ testsAreOpen, cause, settings }: ContextRequest): AgentContext['testChanges'] {
  if (testsAreOpen) return 'anything';
  if (cause.flake) return 'waiting';
  if (cause.lead.diagnosis.category !== 'ui-error') return 'none';
  return settings.verify.intent === 'ask' ? 'asked' : 'locators';
}

/** Returns the files of the project that a failure names: its test, and the sources of its error. */
function namedFiles({ failure, evidence }: DiagnosedFailure, root: string): string[] {
  const sources = evidence.sources.map(({ at }) => at.replace(/(?::\d+)+$/, ''));
  const test = failure.scope === 'test' ? [relativePath(root, failure.test.location.file)] : [];
  // Git rejects a path outside of its repository.
  return [...new Set([...sources, ...test])].filter((file) => isInside(root, path.resolve(root, file)));
}

/** The files in a failure's folder that are self-heal's own, or are the agent's task. */
const internalFiles: ReadonlySet<string> = new Set(['failure.json', 'context.json', 'prompt.md']);

/** Combines all errors of the failure, because a timeout gives its reason only in the second error. */
function combinedError({ evidence, diagnosis }: DiagnosedFailure): AgentContext['error'] {
  const [first] = evidence.errors;
  return {
    type: diagnosis.facts.errorType,
    message: [...new Set(evidence.errors.map((error) => error.message))].join('\n\n'),
    stack: first?.stack ?? null,
    snippet: evidence.errors.find((error) => error.snippet)?.snippet ?? null,
    causes: evidence.errors.flatMap((error) => error.causes),
  };
}

function setUpIn({ failure }: DiagnosedFailure, root: string): Pick<AgentContext, 'phase' | 'setUp'> {
  if (failure.scope === 'test') return failure.setUp ? { setUp: failure.setUp } : {};
  const { phase } = failure;
  if (!phase) return {};
  const at = phase.at && { ...phase.at, file: relativePath(root, phase.at.file) };
  return { phase: { ...phase, at, file: phase.file && relativePath(root, phase.file) } };
}

function contextTest({ failure }: DiagnosedFailure, root: string): ContextTest | null {
  if (failure.scope === 'suite') return null;
  const { id, titlePath, location, project } = failure.test;
  const file = relativePath(root, location.file);
  return { id, name: titlePath.join(' › '), titlePath, file, line: location.line, project };
}

/**
 * Returns the text of a patch; null if it was deleted, is on another machine, or is outside of the runs' folder: its path comes from a store that
 * other machines write to.
 */
function patchText(
  file: string | null,
  { runDir, runId, root, clean }: Pick<ContextRequest, 'runDir' | 'runId' | 'root' | 'clean'>,
): string | null {
  if (file === null) return null;
  // The folders of earlier runs lie next to the final folder of this run.
  const dir = file.startsWith('../') ? stateFolder(root, 'runs', runId) : runDir;
  const patch = path.join(dir, file);
  if (!isInside(path.dirname(dir), patch)) return null;
  const text = readStateText(patch);
  return text === '' ? null : middleCut(clean(text), MAX_PATCH_CHARACTERS);
}

function previousAttempt(attempt: Attempt, request: ContextRequest): PreviousAttempt {
  const { n, agent, exit, claim, files, cut, end } = attempt;
  const patch = patchText(attempt.patch, request);
  return { n, agent, exit, claim, files, ...(cut ? { cut } : {}), end, patch };
}

const MAX_MESSAGE_CHARACTERS = 1000;
const MAX_ENTRIES = 5;
const MAX_SERVER_CHARACTERS = 1000;

/** Reduces a context that was too long for the model (AG-7) to the error, its diagnosis, and the last few entries of everything else. */
export function reduceContext(context: AgentContext): AgentContext {
  const { error, console, network, serverOutput, previousAttempts, steps = [], serverLines = [] } = context;
  return {
    ...context,
    steps: steps.slice(-MAX_ENTRIES),
    serverLines: serverLines.slice(-MAX_ENTRIES),
    changes: null,
    error: { ...error, message: middleCut(error.message, MAX_MESSAGE_CHARACTERS), causes: [] },
    otherTests: context.otherTests.slice(0, MAX_ENTRIES),
    ariaSnapshot: null,
    console: console.slice(-MAX_ENTRIES),
    network: network
      .filter(hasFailed)
      .slice(-MAX_ENTRIES)
      .map((request) => ({ ...request, requestBody: null, responseBody: null })),
    serverOutput: serverOutput.slice(-MAX_SERVER_CHARACTERS),
    previousAttempts: previousAttempts.map((attempt) => ({ ...attempt, patch: null })),
    cut: [...context.cut, 'most of the evidence was left out because it was too long for the model'],
  };
}

import path from 'node:path';
import type { Attempt } from '../core/attempt.js';
import type { Cause, DiagnosedFailure } from '../core/cause.js';
import type { Settings } from '../core/settings.js';
import type { AgentContext, ContextTest } from './context.js';

// STOPGAP
export interface ContextRequest {
  readonly settings: Settings;
  readonly root: string;
  readonly runId: string;
  readonly cause: Cause;
  readonly attempt: number;
  readonly previousAttempts: readonly Attempt[];
}

export function buildContext(request: ContextRequest): AgentContext {
  const { settings, root, cause, runId, attempt, previousAttempts } = request;
  const { lead } = cause;
  const { evidence, diagnosis } = lead;
  const [error] = evidence.errors;
  const others = cause.members.filter((m) => m !== lead);
  return {
    schemaVersion: 1, runId, causeId: cause.id, attempt, task: 'Fix this error so the test can pass',
    project: { name: settings.project, root },
    test: testOf(lead, root), otherTests: others.flatMap((o) => testOf(o, root) ?? []),
    failedStep: evidence.failedStep,
    error: { type: diagnosis.facts.errorType, message: error?.message ?? '', stack: error?.stack ?? null, snippet: error?.snippet ?? null, causes: error?.causes ?? [] },
    diagnosis, screenshot: evidence.screenshot, trace: null, pageUrl: evidence.pageUrl, ariaSnapshot: evidence.ariaSnapshot,
    console: evidence.console, network: evidence.network, serverOutput: evidence.serverOutput, missing: evidence.missing, cut: evidence.cut,
    previousAttempts: previousAttempts.map(({ n, agent, outcome, claim, files, failedBecause }) => ({ n, agent, outcome, claim, files, patch: null, failedBecause })),
  };
}

function testOf({ failure }: DiagnosedFailure, root: string): ContextTest | null {
  if (failure.scope === 'suite') return null;
  const { id, titlePath, location, project } = failure.test;
  return { id, name: titlePath.join(' › '), titlePath, file: path.relative(root, location.file), line: location.line, project };
}

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Attempt } from '../../src/model/attempt.js';
import type { Event, StampedEvent } from '../../src/event.js';
import type { Report, ReportAttempt, ReportTest } from '../../src/run/report.js';
import { eventsFile } from '../../src/run/event-log.js';
import { aTest } from './builders.js';

/** Writes a finished run with this report and these filters into a project; returns its folder. */
export function writeStoredRun(projectRoot: string, report: Report, filters: readonly string[] = []): string {
  const dir = path.join(projectRoot, '.self-heal', 'runs', report.runId);
  mkdirSync(dir, { recursive: true });
  const request = { filters, passThrough: [], options: {} };
  const events = toEvents(report).map((event) =>
    event.type === 'run.started' ? { ...event, request } : event,
  );
  const lines = events.map((event) => `${JSON.stringify(event)}\n`);
  writeFileSync(path.join(dir, eventsFile), lines.join(''));
  return dir;
}

/** Returns events from which this report could have been made. */
export function toEvents(report: Report): StampedEvent[] {
  const time = Date.parse(report.startedAt);
  const { runId, project, dryRun, verify, shards, totals } = report;
  const events: Event[] = [
    {
      type: 'run.started',
      runId,
      project,
      playwright: '1.65.0',
      dryRun,
      verify,
      ...(shards === undefined ? {} : { shards }),
    },
    { type: 'tests.seen', tests: report.tests },
    ...report.causes.flatMap((cause) => listCauseEvents(cause, report)),
    ...report.warnings.map((message) => ({ type: 'run.warning', message }) as const),
    ...(report.regression ? [{ type: 'regression.ended', ...report.regression } as const] : []),
    ...(report.status ? [{ type: 'agent.build_paused', status: report.status } as const] : []),
  ];
  const { outcome, exitCode, commit } = report;
  const { agentRuns, costUsd, durationMs } = totals;
  const spent = { agentRuns, costUsd, durationMs };
  if (exitCode !== null) events.push({ type: 'run.ended', outcome, exitCode, commit, ...spent });
  return events.map((event) => ({ time, ...event }));
}

function listCauseEvents(cause: Report['causes'][number], { tests, escalations }: Report): Event[] {
  const { id: causeId, verdict, reason, costUsd, proof, testProofs, blame } = cause;
  const refs = cause.tests.map((id) =>
    toTestRef(
      id,
      tests.find((test) => test.id === id),
    ),
  );
  const asked = escalations.filter((one) => one.causeId === causeId);
  return [
    { type: 'cause.found', cause: { ...cause, tests: refs } },
    ...(blame ? [{ type: 'cause.blamed', causeId, blame } as const] : []),
    ...cause.attempts.map((one) => ({ type: 'attempt.judged', causeId, attempt: toAttempt(one) }) as const),
    ...asked.map(
      ({ id, stored, question }) =>
        ({ type: 'agent.waiting_for_input', causeId, question, escalationId: stored ? id : null }) as const,
    ),
    {
      type: 'cause.ended',
      causeId,
      verdict,
      reason: asked[0]?.question ?? reason,
      attempts: cause.attempts.length,
      costUsd,
      ...(proof.length > 0 ? { proof } : {}),
      ...(testProofs ? { testProofs } : {}),
    },
  ];
}

function toTestRef(id: string, test: ReportTest | undefined) {
  if (!test) return aTest(id);
  const { title, file, line, project } = test;
  return aTest(id, { titlePath: title, project, location: { file, line, column: 1 } });
}

function toAttempt({ costUsd, inputTokens, outputTokens, sessionId, ...attempt }: ReportAttempt): Attempt {
  return { ...attempt, usage: { costUsd, inputTokens, outputTokens, sessionId, turns: null } };
}

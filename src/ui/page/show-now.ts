import { byId, element, setText } from './element.js';
import type { RunView } from './run-view.js';
import { showParts, type Part } from './show-parts.js';
import { counted, dollars, duration } from './words.js';

/** Shows what the run does now, how far it is, and what it has come to so far. */
export function showNow(run: RunView): void {
  setText(byId('project'), run.project);
  setText(byId('run-id'), `run ${run.runId}`);
  setText(byId('phase'), run.phase);
  byId('phase').className = run.outcome ?? 'working';
  document.title = `${run.phase} · self-heal`;
  showProgress(run);
  showParts(byId('facts'), facts(run));
}

function showProgress({ progress }: RunView): void {
  const bar = byId('progress') as HTMLProgressElement;
  bar.hidden = progress === null;
  if (progress === null) return;
  bar.max = Math.max(1, progress.total);
  bar.value = progress.done;
}

function facts(run: RunView): Part[] {
  const { suite, startedAt, endedAt, progress, costUsd, agentRuns, agentRunsAvoided } = run;
  const avoided = agentRunsAvoided ? `, ${agentRunsAvoided} avoided` : '';
  const verdicts = [...run.causes.values()].filter(({ verdict }) => verdict === 'healed').length;
  return [
    ...(startedAt === null ? [] : [time(startedAt, endedAt)]),
    ...(endedAt === null && run.lastEventAt !== null ? [lastNews(run.lastEventAt)] : []),
    ...(suite ? [fact('First run', `${suite.passed} passed, ${suite.failed} failed${flakyOf(suite)}`)] : []),
    ...(progress ? [fact('Now', `${progress.done} of ${counted(progress.total, 'test')}`)] : []),
    ...(run.causes.size > 0 ? [fact('Healed', `${verdicts} of ${counted(run.causes.size, 'cause')}`)] : []),
    fact('Agents', `${counted(agentRuns, 'run')}${avoided}`),
    ...(costUsd === null ? [] : [fact('Cost', dollars(costUsd))]),
  ];
}

function flakyOf({ flaky, notRun }: NonNullable<RunView['suite']>): string {
  return `${flaky > 0 ? `, ${flaky} flaky` : ''}${notRun > 0 ? `, ${notRun} did not run` : ''}`;
}

function time(startedAt: number, endedAt: number | null): Part {
  const value =
    endedAt === null
      ? () => element('dd', { 'data-since': String(startedAt) })
      : () => element('dd', {}, duration(endedAt - startedAt));
  return { key: 'Time', from: endedAt, build: () => element('div', {}, element('dt', {}, 'Time'), value()) };
}

/** A run that was killed says no more: this is how it shows. */
function lastNews(at: number): Part {
  const build = () =>
    element('div', {}, element('dt', {}, 'Last event'), element('dd', { 'data-since': String(at) }));
  return { key: 'Last event', from: at, build };
}

function fact(name: string, text: string): Part {
  const build = () => element('div', {}, element('dt', {}, name), element('dd', {}, text));
  return { key: name, from: text, build };
}

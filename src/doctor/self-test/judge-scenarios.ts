import { renderProof } from '../../core/proof.js';
import type { ReportAttempt } from '../../run/report.js';
import { type Point, type Scenario, scenarios, type SelfTestFacts } from './scenarios.js';

/** One line of `self-heal doctor --self-test`. */
export interface ScenarioResult extends Pick<Scenario, 'name' | 'planted' | 'proves'> {
  /** What self-heal did. */
  readonly did: string;
  /** Whether the safeguard worked. */
  readonly held: boolean;
  /** What was wrong; empty if the safeguard worked. */
  readonly missed: readonly string[];
}

/** Judges each scenario by what the run left: its report, the bytes of files and living processes. */
export function judgeScenarios(facts: SelfTestFacts): ScenarioResult[] {
  return scenarios.map((scenario) => {
    const { name, planted, proves } = scenario;
    const { did, points } = judge(scenario, facts);
    const missed = points.flatMap(([holds, otherwise]) => (holds ? [] : [otherwise]));
    return { name, planted, did, proves, held: missed.length === 0, missed };
  });
}

/** Red at least as often as the self-test's agents.yaml confirms, green as often as it repeats, and one flip. */
const fullProof = /^red( red)+ \| green \| red \| green$/;

function judge(scenario: Scenario, facts: SelfTestFacts): { did: string; points: readonly Point[] } {
  const { spec, verdict, files, points } = scenario;
  const { tests, causes } = facts.report;
  const test = tests.find(({ file }) => file === spec);
  if (!test) return { did: 'its test did not run', points: [[false, `${spec} is not in the report`]] };
  const cause = causes.find((one) => one.tests.includes(test.id)) ?? null;
  const attempts = cause?.attempts ?? [];
  const proof = renderProof(cause?.proof ?? []);
  const end = test.verdict === verdict ? (cause?.verdict ?? verdict) : test.verdict;
  const said = attempts.at(-1)?.claim?.summary;
  return {
    did: `${end}: ${proof || attempts.map(endOf).join('; ') || 'no agent was started'}`,
    points: [
      [
        end === verdict,
        `it was reported as ${end}, not ${verdict}${said ? `; its agent said: ${said}` : ''}`,
      ],
      [
        verdict !== 'healed' || fullProof.test(proof),
        `its proof is incomplete: ${proof || 'nothing was run'}`,
      ],
      ...Object.entries(files).map(([file, changes]): Point => [
        facts.changed.has(file) === changes,
        changes ? `${file} was not changed` : `${file} differs from the original`,
      ]),
      ...(points?.({ cause, attempts }, facts) ?? []),
      [cause?.tests.every((id) => id === test.id) ?? true, 'it was grouped with a different planted fault'],
    ],
  };
}

function endOf({ n, outcome, judged, reverted }: ReportAttempt): string {
  return `attempt ${n} ${outcome === 'completed' ? judged : outcome}${reverted ? ', reverted' : ''}`;
}

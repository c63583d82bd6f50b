import { describe, expect, it } from 'vitest';
import { parseAgentsFile } from '../../../src/config/agents-file.js';
import { headsOf, markedIn, mistakesIn } from './mistakes-in.js';

describe('CF-4 ${VAR}', () => {
  const env = { RUNNER: 'fixer', TOKEN: 's3cr3t', EMPTY: '', MINUTES: '7m', NESTED: '${TOKEN}' };

  it('CF-4 is replaced in every kind of text, and its value is not expanded again', () => {
    const parsed = parseAgentsFile(
      [
        'project: a-${RUNNER}-${RUNNER}${EMPTY}',
        'runner: "${RUNNER}"',
        "runners: { fixer: { command: [x, '--token=${TOKEN}', '${NESTED}', '$${TOKEN}', '$TOKEN'] } }",
        'limits: { time: "${MINUTES}" }',
        'verify:\n  prepare: |\n    make ${TOKEN}\n',
      ].join('\n'),
      env,
    );
    expect(parsed).toMatchObject({
      ok: true,
      value: {
        project: 'a-fixer-fixer',
        runner: 'fixer',
        runners: { fixer: { command: ['x', '--token=s3cr3t', '${TOKEN}', '${TOKEN}', '$TOKEN'] } },
        limits: { time: '7m' },
        verify: { prepare: 'make s3cr3t\n' },
      },
    });
  });

  it('CF-4 is a mistake with its position if it is not set or has another form', () => {
    const text = 'project: "a ${NO} ${NO} ${x:-y}"\n';
    expect(headsOf(text)).toEqual([
      '1:13 the environment variable NO is not set',
      '1:19 the environment variable NO is not set',
      '1:25 only ${NAME} is replaced; write $${ for a literal ${',
    ]);
    expect(markedIn(text)).toEqual(['${NO}', '${NO}', '${']);
  });

  it('CF-4 is marked with its whole string if it is written as escapes', () => {
    expect(markedIn('project: "\\x24{NO}"')).toEqual(['"\\x24{NO}"']);
  });

  it('CF-4 is not also reported as a wrong value if it is not set', () => {
    expect(headsOf('limits: { time: "${NO}" }\nrunner: ${NO}')).toEqual([
      '1:18 the environment variable NO is not set',
      '2:9 the environment variable NO is not set',
    ]);
  });

  it('EV-9 never shows its value, whatever is wrong with it', () => {
    const text = [
      'runner: ${TOKEN}',
      'runners: { f: { command: "${TOKEN}", prompt: "${TOKEN}" }, g: { command: ["{x}${TOKEN}"] } }',
      'agents: { debugger: { slashCommand: "${TOKEN}", runner: "${TOKEN}", timeout: "${TOKEN}" } }',
      'routes: { unknown: ["${TOKEN}"], ui-error: "${TOKEN}" }',
      'limits: { agentRuns: "${TOKEN}", costUsd: "${TOKEN}", time: "${TOKEN}" }',
      'version: "${TOKEN}"',
      'evidence: "${TOKEN}"',
    ].join('\n');
    const shown = mistakesIn(text, env);
    expect(headsOf(text, env)).toHaveLength(14);
    expect(shown).not.toContain('s3cr3t');
  });
});

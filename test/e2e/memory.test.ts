import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Escalation } from '../../src/model/escalation.js';
import { agentsYaml, type ScratchProject, scratchProject, shopFiles } from '../rig/scratch-project.js';
import { tempDir } from '../rig/temp-dir.js';

/** A project whose agent asks a person, and marks each of its starts outside of the project. */
function asking(marks: string): Record<string, string> {
  return {
    ...shopFiles,
    'page.html': '<p>Tanks</p>',
    'agents.yaml': agentsYaml(['node', 'asks.mjs']),
    'asks.mjs': `import { appendFileSync } from 'node:fs';
      appendFileSync(${JSON.stringify(path.join(marks, 'agent.ran'))}, 'x');
      console.log('SELF-HEAL: {"status":"needs-person","summary":"Is it Tanks or Thanks?"}');`,
  };
}

it('CL-12 ME-5 ME-6 ME-7 PB-6 an open question starts no agent on any machine with the store', async () => {
  const marks = tempDir('marks');
  const files = asking(marks);
  const first = await scratchProject(files);
  expect(await first.selfHeal(['run'])).toMatchObject({ exitCode: 3, report: { totals: { agentRuns: 1 } } });

  /** A new machine, with nothing but the repository and what CI has cached. */
  const machine = async (more: Record<string, string>) => {
    const project = await scratchProject({ ...files, ...more });
    mkdirSync(path.join(project.dir, '.self-heal'));
    cpSync(path.join(first.dir, '.self-heal/ledger.db'), path.join(project.dir, '.self-heal/ledger.db'));
    return project;
  };
  const second = await machine({});
  const again = await second.selfHeal(['run']);
  expect(again).toMatchObject({ exitCode: 3, report: { totals: { agentRuns: 0 }, warnings: [] } });

  // Another failure, which has all of its tries.
  const capped = await machine({
    'tests/shop.spec.ts': shopFiles['tests/shop.spec.ts'].replace('toBe(true)', 'toBe("yes")'),
    'agents.yaml': agentsYaml(['node', 'asks.mjs'], 'limits: { perDay: { agentRuns: 1 } }'),
  });
  const spent = await capped.selfHeal(['run']);
  expect(spent).toMatchObject({ exitCode: 4, report: { totals: { agentRuns: 0 } } });

  const [open] = await questions(second);
  expect(open).toMatchObject({ state: 'pending', choices: ['guide', 'simplify', 'skip'] });
  expect(open?.problem).toContain('Is it Tanks or Thanks?');
  expect(again.report?.escalations).toMatchObject([{ id: open?.id, state: 'pending' }]);
  const resolve = ['escalations', 'resolve', open?.id ?? ''];
  expect((await second.selfHeal(resolve)).exitCode).toBe(2);
  expect((await second.selfHeal([...resolve, '--choice', 'skip'])).exitCode).toBe(0);
  const then = await second.selfHeal(['run']);
  expect(then).toMatchObject({ exitCode: 0, report: { tests: [{ verdict: 'quarantined' }] } });
  expect(then.stderr).toContain('quarantined');
  expect(readFileSync(path.join(marks, 'agent.ran'), 'utf8')).toBe('x');
});

async function questions(project: ScratchProject): Promise<Escalation[]> {
  const { stdout } = await project.selfHeal(['escalations', '--json']);
  return (JSON.parse(stdout) as { escalations: Escalation[] }).escalations;
}

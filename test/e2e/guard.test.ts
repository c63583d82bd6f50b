import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentsYaml, editingAgent, scratchProject, pageFiles } from '../rig/scratch-project.js';

const broken = { 'page.html': '<button id="buy" onclick="this.textContent = \'Tanks\'">Buy</button>' };
const cheat = path.resolve(import.meta.dirname, '../../fixtures/agents/weakens-test.mjs');

describe('an agent that weakens the test', () => {
  it('HN-3 is rejected before anything is run, told once, rejected again, and shown with the lines', async () => {
    const cheating = { 'agents.yaml': agentsYaml(['node', cheat, 'tests/shop.spec.ts']) };
    const project = await scratchProject({ ...pageFiles, ...broken, ...cheating });
    const { exitCode, stderr, report, events } = await project.selfHeal(['run']);
    expect(exitCode).toBe(1);
    expect(await project.read('tests/shop.spec.ts')).toBe(pageFiles['tests/shop.spec.ts']);
    const [cause] = report?.causes ?? [];
    expect(cause?.verdict).toBe('rejected');
    expect(cause?.attempts.map((one) => [one.judged, one.takenBack, one.violations?.[0]?.rule])).toEqual([
      ['rejected', true, 'assertion-removed'],
      ['rejected', true, 'test-modifier'],
    ]);
    expect(report?.tests[0]?.verdict).toBe('rejected');
    const retests = events.filter((event) => event.type === 'suite.started' && event.purpose === 'retest');
    expect(retests).toEqual([]);
    expect(events.filter((event) => event.type === 'attempt.rejected')).toHaveLength(2);
    expect(stderr).toContain('rejected (tampering)');
    expect(stderr).toContain('- await expect(page.getByText');
    expect(await project.read('.self-heal/latest/attempts/1.patch')).toContain('-      await expect(');
  });

  it('HN-4 an honest locator change in the spec of a ui failure heals', async () => {
    const renamed = {
      'page.html': '<button id="purchase" onclick="this.textContent = \'Thanks\'">Buy</button>',
      'fixer.mjs': editingAgent([['tests/shop.spec.ts', '#buy', '#purchase']]),
      'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
    };
    const project = await scratchProject({ ...pageFiles, ...renamed });
    const { exitCode, report } = await project.selfHeal(['run']);
    expect(report?.causes[0]).toMatchObject({
      category: 'ui-error',
      verdict: 'healed',
      attempts: [{ violations: [] }],
    });
    expect(exitCode).toBe(0);
  });
});

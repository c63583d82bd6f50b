import { EventEmitter } from 'node:events';
import { expect, it, vi } from 'vitest';
import { captureTry } from '../../../src/playwright/inject/capture-try.js';

class Context extends EventEmitter {
  readonly request = { _channel: {} };
  readonly removed: unknown[] = [];
  override off(event: string) {
    this.removed.push(event);
    return this;
  }
  pages() {
    return [];
  }
}

it('CL-4 removes its listeners from a context that stays open, and none from a closed one, where each would cost an error', async () => {
  const [open, closed] = [new Context(), new Context()];
  const _instrumentation = { addListener: vi.fn(), removeListener: vi.fn() };
  const playwright = { _allContexts: () => [open, closed], _instrumentation, request: {} };
  const passed = { testId: 'a', retry: 0, status: 'passed', expectedStatus: 'passed', errors: [] } as const;
  await captureTry({ playwright }, async () => void closed.emit('close'), { ...passed, errors: [] });
  const heard = ['console', 'weberror', 'request', 'response', 'requestfailed'];
  expect([open.removed, closed.removed]).toEqual([heard, []]);
});

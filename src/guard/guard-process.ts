import process from 'node:process';
import { judgeChange } from './judge.js';
import { limitProcessorTime } from './limit-processor-time.js';
import type { GuardMessage, GuardOrder } from './run-guard.js';
import type { FileSnapshot } from '../workspace/git-trees.js';

/** Messages to this process, which judges one change: it requests files by message and sends back its findings. */
type Incoming =
  | { readonly type: 'order'; readonly order: GuardOrder; readonly limitMs: number }
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown };

const pendingRequests = new Map<number, (value: unknown) => void>();
let lastRequestId = 0;

function send(message: GuardMessage): void {
  process.send?.(message);
}

function createRemoteSnapshot(tree: 'before' | 'after'): FileSnapshot {
  const request = (paths: readonly string[] | null) =>
    new Promise<unknown>((resolve) => {
      lastRequestId += 1;
      pendingRequests.set(lastRequestId, resolve);
      send({ type: 'question', id: lastRequestId, tree, paths });
    });
  return {
    listPaths: async () => (await request(null)) as string[],
    readFiles: async (paths) => (await request(paths)) as Map<string, Uint8Array>,
  };
}

async function judgeAndReport(order: GuardOrder): Promise<void> {
  try {
    const findings = await judgeChange({
      ...order,
      before: createRemoteSnapshot('before'),
      after: createRemoteSnapshot('after'),
    });
    send({ type: 'judged', findings });
  } catch (error) {
    send({ type: 'failed', says: `the guard failed: ${String(error)}` });
  }
}

process.on('message', (message: Incoming) => {
  if (message.type === 'order') {
    limitProcessorTime(message.limitMs);
    void judgeAndReport(message.order);
  } else pendingRequests.get(message.id)?.(message.value);
});
process.on('disconnect', () => process.exit());

import timers from 'node:timers';

/** Saved before a test can replace them. */
const { setTimeout, clearTimeout } = timers;

/** Private in every version; 1.50 takes a flag as its second argument and treats the object as true. */
interface ApiObject {
  _wrapApiCall?<T>(call: () => Promise<T>, options: { internal: true }): Promise<T>;
}

/** Calls Playwright's API without adding a step to the user's report. */
export function internalCall<T>(subject: object, call: () => Promise<T>): Promise<T> {
  const api = subject as ApiObject;
  return api._wrapApiCall ? api._wrapApiCall(call, { internal: true }) : call();
}

/** Rejects after `ms` even if the work has not finished: a hung page must not hold up a test. */
export async function capped<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it took more than ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

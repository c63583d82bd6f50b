import { expect, it } from 'vitest';
import { createPatience, patient, patiently } from '../../../src/queue/patient.js';
import { virtualClock } from '../../rig/virtual-clock.js';

const withCode = (code: string, message = code) => Object.assign(new Error(message), { code });

function patience(forMs = 60_000) {
  const clock = virtualClock();
  const away: string[] = [];
  const controller = new AbortController();
  const callbacks = {
    onAway: (reason: string) => void away.push(reason),
    onBack: () => void away.push('back'),
  };
  const how = createPatience({ clock, signal: controller.signal, forMs, ...callbacks });
  return { how, clock, away, controller };
}

/** Fails `times` times with this error, then returns 1. */
function failing(times: number, error: Error) {
  let asked = 0;
  return {
    asked: () => asked,
    ask: async () => {
      asked += 1;
      if (asked <= times) throw error;
      return 1;
    },
  };
}

it.each([
  withCode('ECONNREFUSED'),
  withCode('ETIMEDOUT'),
  withCode('57P01', 'terminating connection due to administrator command'),
  withCode('57P03', 'the database system is starting up'),
  withCode('08006'),
  withCode('53300', 'sorry, too many clients already'),
  new Error('Connection terminated unexpectedly'),
  // The error of a transaction whose connection has broken.
  new Error('Client has encountered a connection error and is not queryable'),
  new AggregateError([withCode('ECONNREFUSED'), withCode('ECONNREFUSED')]),
])('SC-2 retries until a server that is away is back: %s', async (error) => {
  const { how, clock, away } = patience();
  const { ask, asked } = failing(10, error);
  expect(await patiently(ask, how)).toBe(1);
  expect(asked()).toBe(11);
  expect(clock.slept).toEqual(Array.from({ length: 10 }, () => 1000));
  expect(away).toHaveLength(2);
  expect(away[1]).toBe('back');
});

it('SC-2 gives up a server that stays away when the time is up, or on an interrupt', async () => {
  const { how, clock } = patience(5000);
  await expect(patiently(failing(99, withCode('ECONNREFUSED')).ask, how)).rejects.toThrow('ECONNREFUSED');
  expect(clock.now()).toBe(5000);
  const other = patience();
  other.controller.abort();
  const { ask, asked } = failing(99, withCode('ECONNREFUSED'));
  await expect(patiently(ask, other.how)).rejects.toThrow('ECONNREFUSED');
  expect(asked()).toBe(1);
});

it('SC-2 does not retry what the server refuses', async () => {
  const { how } = patience();
  for (const error of [withCode('42501'), withCode('23505'), new TypeError('x is not a function')]) {
    const { ask, asked } = failing(1, error);
    await expect(patiently(ask, how)).rejects.toBe(error);
    expect(asked()).toBe(1);
  }
});

it('SC-2 retries each method of an object with its arguments, and leaves its other properties alone', async () => {
  const { how } = patience();
  let calls = 0;
  const target = {
    name: 'queue',
    take: async (n: number) => {
      calls += 1;
      if (calls === 1) throw withCode('ECONNRESET');
      return n + 1;
    },
  };
  const one = patient(target, how);
  expect(one.name).toBe('queue');
  expect(await one.take(41)).toBe(42);
});

it('SC-2 concurrent calls wait together: the server is reported away once, and once the time is up later calls do not wait', async () => {
  const { how, clock, away } = patience(5000);
  let isAway = true;
  const ask = async () => {
    if (isAway) throw withCode('ECONNREFUSED');
    return 1;
  };
  const ended = await Promise.allSettled([patiently(ask, how), patiently(ask, how)]);
  expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(away).toHaveLength(1);
  const waited = clock.now();
  await expect(patiently(ask, how)).rejects.toThrow('ECONNREFUSED');
  expect(clock.now()).toBe(waited);
  isAway = false;
  expect(await patiently(ask, how)).toBe(1);
  expect(away).toEqual([expect.anything(), 'back']);
  // The next time that it is away, the wait starts anew.
  await expect(patiently(failing(99, withCode('ECONNREFUSED')).ask, how)).rejects.toThrow('ECONNREFUSED');
  expect(clock.now()).toBeGreaterThan(waited);
});

import type { BaseSequencer } from 'vitest/node';

/** Runs the longest files first. */
export declare class LongestFirst extends BaseSequencer {}

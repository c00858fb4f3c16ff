import express from 'express';
import express4 from 'express-4';

/** Both frameworks under the types of one: what the tests call is the same in both. */
export const EXPRESS_VERSIONS: readonly (readonly [name: string, framework: typeof express])[] = [
  ['Express 5', express],
  ['Express 4', express4 as unknown as typeof express],
];

/** Largest remainder: parts are rounded so that they still add up to the whole. */
import { divideRounded } from './money.ts';

/**
 * Rounds fractions of one denominator (above zero) so that their sum is the rounded sum: each is cut off, and the
 * units that are left go to the largest remainders, the earlier first.
 */
export function roundTogether(numerators: readonly bigint[], denominator: bigint): bigint[] {
  const whole = divideRounded(sum(numerators), denominator);
  const parts = numerators.map((numerator) => numerator / denominator);
  const left = whole - sum(parts);
  const unit = left < 0n ? -1n : 1n;
  const byRemainder = numerators
    .map((numerator, index) => ({ index, remainder: unit * (numerator % denominator) }))
    .sort((a, b) => (a.remainder === b.remainder ? 0 : a.remainder > b.remainder ? -1 : 1));
  const raised = new Set(byRemainder.slice(0, Number(unit * left)).map(({ index }) => index));
  return parts.map((part, index) => (raised.has(index) ? part + unit : part));
}

/** Rounds each fraction on its own, half away from zero. */
export function roundEach(numerators: readonly bigint[], denominator: bigint): bigint[] {
  return numerators.map((numerator) => divideRounded(numerator, denominator));
}

/**
 * Spreads a whole over weights, of which there is one at least. Weights below zero (what was given back) take no part while there is any above:
 * shares by a sum that nearly cancels out would be larger than the whole.
 */
export function allocate(whole: bigint, weights: readonly bigint[]): bigint[] {
  const shares = positiveWeights(weights);
  return roundTogether(
    shares.map((share) => whole * share),
    sum(shares),
  );
}

function positiveWeights(weights: readonly bigint[]): readonly bigint[] {
  if (weights.some((weight) => weight > 0n)) return weights.map((weight) => (weight > 0n ? weight : 0n));
  if (weights.some((weight) => weight < 0n)) return weights.map((weight) => -weight);
  return weights.map(() => 1n);
}

export function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

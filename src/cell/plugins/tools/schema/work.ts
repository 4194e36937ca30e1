/**
 * Limits a check against a schema. A cell writes the schema, so it could choose one that takes for ever to check. We
 * count each step of the check and end it when it has used them up. A step takes up to a microsecond.
 */
export class Work {
  #left: number;
  #given: number;

  constructor(steps: number) {
    this.#left = steps;
    this.#given = steps;
  }

  /** Adds steps, in proportion to a value that the caller himself sends. */
  allow(steps: number): void {
    this.#left += steps;
    this.#given += steps;
  }

  /** A fresh limit of the same size, for another look at the same value. */
  again(): Work {
    return new Work(this.#given);
  }

  /** Throws `TooMuchWork` when no steps remain. */
  spend(steps = 1): void {
    this.#left -= steps;
    if (this.#left < 0)
      throw new TooMuchWork(
        'takes too many steps to check; it is too large, or its schema has a pattern, a reference or a choice that multiplies them',
      );
  }
}

/** No bound, for a schema and a value that are the caller's own. */
export const ownWork = new Work(Number.POSITIVE_INFINITY);

/** Says why the check of a value did not finish. */
export class TooMuchWork extends Error {
  override readonly name = 'TooMuchWork';
}

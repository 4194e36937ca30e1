/**
 * Counts the steps of work that somebody else chose. A cell writes schemas, so how long a check takes is up to the cell: it ends
 * after a number of steps, and nothing has to be stopped from outside. A step takes up to a microsecond.
 */
export class Work {
  #left: number;
  #given: number;

  constructor(steps: number) {
    this.#left = steps;
    this.#given = steps;
  }

  /** For a value that is large because its sender made it so. */
  allow(steps: number): void {
    this.#left += steps;
    this.#given += steps;
  }

  /** As much as this had, for another look at the same value. */
  again(): Work {
    return new Work(this.#given);
  }

  /** Throws `TooMuchWork` when the steps are used up. */
  spend(steps = 1): void {
    this.#left -= steps;
    if (this.#left < 0)
      throw new TooMuchWork(
        'takes too many steps to check; it is too large, or its schema has a pattern, a reference or a choice that multiplies them',
      );
  }
}

/** For what nobody else has a say in. */
export const ownWork = new Work(Number.POSITIVE_INFINITY);

/** Says why a value was not checked to its end. */
export class TooMuchWork extends Error {
  override readonly name = 'TooMuchWork';
}

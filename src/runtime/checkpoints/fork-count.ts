import { WorkcellError } from '../../protocol/index.js';

const mostForks = 100;

export function checkCount(count: number): void {
  if (Number.isInteger(count) && count >= 1 && count <= mostForks) return;
  throw new WorkcellError('invalid-arguments', `The count of forks is ${count}. Give 1 to ${mostForks}.`, {
    details: { count },
  });
}

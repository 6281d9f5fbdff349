import { isDeadlock } from '../../domain/outage.ts';

const maxTries = 3;

/** Does the work again when the database ended it to break a circle of locks. */
export async function retryDeadlock<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isDeadlock(error) || attempt === maxTries) throw error;
    }
  }
}

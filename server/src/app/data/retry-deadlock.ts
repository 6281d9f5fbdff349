// PostgreSQL's code for "a deadlock was found and this transaction was ended".
const deadlock = '40P01';
const maxTries = 3;

/** Does the work again when the database ended it to break a circle of locks. */
export async function retryDeadlock<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if ((error as { code?: string }).code !== deadlock || attempt === maxTries) throw error;
    }
  }
}
